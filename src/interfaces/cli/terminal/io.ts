import type { Command } from 'commander';
import { isatty } from 'node:tty';
import pc from 'picocolors';
import { createInterrupts, type Interrupts } from './interrupt.ts';
import { answersWithData, cloneRoot, ownCommand, speaking } from './own-command.ts';
import { processInput, type PersonInput } from './person-input.ts';

/** One line of `carillon --help`, and how to get the command when it is wanted: nothing else is loaded, so help is quick. */
export interface CommandEntry {
  name: string;
  /** The heading that it stands under. */
  group?: string;
  summary: string;
  load: () => Promise<(io: Io) => Command>;
}

/** All that a command knows of the terminal it runs in; tests hand in their own. */
export interface Io {
  /** Data that was asked for: what a pipe or a file should get. */
  stdout: NodeJS.WritableStream;
  /** Words to the person: progress, hints, failures. */
  stderr: NodeJS.WritableStream;
  input: PersonInput;
  /** What to give to `readConfig`; undefined for the environment of this process. */
  env: NodeJS.ProcessEnv | undefined;
  /** Whether standard output is a terminal: live display, else plain lines. */
  isTerminal: boolean;
  /** Whether to colour; false with `NO_COLOR` or without a terminal. */
  colour: boolean;
  /** Epoch milliseconds. */
  now(): number;
  /** Returns a function that removes the handler. A second signal ends the process at once, and so does one without a handler. */
  onInterrupt: Interrupts['onInterrupt'];
  /** What a person types here instead of `carillon`; left out where that is it. */
  ownCommand?: string;
  /** What the process will exit with when the command returns; set by a command that has already said what failed. */
  exitCode: number;
}

/**
 * The terminal of this process for one command line. `exit` is called when a second signal or broken output leaves nothing to wait for.
 * Commands that the output tells to type are those that work here.
 */
export function processIo(exit: (code: number) => void, args: readonly string[] = []): Io & Pick<Interrupts, 'endedByReader'> {
  const { stdout, stderr } = process;
  const own = ownCommand({
    script: process.argv[1] ?? '',
    folder: process.cwd(),
    root: cloneRoot(),
    windows: process.platform === 'win32',
  });
  const isTerminal = isatty(1);
  let input: PersonInput | null = null;
  const interrupts = createInterrupts(process, exit);
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // `carillon start | head`: a reader that goes away stops the output, and not the work.
      if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') interrupts.closed();
      else exit(1);
    });
  }
  return {
    stdout: answersWithData(args) ? stdout : speaking(stdout, own),
    stderr: speaking(stderr, own),
    ownCommand: own,
    // Standard input is left alone by commands that do not ask for it.
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
