import { spawn } from 'node:child_process';
import { childEnvironment } from '../shared/config.ts';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/** Exit code is null when killed or not started. */
export interface ChildResult {
  code: number | null;
  stdout: string;
  stderr: string;
  /** The child could not start, timed out, or was cancelled. */
  fault: string | null;
}

export interface ChildInput {
  command: string;
  args: readonly string[];
  /** Added to every child's variables. */
  env?: Record<string, string>;
  timeoutMs: number;
  cwd?: string;
  signal?: AbortSignal | undefined;
}

/** Never throws. Keeps the last 64 KiB of each output stream. */
export function runChild(input: ChildInput): Promise<ChildResult> {
  const limit = AbortSignal.timeout(input.timeoutMs);
  const signal = input.signal === undefined ? limit : AbortSignal.any([limit, input.signal]);
  return new Promise((resolve) => {
    let stdout = '';
    let stderr = '';
    let fault: string | null = null;
    const child = spawn(input.command, [...input.args], {
      env: childEnvironment(input.env),
      stdio: ['ignore', 'pipe', 'pipe'],
      killSignal: 'SIGKILL',
      signal,
      ...(input.cwd === undefined ? {} : { cwd: input.cwd }),
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout = (stdout + text).slice(-65_536);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-65_536);
    });
    const finish = (code: number | null): void => resolve({ code, stdout, stderr, fault });
    child.on('error', (error) => {
      if (limit.aborted) fault = `it did not finish within ${input.timeoutMs / 1000} s`;
      else fault = signal.aborted ? 'it was called off' : error.message;
      // `close` may wait forever, since a grandchild can keep the pipes open.
      finish(null);
    });
    child.on('close', (code) => finish(code));
  });
}

/** The last non-empty line, where programs put the reason. */
export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() ?? '';
}

/** First version with complete workflow updates and validators. */
const oldestServer = { major: 1, minor: 25 };

type BinaryProbe = { usable: true; version: string } | { usable: false; reason: string };

/** The program must start here and contain a dev server of at least 1.25. */
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

export function programFile(name: string): string {
  return process.platform === 'win32' ? `${name}.exe` : name;
}

/** Skips relative folders of PATH. */
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
