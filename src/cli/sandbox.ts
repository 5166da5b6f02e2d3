import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { FaultRuleError, readFaultRules, type FaultRuleInput } from '../sandbox/faults/fault-rule.ts';
import { sandboxKey } from '../sandbox/http/authentication.ts';
import { seedAgents, seedNumbers } from '../sandbox/seed-data.ts';
import { SandboxStartError, type SandboxOptions } from '../sandbox/settings.ts';
import { startSandbox, type RunningSandbox } from '../sandbox/start.ts';

/** Flags as typed. */
export interface SandboxFlags {
  port?: string;
  dialect?: string;
  speed?: string;
  seed?: string;
  concurrency?: string;
  faults?: string;
  /** False for `--no-unanswered-records`. */
  unansweredRecords?: boolean;
  json?: boolean;
}

export interface SandboxIo {
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
  /** Aborted when the sandbox is to stop. */
  stop: AbortSignal;
}

/** Thrown when a flag cannot be used; the message says which and what is allowed. */
class FlagError extends Error {
  override readonly name = 'FlagError' as const;
}

const defaultPort = 4010;

const examples = `
Examples:
  $ carillon sandbox                               on port ${defaultPort}, in real time
  $ carillon sandbox --port 0 --json               on any free port; one JSON line on stdout when ready
  $ carillon sandbox --speed 120 --seed 7          two hours of calls in a minute, the same calls every time
  $ carillon sandbox --dialect spec                nothing but what the contract promises
  $ carillon sandbox --faults faults.json          with [{"operation":14,"nth":2,"effect":{"type":"reset","when":"after"}}]

While it runs: GET /_sandbox/conduct?format=text judges the caller, /_sandbox/calls lists what was dialled,
/_sandbox/journal what was asked, /_sandbox/faults holds the fault rules. None of these needs a key.`;

/** `carillon sandbox`: the service on this machine, until interrupted. */
export function sandboxCommand(): Command {
  return new Command('sandbox')
    .description('run the voice-agent service locally, with a simulated phone network')
    .option('--port <number>', `port on 127.0.0.1; 0 for any free one (default: ${defaultPort})`)
    .option(
      '--dialect <name>',
      'spec: only what the contract promises; extended: likely inner fields beside it (default: extended)',
    )
    .option('--speed <factor>', 'service seconds per real second (default: 1)')
    .option('--seed <text>', 'same seed, same calls (default: carillon)')
    .option('--concurrency <calls>', 'calls on the line at once (default: 30)')
    .option('--faults <file>', 'JSON file of fault rules')
    .option('--no-unanswered-records', 'calls that nobody answers leave no conversation record')
    .option('--json', 'print one JSON line to stdout when ready')
    .addHelpText('after', examples)
    .action(async (flags: SandboxFlags) => {
      const stopping = new AbortController();
      const stop = (): void => stopping.abort();
      process.once('SIGINT', stop).once('SIGTERM', stop);
      try {
        process.exitCode = await runSandbox(flags, {
          stdout: process.stdout,
          stderr: process.stderr,
          stop: stopping.signal,
        });
      } finally {
        process.removeListener('SIGINT', stop).removeListener('SIGTERM', stop);
      }
    });
}

/** Runs the sandbox until told to stop. Returns the exit code: 0, or 2 when it could not start as asked. */
export async function runSandbox(flags: SandboxFlags, io: SandboxIo): Promise<number> {
  let sandbox: RunningSandbox;
  try {
    sandbox = await startSandbox(await readFlags(flags));
  } catch (error) {
    if (!(error instanceof FlagError || error instanceof SandboxStartError || error instanceof FaultRuleError))
      throw error;
    io.stderr.write(`error: ${error.message}\n`);
    return 2;
  }
  io.stderr.write(banner(sandbox, flags));
  if (flags.json === true) io.stdout.write(`${JSON.stringify(readyLine(sandbox, flags))}\n`);
  if (!io.stop.aborted)
    await new Promise<void>((resolve) => io.stop.addEventListener('abort', () => resolve(), { once: true }));
  await sandbox.close();
  io.stderr.write('The sandbox has stopped; nothing of it is kept.\n');
  return 0;
}

/** Turns flags into options. Throws `FlagError` or `FaultRuleError`. */
async function readFlags(flags: SandboxFlags): Promise<SandboxOptions> {
  const { dialect = 'extended' } = flags;
  if (dialect !== 'spec' && dialect !== 'extended')
    throw new FlagError(`--dialect is "${dialect}"; it must be spec or extended.`);
  return {
    port: readNumber('--port', flags.port) ?? defaultPort,
    dialect,
    unansweredCreateRecord: flags.unansweredRecords ?? true,
    ...given('speed', readNumber('--speed', flags.speed)),
    ...given('seed', flags.seed),
    ...given('concurrency', readNumber('--concurrency', flags.concurrency)),
    ...given('faults', flags.faults === undefined ? undefined : await readFaultFile(flags.faults)),
  };
}

function given<Name extends string, Value>(name: Name, value: Value | undefined): { [key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [key in Name]: Value });
}

function readNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === '' || Number.isNaN(value)) throw new FlagError(`${flag} is "${text}"; it must be a number.`);
  return value;
}

async function readFaultFile(path: string): Promise<FaultRuleInput[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw new FlagError(
      `--faults ${path}: the file cannot be read (${code}). Give the path of a JSON file of fault rules.`,
      { cause: error },
    );
  }
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch (error) {
    throw new FlagError(`--faults ${path}: not JSON (${error instanceof Error ? error.message : 'unreadable'}).`, {
      cause: error,
    });
  }
  readFaultRules(input, path);
  return (Array.isArray(input) ? input : [input]) as FaultRuleInput[];
}

function readyLine(sandbox: RunningSandbox, flags: SandboxFlags): Record<string, unknown> {
  return {
    ready: true,
    url: sandbox.url,
    port: sandbox.port,
    apiKey: sandboxKey,
    dialect: flags.dialect ?? 'extended',
    speed: sandbox.clock.speed,
    agents: seedAgents.map(({ agentId }) => agentId),
    phoneNumbers: seedNumbers.map(({ phoneNumberId }) => phoneNumberId),
  };
}

function banner(sandbox: RunningSandbox, flags: SandboxFlags): string {
  const agents = seedAgents.map(({ agentId, name }) => `${agentId} (${name})`);
  const numbers = seedNumbers.map(
    ({ phoneNumberId, phoneNumber, verified }) => `${phoneNumberId} ${phoneNumber}${verified ? '' : ' (not verified)'}`,
  );
  return [
    `The sandbox listens on ${sandbox.url} (dialect ${flags.dialect ?? 'extended'}, speed ${sandbox.clock.speed}). Nothing real is called, nothing is kept.`,
    `  SVC_BASE_URL=${sandbox.url} SVC_API_KEY=${sandboxKey}`,
    `  agents         ${agents.join(', ')}`,
    `  caller numbers ${numbers.join(', ')}`,
    `  conduct report ${sandbox.url}/_sandbox/conduct?format=text`,
    '  Ctrl-C stops it.',
    '',
  ].join('\n');
}
