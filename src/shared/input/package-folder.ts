import { existsSync } from 'node:fs';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Path of a packaged file or folder such as `examples`, which sources and built files reach at different depths. */
export function packageFolder(name: string): string {
  for (const root of ['../../..', '../../../..']) {
    const folder = fileURLToPath(new URL(`${root}/${name}`, import.meta.url));
    if (existsSync(folder)) return folder;
  }
  throw new Error(`The folder ${name} of carillon is not above its own files; install it again.`);
}

/** Writes the example campaign under `id`, and its list. Returns the campaign file's path. */
export async function writeExample(folder: string, id: string): Promise<string> {
  const source = join(packageFolder('examples'), 'reminders');
  const path = join(folder, 'campaign.yaml');
  const text = await readFile(join(source, 'campaign.yaml'), 'utf8');
  await writeFile(path, text.replace(/^id: .*$/m, `id: ${id}`));
  await copyFile(join(source, 'recipients.csv'), join(folder, 'recipients.csv'));
  return path;
}
