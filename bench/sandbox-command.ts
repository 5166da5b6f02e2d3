import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { childEnvironment } from '../src/shared/config.ts';

export interface SandboxCommand {
  url: string;
  /** From the start of the process until it said that it is ready. */
  readyMs: number;
  /** Memory that the process holds now, the runtime included. */
  residentMb: () => Promise<number>;
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL('../dist/src/interfaces/cli/main.js', import.meta.url));

/** `carillon sandbox` as it was built, on any free port, with flags of one's own. */
export async function startSandboxCommand(flags: readonly string[] = []): Promise<SandboxCommand> {
  const begun = performance.now();
  const child = spawn(process.execPath, [program, 'sandbox', '--port', '0', '--json', ...flags], {
    env: childEnvironment(),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  const line = new Promise<string>((resolve) => createInterface(child.stdout).once('line', resolve));
  const first = await Promise.race([line, ended.then(() => null)]);
  if (first === null) throw new Error(`carillon sandbox ended before it was ready (${await ended}).`);
  const readyMs = performance.now() - begun;
  return {
    url: (JSON.parse(first) as { url: string }).url,
    readyMs,
    residentMb: async () => {
      const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(child.pid)]);
      return Number(stdout) / 1024;
    },
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
