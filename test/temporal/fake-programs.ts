import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** An executable shell script; its folder can be a PATH. */
export async function makeProgram(folder: string, name: string, script: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

/** What the CLI prints for `--version`. */
export function versionScript(server = '1.29.1'): string {
  return `echo "temporal version 1.5.1 (Server ${server}, UI 2.42.1)"`;
}
