import { existsSync } from 'node:fs';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A folder or file that comes with the program, such as `examples`: sources and built files lie at different depths below it. */
export function packageFolder(name: string): string {
  for (const root of ['../../..', '../../../..']) {
    const folder = fileURLToPath(new URL(`${root}/${name}`, import.meta.url));
    if (existsSync(folder)) return folder;
  }
  throw new Error(`The folder ${name} of carillon is not above its own files; install it again.`);
}

/** Writes the example campaign, under another id, and its list into a folder. Answers the path of the campaign file. */
export async function writeExample(folder: string, id: string): Promise<string> {
  const source = join(packageFolder('examples'), 'reminders');
  const path = join(folder, 'campaign.yaml');
  const text = await readFile(join(source, 'campaign.yaml'), 'utf8');
  await writeFile(path, text.replace(/^id: .*$/m, `id: ${id}`));
  await copyFile(join(source, 'recipients.csv'), join(folder, 'recipients.csv'));
  return path;
}
