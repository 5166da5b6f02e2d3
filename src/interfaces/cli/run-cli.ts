import { Command, CommanderError, Help, type Option } from 'commander';
import { textFaults } from '../../rules/text.ts';
import { UsageError } from '../../shared/input/errors.ts';
import { capital } from '../../shared/input/figures.ts';
import { jsonText } from '../../shared/input/printable.ts';
import { commands } from './commands.ts';
import { describeFailure, type Failure } from './terminal/failure.ts';
import type { Io, CommandEntry } from './terminal/io.ts';
import { asTyped, readVersion } from './terminal/own-command.ts';

const examples = `
Examples:
  carillon demo                                   a complete rehearsal without any setup
  carillon init reminders                         create a campaign file
  carillon check campaign.yaml                    show what would happen, without a call
  carillon run campaign.yaml                      start the campaign and watch it
  carillon results <campaign>                     write a file with one line per row of the list

Settings are environment variables: docs/configuration.md lists them.`;

/** Returns the exit code: 0 done, 1 failed, 2 wrong usage or bad input. Never throws. */
export async function runCli(args: readonly string[], io: Io, entries: readonly CommandEntry[] = commands): Promise<number> {
  try {
    refuseFaultyText(ownOf(args));
    const program = await buildProgram(args, io, entries);
    await program.parseAsync(args, { from: 'user' });
    return io.exitCode;
  } catch (error) {
    // Commander has written its message; help and version throw too, with code 0.
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      const message = error.message.replace(/^error: /, '');
      if (wantsJson(args)) writeError(io, { exitCode: 2, code: 'usage', message });
      return 2;
    }
    return reportFailure(args, io, describeFailure(error, await wantsDebug(io)));
  }
}

/** As text, and with --json as data; returns the exit code. */
export function reportFailure(args: readonly string[], io: Io, failure: Failure): number {
  if (failure.message !== '') io.stderr.write(`${failure.message}\n`);
  if (wantsJson(args)) writeError(io, failure);
  return failure.exitCode;
}

/** Arguments behind `--` belong to another program. */
function ownOf(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return end === -1 ? args : args.slice(0, end);
}

function refuseFaultyText(args: readonly string[]): void {
  const [odd] = textFaults(args);
  if (odd !== undefined) throw new UsageError(`Argument ${Number(odd.path[0]) + 1} holds ${odd.fault}; remove it.`);
}

function wantsJson(args: readonly string[]): boolean {
  return ownOf(args).includes('--json');
}

/** Besides the text on standard error. */
function writeError(io: Io, { code, message, exitCode }: Failure): void {
  const typed = asTyped(message, io.ownCommand ?? 'carillon');
  io.stdout.write(`${jsonText({ error: { code, message: typed, exitCode } })}\n`);
}

async function buildProgram(args: readonly string[], io: Io, entries: readonly CommandEntry[]): Promise<Command> {
  const program = new Command('carillon')
    .description('Durable outbound call campaigns: every row of a list ends with exactly one outcome.')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .addHelpText('after', examples)
    .showHelpAfterError('Run carillon --help, or carillon <command> --help, for usage.')
    .exitOverride()
    .configureHelp({ optionDescription: describeOption })
    .configureOutput({
      writeOut: (text) => io.stdout.write(asTyped(text, io.ownCommand ?? 'carillon')),
      writeErr: (text) => io.stderr.write(text),
      getOutHasColors: () => io.colour,
      getErrHasColors: () => io.colour,
    });
  const commandName = args[0] === 'help' ? args[1] : args[0];
  for (const { name, group = 'Commands:', summary, load } of entries) {
    if (name !== commandName) {
      program.command(name).summary(summary).helpGroup(group);
      continue;
    }
    const command = (await load())(io);
    inherit(command, program);
    if (command.description() === '') command.description(capital(summary));
    program.addCommand(command.summary(summary).helpGroup(group));
  }
  return program;
}

/** Marks required options, and drops the default of a switch. */
function describeOption(option: Option): string {
  const text = new Help().optionDescription(option).replace(/ \(default: false\)$/, '');
  return option.mandatory ? `${text} (required)` : text;
}

function inherit(command: Command, from: Command): void {
  command.copyInheritedSettings(from);
  for (const inner of command.commands) inherit(inner, command);
}

async function wantsDebug(io: Io): Promise<boolean> {
  const { readConfig } = await import('../../shared/config.ts');
  try {
    const level = readConfig(io.env).CARILLON_LOG_LEVEL;
    return level === 'debug' || level === 'trace';
  } catch {
    return false;
  }
}
