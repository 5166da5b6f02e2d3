import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../src/shared/config.ts';

export interface BenchChild {
  /** The first line that the process printed. */
  first: unknown;
  pid: number;
  stop(): Promise<void>;
}

/**
 * Starts a program of this folder in a process of its own, `input` as JSON on its command line, and waits for the one line of JSON
 * that it prints. Its words on standard error go to ours.
 */
export function startChild(program: string, input: unknown, env: Record<string, string | undefined> = {}): Promise<BenchChild> {
  return startProgram(program, [JSON.stringify(input)], env);
}

/** The same with words on its command line. */
export async function startProgram(
  program: string,
  words: readonly string[],
  env: Record<string, string | undefined> = {},
): Promise<BenchChild> {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const loader = program.endsWith('.ts') ? ['--import', import.meta.resolve('tsx')] : [];
  const child = spawn(process.execPath, [...loader, path, ...words], {
    env: childEnvironment(env),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  const line = new Promise<string>((resolve) => createInterface(child.stdout).once('line', resolve));
  const first = await Promise.race([line, ended.then(() => null)]);
  if (first === null) throw new Error(`${program} ended without a result (${await ended}).`);
  return {
    first: JSON.parse(first),
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Runs a program of this folder to its end and answers what it printed. */
export async function runChild<Result>(program: string, input: unknown, env: Record<string, string | undefined> = {}): Promise<Result> {
  const child = await startChild(program, input, env);
  await child.stop();
  return child.first as Result;
}

/** What `startChild` put on the command line of this process. */
export function readInput(): unknown {
  return JSON.parse(process.argv[2] ?? 'null');
}

export function writeResult(result: unknown): void {
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
