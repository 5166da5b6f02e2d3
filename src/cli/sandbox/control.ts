import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { parseDuration } from '../../input/duration.ts';
import { describeFileError } from '../../input/errors.ts';
import { jsonText } from '../../input/json-text.ts';
import { readConfig } from '../../config.ts';
import { readControlToken } from './control-token.ts';
import { FixtureError, readFixture } from '../../sandbox/fixture/check-fixture.ts';
import type { Io } from '../terminal/io.ts';
import { writeJson } from '../terminal/json-output.ts';
import { count, span } from '../../input/figures.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Thrown when a sandbox could not be told what to do; says what it answered. */
export class SandboxControlError extends Error {
  override readonly name = 'SandboxControlError' as const;
  readonly exitCode = 1;
}

type ControlIo = Pick<Io, 'stdout' | 'env' | 'exitCode'>;

interface ControlFlags {
  url?: string;
  controlTokenFile?: string;
  json: boolean;
}

const limitMs = 60_000;

/** Commands for a sandbox that runs: at SVC_BASE_URL, or where `--url` says. */
export function controlCommands(io: ControlIo): Command[] {
  return [advanceCommand(io), faultsCommand(io), fixtureCommand(io), resetCommand(io), snapshotCommand(io)];
}

function controlCommand(name: string, what: string, example: string): Command {
  return new Command(name)
    .description(what)
    .option('--url <address>', 'address of the sandbox (default: SVC_BASE_URL)')
    .option('--control-token-file <file>', 'control token of the sandbox (default: CARILLON_SANDBOX_TOKEN)')
    .option('--json', 'print the response', false)
    .addHelpText('after', `\nExample:\n  ${example}`);
}

function advanceCommand(io: ControlIo): Command {
  return controlCommand('advance', 'Advance the clock of a running sandbox', 'carillon sandbox advance 2h')
    .argument('[span]', 'duration such as 90s, 5m or 2h, or a time such as 2030-01-15T12:00:00Z')
    .option('--until <end>', 'a time, or idle: until no call is open or waiting and no webhook is pending')
    .addHelpText('after', '  carillon sandbox advance --until idle      (exit code 1 if it does not become idle)')
    .action(async (text: string | undefined, { until }: { until?: string }, self: Command) => {
      const flags = flagsOf(self);
      const to = text ?? until;
      if (to === undefined || (text !== undefined && until !== undefined))
        throw new UsageError('Say how far: a span such as 2h, or --until idle; one of the two.');
      const ms = until === undefined ? parseDuration(to) : null;
      const answer = await ask(io, flags, 'POST', 'clock/advance', ms === null ? { until: to } : { ms });
      if (answer['idle'] === false) {
        io.exitCode = 1;
        return told(io, flags, answer, stillUnderWay(answer));
      }
      return told(
        io,
        flags,
        answer,
        `${span(Number(answer['advanced_ms']))} on: it is ${String(answer['now'])} there.`,
      );
    });
}

/** Names what is not over, and whether time alone would help. */
function stillUnderWay(answer: Record<string, unknown>): string {
  const counts = Object.entries(answer['under_way'] as Record<string, number>).filter(([, number]) => number > 0);
  const what = counts.map(([name, number]) => `${name.replaceAll('_', ' ')}: ${number}`).join(', ');
  const why =
    answer['bound_reached'] === true
      ? `the next thing is due ${String(answer['next_due_at'])}, after ${String(answer['bound'])}`
      : 'this waits for somebody else, not for time';
  return `It is ${String(answer['now'])} there, and not idle (${what}): ${why}.`;
}

function faultsCommand(io: ControlIo): Command {
  return controlCommand(
    'faults',
    'Show, add or remove fault rules of a running sandbox',
    'carillon sandbox faults faults.json',
  )
    .argument('[file]', 'JSON file with one rule or a list of rules to add')
    .option('--clear', 'remove all rules first', false)
    .action(async (file: string | undefined, _own: ControlFlags, self: Command) => {
      const flags = flagsOf(self);
      const rules = file === undefined ? null : await readJson(file);
      if (flags.clear) await ask(io, flags, 'DELETE', 'faults');
      const added = rules === null ? null : await ask(io, flags, 'POST', 'faults', rules);
      const answer = await ask(io, flags, 'GET', 'faults');
      const held = Array.isArray(answer['faults']) ? answer['faults'] : [];
      if (flags.json) writeJson(io, added ?? answer);
      else
        io.stdout.write(
          [`${count(held.length)} fault rules`, ...held.map((rule) => `  ${jsonText(rule)}`), ''].join('\n'),
        );
    });
}

