import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The examples that come with the program: sources and built files lie at different depths below them. */
export function examplesFolder(): string {
  for (const path of ['../../examples', '../../../examples']) {
    const folder = fileURLToPath(new URL(path, import.meta.url));
    if (existsSync(folder)) return folder;
  }
  throw new Error('the folder examples of carillon is not above its own files');
}
