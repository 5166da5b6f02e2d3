import { PassThrough } from 'node:stream';
import type { Io } from '../../../src/interfaces/cli/terminal/io.ts';
import { processInput } from '../../../src/interfaces/cli/terminal/person-input.ts';

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
