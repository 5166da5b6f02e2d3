import { spawn } from 'node:child_process';
import { childEnvironment } from '../shared/config.ts';

/** What a finished child process left: its exit code (null when it was killed or could not start) and its output. */
export interface ChildResult {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Why there is no exit code: it could not start, the limit passed, or it was called off. */
  fault: string | null;
}

export interface ChildInput {
  command: string;
  args: readonly string[];
  /** Beside the variables that every child gets. */
  env?: Record<string, string>;
  timeoutMs: number;
  cwd?: string;
  signal?: AbortSignal | undefined;
}

/** Runs a program to its end with a time limit; never throws. What it says is kept to the last 64 KiB of each stream. */
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
      // A grandchild may keep the pipes open after the kill, and `close` would wait for it.
      finish(null);
    });
    child.on('close', (code) => finish(code));
  });
}

/** The last line that says something: where programs put the reason. */
export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() ?? '';
}
