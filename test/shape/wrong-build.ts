import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const brokenWorkflow = fileURLToPath(new URL('../replay/broken-workflow.ts', import.meta.url));

/** Makes a release in this folder whose workflows fit no history; returns its program. */
export async function makeWrongBuild(folder: string): Promise<string> {
  await mkdir(folder);
  for (const name of await readdir(root)) {
    if (name === 'dist' || name.startsWith('.')) continue;
    await symlink(join(root, name), join(folder, name));
  }
  await cp(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  const { code } = await bundleWorkflows({ workflowsPath: brokenWorkflow });
  await writeFile(join(folder, 'dist/workflow-bundle.js'), code);
  return join(folder, 'dist/src/interfaces/cli/main.js');
}