function fixtureCommand(io: ControlIo): Command {
  const what = 'Add agents, numbers, webhooks, callees and faults to a running sandbox, all or none';
  return controlCommand('fixture', what, 'carillon sandbox fixture fixture.yaml')
    .argument('<file>', 'YAML or JSON file, as for --fixture')
    .action(async (file: string, _own: ControlFlags, self: Command) => {
      const flags = flagsOf(self);
      const answer = await ask(io, flags, 'POST', 'fixture', await readFixtureText(file));
      told(io, flags, answer, `Loaded ${file}.`);
    });
}

function resetCommand(io: ControlIo): Command {
  return controlCommand('reset', 'Reset a running sandbox to its initial state', 'carillon sandbox reset').action(
    async (_own: ControlFlags, self: Command) => {
      const flags = flagsOf(self);
      told(io, flags, await ask(io, flags, 'POST', 'reset'), 'It is as at its start.');
    },
  );
}

function snapshotCommand(io: ControlIo): Command {
  return controlCommand(
    'snapshot',
    'Save the state of a running sandbox, or restore a saved one',
    'carillon sandbox snapshot before-the-storm',
  )
    .argument('[name]', 'name of the snapshot')
    .option('--restore <id>', 'restore this snapshot')
    .action(async (name: string | undefined, _own: ControlFlags, self: Command) => {
      const flags = flagsOf(self);
      const { restore } = flags;
      if (restore !== undefined) {
        if (name !== undefined) throw new UsageError('A name is for a new snapshot; --restore takes the id of one.');
        const answer = await ask(io, flags, 'POST', `snapshots/${encodeURIComponent(restore)}/restore`);
        return told(io, flags, answer, `Back at ${restore}: it is ${String(answer['now'])} there.`);
      }
      const answer = await ask(io, flags, 'POST', 'snapshots', name === undefined ? {} : { name });
      const id = String(answer['snapshot_id']);
      return told(io, flags, answer, `Kept. Go back to it: carillon sandbox snapshot --restore ${id}`);
    });
}

/** `sandbox` has flags of the same names, which take what was meant for the command behind it. */
function flagsOf(self: Command): ControlFlags & { clear: boolean; restore?: string } {
  return self.optsWithGlobals();
}

function told(io: ControlIo, { json }: ControlFlags, answer: Record<string, unknown>, words: string): void {
  if (json) writeJson(io, answer);
  else io.stdout.write(`${words}\n`);
}

/** Throws SandboxControlError and UsageError. */
async function ask(
  io: ControlIo,
  { url, controlTokenFile }: ControlFlags,
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const base = (url ?? readConfig(io.env).SVC_BASE_URL).replace(/\/+$/, '');
  if (!URL.canParse(base)) throw new UsageError(`--url ${base}: write an address such as http://127.0.0.1:4010.`);
  const token = await readControlToken(controlTokenFile, readConfig(io.env));
  let response: Response;
  try {
    response = await fetch(`${base}/_sandbox/${path}`, {
      method,
      redirect: 'error',
      signal: AbortSignal.timeout(limitMs),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    throw new SandboxControlError(
      `No sandbox answers at ${base}. Start one with carillon sandbox, or name its address with --url.`,
      { cause: error },
    );
  }
  const answer = (await response.json().catch(() => null)) as Record<string, unknown> | null;
  if (response.ok && response.headers.get('x-sandbox') === '1' && answer !== null) return answer;
  if (response.headers.get('x-sandbox') !== '1')
    throw new SandboxControlError(`What answers at ${base} is no sandbox (status ${response.status}).`);
  throw new SandboxControlError(`The sandbox refuses it (${response.status}): ${reasonIn(answer)}`);
}

function reasonIn(answer: Record<string, unknown> | null): string {
  return jsonText(answer?.['detail'] ?? answer?.['error'] ?? answer);
}

async function readFixtureText(path: string): Promise<unknown> {
  try {
    return readFixture(await readText(path), path);
  } catch (error) {
    if (error instanceof FixtureError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readText(path)) as unknown;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path}: this is no JSON.`, { cause: error });
  }
}

async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw new UsageError(`${path}: ${describeFileError(error)}.`, { cause: error });
  });
}
