import { Command, Option, InvalidArgumentError } from 'commander';
import { writeAnswer } from './answer.ts';
import type { Io } from './io.ts';

export interface CommandOutput {
  /** For `--json`. */
  data: unknown;
  /** Text; ends with a line break, or is empty. */
  words: string;
  /** Further text on standard error; omitted with `--json`. */
  aside?: string;
}

/** Flag, meaning, then parser or default, as in commander. */
type FlagText = Option | readonly [flag: string, means: string, ...more: unknown[]];

interface CommonFlags {
  json: boolean;
  yes: boolean;
  /** Idempotency key of a change. */
  key?: string;
}

export interface CommandText<Flags, Argument> {
  name: string;
  /** Omitted if the line in `carillon --help` is enough. */
  says?: string;
  argument?: readonly [name: string, means: string, parse?: (text: string, before: Argument) => Argument];
  flags?: readonly FlagText[];
  /** Asks for confirmation: adds `--yes`. */
  asks?: true | string;
  /** It carries out an operation: adds `--key`. */
  changes?: true;
  /** Help of `--json`; null: no such flag. */
  json?: string | null;
  /** Text below the flags. */
  help?: string;
  examples?: readonly string[];
  /** Null: nothing more to print. */
  run: (io: Io, flags: Flags & CommonFlags, argument: Argument) => Promise<CommandOutput | null>;
}

/** Lets a program repeat a command safely. */
export const keyFlag = ['--key <text>', 'a text of your own, new for each change: the same key changes once'] as const;

/** Reads flags, runs, and prints text or JSON. */
export function commandOf<Flags extends object = object, Argument = string>(text: CommandText<Flags, Argument>): (io: Io) => Command {
  const { name, says, argument, flags = [], asks, changes, json = 'print JSON', help, examples = [], run } = text;
  return (io) => {
    const command = new Command(name);
    if (says !== undefined) command.description(says);
    if (argument !== undefined) command.argument(...(argument as [string, string]));
    for (const flag of flags) {
      if (flag instanceof Option) command.addOption(flag);
      else {
        const [written, means, ...more] = flag;
        command.option(written, means, ...(more as [string]));
      }
    }
    if (asks !== undefined) command.option('-y, --yes', asks === true ? 'do not ask for confirmation' : asks, false);
    if (changes) command.option(...keyFlag);
    const lines = [...(help === undefined ? [] : [help]), ...(examples.length === 0 ? [] : [examplesText(examples)])];
    if (json !== null) command.option('--json', json, false);
    return command.addHelpText('after', lines.join('\n')).action(async (...given: unknown[]) => {
      const argumentGiven = (argument === undefined ? undefined : given[0]) as Argument;
      const chosen = { yes: false, json: false, ...command.opts<Flags>() };
      const output = await run(io, chosen, argumentGiven);
      if (output === null) return;
      writeAnswer(io, chosen.json, output);
      if (!chosen.json && output.aside !== undefined) io.stderr.write(output.aside);
    });
  };
}

function examplesText(examples: readonly string[]): string {
  return `\nExample${examples.length === 1 ? '' : 's'}:\n${examples.map((line) => `  ${line}`).join('\n')}`;
}

export function groupOf(
  { name, says, help }: { name: string; says?: string; help: string },
  inner: readonly ((io: Io) => Command)[],
): (io: Io) => Command {
  return (io) => {
    const group = new Command(name).addHelpText('after', help);
    if (says !== undefined) group.description(says);
    for (const make of inner) group.addCommand(make(io));
    return group;
  };
}

export function readPort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('Write a whole number from 0 (any free port) to 65535.');
}

/** A whole number from 1; `advice`: the error text. */
export function readPositive(advice: string): (text: string) => number {
  return (text) => {
    if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
    throw new InvalidArgumentError(advice);
  };
}

/** Service seconds per real second. */
export function readFactor(text: string): number {
  const factor = Number(text);
  if (text.trim() !== '' && factor > 0 && factor <= 100_000) return factor;
  throw new InvalidArgumentError('Write a number above 0, at most 100000.');
}
