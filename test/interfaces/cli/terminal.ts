import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runCli } from '../../../src/interfaces/cli/run-cli.ts';
import type { Io } from '../../../src/interfaces/cli/terminal/io.ts';
import { processInput } from '../../../src/interfaces/cli/terminal/person-input.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** A terminal that remembers what was written to it. */
export interface FakeTerminal extends Io {
  written(): { stdout: string; stderr: string };
}

/** Not a terminal, no colours, an empty environment and a fixed clock, unless told otherwise. */
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

/** A folder with a database of its own, where commands run. Neither service nor Temporal is there, so that this machine's clock counts. */
export function commandFolder(settings: Record<string, string> = {}, terminal: Partial<Io> = {}) {
  const folder = temporaryFolder();
  const path = (name: string): string => join(folder, name);
  const away = { SVC_BASE_URL: 'http://127.0.0.1:9', TEMPORAL_ADDRESS: '127.0.0.1:9' };
  const env = { CARILLON_DB: path('carillon.db'), SVC_API_KEY: 'sk_sandbox_ok', ...away, ...settings };
  const write = (name: string, content: string | Uint8Array): string => {
    writeFileSync(path(name), content);
    return path(name);
  };
  const run = async (...args: string[]) => {
    const io = createTerminal({ env, ...terminal });
    return { code: await runCli(args, io), ...io.written() };
  };
  return { folder, path, env, write, run };
}
