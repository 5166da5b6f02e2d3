import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fetch } from 'undici';
import { onTestFinished } from 'vitest';
import { inputFrom } from '../../../src/interfaces/cli/terminal/person-input.ts';
import { runCli } from '../../../src/interfaces/cli/run-cli.ts';
import type { SandboxOptions } from '../../../src/sandbox/core/settings/settings.ts';
import { startSandbox, type RunningSandbox } from '../../../src/sandbox/start.ts';
import { createTerminal } from './terminal.ts';

/** A command's standard input, and perhaps an operator. */
export interface Caller {
  stdin?: string;
  /** Answers to yes-no questions, in order; omitted: no questions. */
  says?: boolean[];
  types?: string;
  /** The terminal's columns; omitted: none. */
  columns?: number;
  env?: Record<string, string>;
}

export interface CommandEnd {
  code: number;
  stdout: string;
  stderr: string;
  questions: string[];
}

export interface ServiceWorld {
  sandbox: RunningSandbox;
  write(name: string, text: string): string;
  run(args: string[], caller?: Caller): Promise<CommandEnd>;
  get(path: string): Promise<{ status: number; body: never }>;
}

export async function createServiceWorld(options: SandboxOptions = {}): Promise<ServiceWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-service-'));
  const sandbox = await startSandbox({ seed: 'cli', ...options });
  onTestFinished(async () => {
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    sandbox,
    write(name, text) {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    },
    run: (args, caller = {}) => runWith(args, caller, { SVC_BASE_URL: sandbox.url, SVC_API_KEY: 'sk_sandbox_ok' }),
    async get(path) {
      const response = await fetch(sandbox.url + path, { headers: { 'x-api-key': 'sk_sandbox_ok' } });
      return { status: response.status, body: (await response.json()) as never };
    },
  };
}

export async function runWith(args: string[], caller: Caller, env: Record<string, string>): Promise<CommandEnd> {
  const questions: string[] = [];
  const answers = [...(caller.says ?? [])];
  const io = createTerminal({ env: { ...env, ...caller.env }, isTerminal: caller.columns !== undefined });
  Object.assign(io.stdout, { columns: caller.columns });
  const stdin = new PassThrough();
  stdin.end(caller.types ?? caller.stdin ?? '');
  io.input = inputFrom({
    stdin,
    stderr: io.stderr,
    isInteractive: caller.says !== undefined || caller.types !== undefined,
    confirm: async (question) => {
      questions.push(question);
      return answers.shift() ?? false;
    },
  });
  const code = await runCli(args, io);
  return { code, ...io.written(), questions };
}
