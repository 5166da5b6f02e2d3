import type { Command } from 'commander';
import { isatty } from 'node:tty';
import pc from 'picocolors';
import { createInterrupts, type Interrupts } from './interrupt.ts';
import { answersWithData, cloneRoot, ownCommand, speaking } from './own-command.ts';
import { processInput, type UserInput } from './person-input.ts';

/** Loaded lazily, so that help is quick. */
export interface CommandEntry {
  name: string;
  /** Heading in the help. */
  group?: string;
  summary: string;
  load: () => Promise<(io: Io) => Command>;
}

/** A command's terminal; tests pass their own. */
export interface Io {
  /** Requested data, for a pipe or file. */
  stdout: NodeJS.WritableStream;
  /** Messages: progress, hints, failures. */
  stderr: NodeJS.WritableStream;
  input: UserInput;
  /** For `readConfig`; undefined: this process's environment. */
  env: NodeJS.ProcessEnv | undefined;
  /** Standard output is a terminal: live display instead of plain lines. */
  isTerminal: boolean;
  /** False with `NO_COLOR` or without a terminal. */
  colour: boolean;
  /** Epoch milliseconds. */
  now(): number;
  /** Returns a function that removes the handler. A second signal, or one without a handler, ends the process at once. */
  onInterrupt: Interrupts['onInterrupt'];
  /** What a user types here instead of `carillon`; undefined if the same. */
  ownCommand?: string;
  /** Set by a command that has reported its failure. */
  exitCode: number;
}

/** `exit` is called at a second signal or broken output. Commands in the output are rewritten to what works here. */
export function processIo(exit: (code: number) => void, args: readonly string[] = []): Io & Pick<Interrupts, 'endedByReader'> {
  const { stdout, stderr } = process;
  const own = ownCommand({
    script: process.argv[1] ?? '',
    folder: process.cwd(),
    root: cloneRoot(),
    windows: process.platform === 'win32',
  });
  const isTerminal = isatty(1);
  let input: UserInput | null = null;
  const interrupts = createInterrupts(process, exit);
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // `carillon start | head`: a closed reader stops the output, not the work.
      if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') interrupts.closed();
      else exit(1);
    });
  }
  return {
    stdout: answersWithData(args) ? stdout : speaking(stdout, own),
    stderr: speaking(stderr, own),
    ownCommand: own,
    // Commands that ask nothing leave standard input alone.
    get input() {
      return (input ??= processInput());
    },
    env: undefined,
    isTerminal,
    colour: isTerminal && pc.isColorSupported,
    now: Date.now,
    onInterrupt: interrupts.onInterrupt,
    endedByReader: interrupts.endedByReader,
    exitCode: 0,
  };
}
