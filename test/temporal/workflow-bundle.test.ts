import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { connectTemporal, connectTemporalNative } from '../../src/temporal/connection.ts';
import { sharedTemporal } from '../support/temporal-for-tests.ts';
import { bundleWorkflows, loadWorkflowBundle } from '../../src/temporal/workflow-bundle.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

async function makeWorkflows(source: string): Promise<string> {
  const folder = temporaryFolder();
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const path = join(folder, 'index.ts');
  await writeFile(path, source);
  return path;
}

test('a bundle of TypeScript workflows runs on a worker', async () => {
  const path = await makeWorkflows(`
    import { sleep } from '@temporalio/workflow';
    export async function double(n: number): Promise<number> {
      await sleep(1);
      return n * 2;
    }`);
  const workflowBundle = await bundleWorkflows({ workflowsPath: path });
  const target = await sharedTemporal();
  const config = { TEMPORAL_ADDRESS: undefined, TEMPORAL_NAMESPACE: undefined };
  const native = await connectTemporalNative(config, { target });
  const { connection, client } = await connectTemporal(config, { target });
  const worker = await Worker.create({
    connection: native.connection,
    namespace: target.namespace,
    taskQueue: 'doubles',
    workflowBundle,
  });
  const result = await worker.runUntil(client.workflow.execute('double', { workflowId: 'double', taskQueue: 'doubles', args: [21] }));
  await connection.close();
  await native.connection.close();
  expect(result).toBe(42);
});

test.each([
  ['a Node built-in', `import { readFileSync } from 'node:fs';\nexport async function bad() { return readFileSync('x'); }`, /fs/],
  ['a module that is not there', `import { x } from './absent.ts';\nexport async function bad() { return x; }`, /absent\.ts/],
])('workflows that import %s are refused with its name and the place', async (_, source, named) => {
  const path = await makeWorkflows(source);
  const bundling = bundleWorkflows({ workflowsPath: path });
  await expect(bundling).rejects.toMatchObject({ name: 'WorkflowBundleError', isBadInput: false });
  await expect(bundling).rejects.toThrow(named);
  await expect(bundling).rejects.toThrow(/index\.ts cannot be bundled\. Workflow code must be deterministic/);
});

const own = join(root, 'workflows', 'index.ts');

test.skipIf(!existsSync(own))('the build script writes the bundle of our own workflows, without zod and its size', async () => {
  const out = join(temporaryFolder(), 'made', 'bundle.js');
  const script = join(root, 'src', 'temporal', 'workflow-bundle.ts');
  await promisify(execFile)(process.execPath, ['--import', 'tsx', script, out], { cwd: root });
  const code = await readFile(out, 'utf8');
  expect(code).toMatch(/\bcampaign\b/);
  expect(code).not.toContain('node_modules/zod');
});

test.skipIf(!existsSync(own))('code that runs from source bundles the source and takes no stale build', async () => {
  expect(await loadWorkflowBundle({ isTraced: false })).toEqual({ code: expect.stringContaining('campaign') });
});
