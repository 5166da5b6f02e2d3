import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runCli } from '../../../src/interfaces/cli/run-cli.ts';
import type { Io } from '../../../src/interfaces/cli/terminal/io.ts';
import { processInput } from '../../../src/interfaces/cli/terminal/person-input.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

export interface FakeTerminal extends Io {
  written(): { stdout: string; stderr: string };
}

/** By default no terminal, no colours, an empty environment and a fixed clock. */
export function createTerminal(settings: Partial<Io> = {}): FakeTerminal {
  const texts = { stdout: '', stderr: '' };
  const capture = (name: 'stdout' | 'stderr'): PassThrough => {
    const stream = new PassThrough();
    stream.on('data', (chunk: Buffer) => {
      texts[name] += chunk.toString();
    });
    return stream;
  };
  return {
    stdout: capture('stdout'),
    stderr: capture('stderr'),
    input: processInput(),
    env: {},
    isTerminal: false,
    colour: false,
    now: () => Date.parse('2026-01-15T12:00:00Z'),
    onInterrupt: () => () => {},
    exitCode: 0,
    ...settings,
    written: () => texts,
  };
}

export interface CommandEnd {
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunningCommand {
  io: FakeTerminal;
  ended: Promise<CommandEnd>;
  /** Ctrl-C. */
  interrupt: () => void;
}

export function beginCommand(args: readonly string[], settings: Partial<Io> = {}): RunningCommand {
  let interrupt = (): void => {};
  const onInterrupt: Io['onInterrupt'] = (handler) => {
    interrupt = () => handler();
    return () => {};
  };
  const io = createTerminal({ onInterrupt, ...settings });
  const ended = runCli(args, io).then((code) => ({ code, ...io.written() }));
  return { io, ended, interrupt: () => interrupt() };
}

export function runCommand(args: readonly string[], settings: Partial<Io> = {}): Promise<CommandEnd> {
  return beginCommand(args, settings).ended;
}

/** Without service or Temporal, so that this machine's clock counts. */
export function commandFolder(settings: Record<string, string> = {}, terminal: Partial<Io> = {}) {
  const folder = temporaryFolder();
  const path = (name: string): string => join(folder, name);
  const away = { SVC_BASE_URL: 'http://127.0.0.1:9', TEMPORAL_ADDRESS: '127.0.0.1:9' };
  const env = { CARILLON_DB: path('carillon.db'), SVC_API_KEY: 'sk_sandbox_ok', ...away, ...settings };
  const write = (name: string, content: string | Uint8Array): string => {
    writeFileSync(path(name), content);
    return path(name);
  };
  const begin = (args: readonly string[], more: Partial<Io> = {}) => beginCommand(args, { env, ...terminal, ...more });
  const run = (...args: string[]) => begin(args).ended;
  return { folder, path, env, write, begin, run };
}
