import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { lastLine, runChild } from './child-run.ts';

/** Workflow updates and their validators are complete since this server version. */
const oldestServer = { major: 1, minor: 25 };

/** What `temporal --version` told, or why the program cannot be used. */
export type BinaryProbe = { usable: true; version: string } | { usable: false; reason: string };

/** Runs `temporal --version`: the program must start here and carry a dev server that is not older than 1.25. */
export async function probeBinary(path: string, signal?: AbortSignal): Promise<BinaryProbe> {
  const result = await runChild({ command: path, args: ['--version'], timeoutMs: 10_000, signal });
  if (result.code !== 0) {
    const why = result.fault ?? (lastLine(result.stderr) || `exit code ${result.code}`);
    return { usable: false, reason: `it does not run (${why})` };
  }
  const version = /\(Server ((\d+)\.(\d+)[^,)]*)/.exec(result.stdout);
  if (version === null) return { usable: false, reason: 'its --version names no server: it is another program or a very old one' };
  const [major, minor] = [Number(version[2]), Number(version[3])];
  if (major < oldestServer.major || (major === oldestServer.major && minor < oldestServer.minor)) {
    const oldest = `${oldestServer.major}.${oldestServer.minor}`;
    return { usable: false, reason: `its server ${version[1]} is older than ${oldest}` };
  }
  return { usable: true, version: version[1] ?? '' };
}

/** The file of a program, as this system names it. */
export function programFile(name: string): string {
  return process.platform === 'win32' ? `${name}.exe` : name;
}

/** The first executable of that name in the folders of a PATH variable, or null. Relative folders are left out. */
export async function findOnPath(name: string, path: string | undefined): Promise<string | null> {
  const file = programFile(name);
  for (const folder of (path ?? '').split(delimiter).filter((entry) => isAbsolute(entry))) {
    const candidate = join(folder, file);
    const executable = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (executable) return candidate;
  }
  return null;
}
