import { spawn, type StdioOptions } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Command } from 'commander';
import { jsonText } from '../../../shared/input/printable.ts';
import { describeFileError } from '../../../shared/input/errors.ts';
import { commandEnvironment, readConfig } from '../../../shared/config.ts';
import { sandboxKey } from '../../../sandbox/http/authentication.ts';
import { formatConduct, verdictOf, type ConductReport } from '../../../sandbox/judge/conduct-report.ts';
import { toJUnit } from '../../../sandbox/judge/junit.ts';
import { addSandboxFlags, startFromFlags, type SandboxFlags } from './flags.ts';

const formats = {
  text: formatConduct,
  json: (report: ConductReport) => `${jsonText(report, 2)}\n`,
  junit: toJUnit,
};
type ReportFormat = keyof typeof formats;

export interface ExecFlags extends SandboxFlags {
  report?: string;
  reportFile?: string;
}

export interface ExecIo {
  stderr: { write(text: string): unknown };
  stdio: StdioOptions;
  /** True if Ctrl-C reaches the command directly, through a terminal shared with this process. */
  sharesTerminal: boolean;
}

const examples = `
The command finds the sandbox through SVC_BASE_URL, SVC_API_KEY and CARILLON_SANDBOX_URL; with --dialect published
SVC_API is set, too. The conduct report goes to stderr; stdout belongs to the command. The exit code is the command's own; 1 if the
command succeeded but the conduct report has violations or no request arrived; 2 if the command could not be run.

Examples:
  carillon sandbox exec -- npm test
  carillon sandbox exec --seed 7 --speed 60 --faults faults.json -- node dial.js
  carillon sandbox exec --calling-hours 08:00-21:00 --report-file conduct.xml -- ./nightly.sh`;

const nothingObserved =
  'error: No request came to the service, so nothing was judged. Let the command use SVC_BASE_URL and SVC_API_KEY, and no reset at its end.\n';

/** `carillon sandbox exec`: a command with its own sandbox. `end` gets the exit code. */
export function execCommand(end: (code: number) => void): Command {
  return addSandboxFlags(new Command('exec'), '0')
    .description('Run a command against a private sandbox, and judge how it used the service')
    .usage('[options] -- <command> [arguments...]')
    .argument('<command...>', 'command to run, with its arguments')
    .option('--report <format>', 'text, json or junit (default: by file name, otherwise text)')
    .option('--json', 'same as --report json', false)
    .option('--report-file <file>', 'write the conduct report to this file; .json and .xml select the format')
    .passThroughOptions()
    .addHelpText('after', examples)
    .action(async (command: string[], _flags: ExecFlags, self: Command) => {
      const io = { stderr: process.stderr, stdio: 'inherit', sharesTerminal: process.stdin.isTTY } as const;
      end(await runExec(command, flagsOf(self), io));
    });
}

/** Returns the exit code. */
export async function runExec(command: readonly string[], flags: ExecFlags, io: ExecIo): Promise<number> {
  const format = flags.report ?? (flags.json === true ? 'json' : formatByName(flags.reportFile ?? ''));
  if (!isFormat(format)) {
    io.stderr.write(`error: --report is "${format}"; it must be ${Object.keys(formats).join(', ')}.\n`);
    return 2;
  }
  const sandbox = await startFromFlags({ ...flags, port: flags.port ?? '0' }, io.stderr);
  if (sandbox === null) return 2;
  try {
    // This dialect has no operation of the contract.
    const isOther = flags.dialect === 'published' && readConfig().SVC_API === 'contract';
    const ended = await runChild(command, { SVC_BASE_URL: sandbox.url, ...(isOther ? { SVC_API: 'batch-calling' } : {}) }, io);
    if (typeof ended === 'string') {
      io.stderr.write(`error: ${ended}\n`);
      return 2;
    }
    // Lets requests that the command left behind finish.
    await nextTurn();
    const report = sandbox.conduct();
    const isWritten = await writeReport(report, format, flags.reportFile, io);
    if (report.requests === 0) io.stderr.write(nothingObserved);
    return Math.max(ended, report.ok && report.requests > 0 && isWritten ? 0 : 1);
  } finally {
    await sandbox.close();
  }
}

/** The exit code as a shell reports it, or why the command could not be run. */
async function runChild(
  [program = '', ...args]: readonly string[],
  service: { SVC_BASE_URL: string; SVC_API?: string },
  io: ExecIo,
): Promise<number | string> {
  const env = commandEnvironment({ ...service, SVC_API_KEY: sandboxKey, CARILLON_SANDBOX_URL: service.SVC_BASE_URL });
  const child = spawn(program, args, { stdio: io.stdio, env });
  const forward = (signal: NodeJS.Signals): void => {
    if (signal !== 'SIGINT' || !io.sharesTerminal) child.kill(signal);
  };
  const forwarded: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of forwarded) process.on(signal, forward);
  try {
    return await new Promise((resolve) => {
      child.once('error', (error: NodeJS.ErrnoException) => resolve(describeSpawnError(program, error)));
      child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
    });
  } finally {
    for (const signal of forwarded) process.removeListener(signal, forward);
  }
}

function describeSpawnError(program: string, { code = 'unknown error' }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return `The command "${program}" was not found. Give a program that is on the PATH, or its path, after --.`;
  if (code === 'EACCES') return `The command "${program}" may not be run. Make it executable, or name what runs it.`;
  return `The command "${program}" could not be run (${code}).`;
}

/** Returns false if the report could not be written to its file; it then goes to stderr. */
async function writeReport(report: ConductReport, format: ReportFormat, file: string | undefined, io: ExecIo): Promise<boolean> {
  const text = formats[format](report);
  if (file === undefined) {
    io.stderr.write(text);
    return true;
  }
  try {
    await writeFile(file, text);
  } catch (error) {
    io.stderr.write(`error: --report-file ${file} cannot be written: ${describeFileError(error)}. This is the report:\n${text}`);
    return false;
  }
  io.stderr.write(`conduct: ${verdictOf(report)}; the report is in ${file}\n`);
  return true;
}

/** Flags may precede the word exec too; those after it win. */
function flagsOf(command: Command): ExecFlags {
  const given = (of: Command): ExecFlags =>
    Object.fromEntries(Object.entries(of.opts()).filter(([name]) => of.getOptionValueSource(name) === 'cli'));
  return { ...(command.parent === null ? {} : given(command.parent)), ...given(command) };
}

function formatByName(file: string): ReportFormat {
  if (file.endsWith('.json')) return 'json';
  return file.endsWith('.xml') ? 'junit' : 'text';
}

function isFormat(text: string): text is ReportFormat {
  return Object.hasOwn(formats, text);
}
