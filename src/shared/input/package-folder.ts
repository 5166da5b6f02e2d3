import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A folder or file that comes with the program, such as `examples`: sources and built files lie at different depths below it. */
export function packageFolder(name: string): string {
  for (const root of ['../../..', '../../../..']) {
    const folder = fileURLToPath(new URL(`${root}/${name}`, import.meta.url));
    if (existsSync(folder)) return folder;
  }
  throw new Error(`The folder ${name} of carillon is not above its own files; install it again.`);
}
