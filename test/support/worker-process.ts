import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { until } from './until.ts';

const run = promisify(execFile);

/** From the build: a worker, or a sandbox. */
export type WorkerProcess = ReturnType<typeof spawnWorker>;

/** None outlives this process. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** The built command line. */
export const program = fileURLToPath(new URL('../../dist/src/interfaces/cli/main.js', import.meta.url));
const passedOn = ['PATH', 'HOME', 'TMPDIR', 'XDG_CACHE_HOME'];

function environmentWith(settings: Record<string, string>): NodeJS.ProcessEnv {
  return { ...Object.fromEntries(passedOn.map((name) => [name, process.env[name]])), ...settings };
}

/** With these settings and no others. */
export async function runCommand(
  args: readonly string[],
  settings: Record<string, string>,
): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    return { code: 0, ...(await run(process.execPath, [program, ...args], { env: environmentWith(settings) })) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

/** `carillon worker`, or another lasting command, with these settings and no others; of this build, or another. */
export function spawnWorker(settings: Record<string, string>, args: readonly string[] = ['worker'], from = program) {
  const child = spawn(process.execPath, [from, ...args], {
    env: environmentWith(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let written = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      written += text;
    });
  }
  running.add(child);
  let over = false;
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => {
      over = true;
      running.delete(child);
      resolve({ code, signal });
    });
  });
  return {
    pid: child.pid ?? 0,
    output: () => written,
    ended,
    hasEnded: () => over,
    /** SIGKILL, until it is gone. */
    kill: async (): Promise<void> => {
      child.kill('SIGKILL');
      await ended;
    },
    /** SIGSTOP, until it stops; then it is thawed or killed. */
    freeze: async (): Promise<void> => {
      child.kill('SIGSTOP');
      await until('the worker stands still', async () => {
        const { stdout } = await run('ps', ['-o', 'state=', '-p', String(child.pid)]);
        return stdout.trim().startsWith('T');
      });
    },
    thaw: (): void => {
      child.kill('SIGCONT');
    },
    terminate: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}
