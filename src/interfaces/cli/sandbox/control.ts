import { Command } from 'commander';
import { parseDuration } from '../../../shared/input/times.ts';
import { jsonText } from '../../../shared/input/printable.ts';
import { readConfig } from '../../../shared/config.ts';
import { readControlToken, readJsonFile } from './flags.ts';
import { FixtureError, readFixture } from '../../../sandbox/fixture/check-fixture.ts';
import type { Io } from '../terminal/io.ts';
import { writeJson } from '../terminal/answer.ts';
import { count, span } from '../../../shared/input/figures.ts';
import { readTextFile } from '../terminal/person-input.ts';
import { foreseen, UsageError } from '../../../shared/input/errors.ts';

/** Thrown when a sandbox does not respond or refuses; has its answer. */
export class SandboxControlError extends foreseen('SandboxControlError', false) {}

type ControlIo = Pick<Io, 'stdout' | 'env' | 'exitCode'>;
type Answer = Record<string, unknown>;

interface ControlFlags {
  url?: string;
  controlTokenFile?: string;
  json: boolean;
  until?: string;
  clear?: boolean;
  restore?: string;
}

interface Control {
  name: string;
  what: string;
  argument?: [name: string, what: string];
  option?: [flags: string, what: string];
  examples: string[];
  /** Returns the sandbox's answer, and its meaning in words. */
  act: (ask: Ask, argument: string | undefined, flags: ControlFlags, io: ControlIo) => Promise<[Answer, string]>;
}

/** Sends a request below `/_sandbox/`. Throws SandboxControlError and UsageError. */
type Ask = (method: string, path: string, body?: unknown) => Promise<Answer>;

const advance: Control = {
  name: 'advance',
  what: 'Advance the clock of a running sandbox',
  argument: ['[span]', 'duration such as 90s, 5m or 2h, or a time such as 2030-01-15T12:00:00Z'],
  option: ['--until <end>', 'a time, or idle: until no call is open or waiting and no webhook is pending'],
  examples: ['carillon sandbox advance 2h', 'carillon sandbox advance --until idle      (exit code 1 if it does not become idle)'],
  act: async (ask, text, { until }, io) => {
    const to = text ?? until;
    if (to === undefined || (text !== undefined && until !== undefined))
      throw new UsageError('Say how far: a span such as 2h, or --until idle; one of the two.');
    const ms = until === undefined ? parseDuration(to) : null;
    const answer = await ask('POST', 'clock/advance', ms === null ? { until: to } : { ms });
    if (answer['idle'] !== false) return [answer, `${span(Number(answer['advanced_ms']))} on: it is ${String(answer['now'])} there.`];
    io.exitCode = 1;
    return [answer, stillUnderWay(answer)];
  },
};

/** Names what is pending, and whether waiting would help. */
function stillUnderWay(answer: Answer): string {
  const counts = Object.entries(answer['under_way'] as Record<string, number>).filter(([, number]) => number > 0);
  const what = counts.map(([name, number]) => `${name.replaceAll('_', ' ')}: ${number}`).join(', ');
  const why =
    answer['bound_reached'] === true
      ? `the next thing is due ${String(answer['next_due_at'])}, after ${String(answer['bound'])}`
      : 'this waits for another program, not for time';
  return `It is ${String(answer['now'])} there, and not idle (${what}): ${why}.`;
}

const faults: Control = {
  name: 'faults',
  what: 'Show, add or remove fault rules of a running sandbox',
  argument: ['[file]', 'JSON file with one rule or a list of rules to add'],
  option: ['--clear', 'remove all rules first'],
  examples: ['carillon sandbox faults faults.json'],
  act: async (ask, file, { clear = false }) => {
    const rules = file === undefined ? null : await readJsonFile(file, file);
    if (clear) await ask('DELETE', 'faults');
    const added = rules === null ? null : await ask('POST', 'faults', rules);
    const answer = await ask('GET', 'faults');
    const held = Array.isArray(answer['faults']) ? answer['faults'] : [];
    const lines = [`${count(held.length)} fault rules`, ...held.map((rule) => `  ${jsonText(rule)}`)];
    return [added ?? answer, lines.join('\n')];
  },
};

const fixture: Control = {
  name: 'fixture',
  what: 'Add agents, numbers, webhooks, callees and faults to a running sandbox, all or none',
  argument: ['<file>', 'YAML or JSON file, as for --fixture'],
  examples: ['carillon sandbox fixture fixture.yaml'],
  act: async (ask, file = '') => {
    const text = await readTextFile(file, file);
    try {
      return [await ask('POST', 'fixture', readFixture(text, file)), `Loaded ${file}.`];
    } catch (error) {
      throw error instanceof FixtureError ? new UsageError(error.message, { cause: error }) : error;
    }
  },
};

const reset: Control = {
  name: 'reset',
  what: 'Reset a running sandbox to its initial state',
  examples: ['carillon sandbox reset'],
  act: async (ask) => [await ask('POST', 'reset'), 'It is as at its start.'],
};

const snapshot: Control = {
  name: 'snapshot',
  what: 'Save the state of a running sandbox, or restore a saved one',
  argument: ['[name]', 'name of the snapshot'],
  option: ['--restore <id>', 'restore this snapshot'],
  examples: ['carillon sandbox snapshot before-the-storm'],
  act: async (ask, name, { restore }) => {
    if (restore === undefined) {
      const answer = await ask('POST', 'snapshots', name === undefined ? {} : { name });
      return [answer, `Kept. Go back to it: carillon sandbox snapshot --restore ${String(answer['snapshot_id'])}`];
    }
    if (name !== undefined) throw new UsageError('A name is for a new snapshot; --restore takes the id of one.');
    const answer = await ask('POST', `snapshots/${encodeURIComponent(restore)}/restore`);
    return [answer, `Back at ${restore}: it is ${String(answer['now'])} there.`];
  },
};

/** Commands for a running sandbox: at SVC_BASE_URL, or at `--url`. */
export function controlCommands(io: ControlIo): Command[] {
  return [advance, faults, fixture, reset, snapshot].map(({ name, what, argument, option, examples, act }) => {
    const command = new Command(name)
      .description(what)
      .option('--url <address>', 'address of the sandbox (default: SVC_BASE_URL)')
      .option('--control-token-file <file>', 'control token of the sandbox (default: CARILLON_SANDBOX_TOKEN)')
      .option('--json', 'print the response', false)
      .addHelpText('after', `\nExample:\n${examples.map((example) => `  ${example}`).join('\n')}`)
      .action(async () => {
        // `sandbox` has flags of the same names, which capture those of its subcommand.
        const flags: ControlFlags = command.optsWithGlobals();
        const [answer, words] = await act(asker(io, flags), command.args[0], flags, io);
        if (flags.json) writeJson(io, answer);
        else io.stdout.write(`${words}\n`);
      });
    if (argument !== undefined) command.argument(...argument);
    if (option !== undefined) command.option(...option);
    return command;
  });
}

const limitMs = 60_000;

function asker(io: ControlIo, { url, controlTokenFile }: ControlFlags): Ask {
  return async (method, path, body) => {
    const config = readConfig(io.env);
    const base = (url ?? config.SVC_BASE_URL).replace(/\/+$/, '');
    if (!URL.canParse(base)) throw new UsageError(`--url ${base}: write an address such as http://127.0.0.1:4010.`);
    const token = await readControlToken(controlTokenFile, config);
    const response = await fetch(`${base}/_sandbox/${path}`, {
      method,
      redirect: 'error',
      signal: AbortSignal.timeout(limitMs),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      throw new SandboxControlError(`No sandbox answers at ${base}. Start one with carillon sandbox, or name its address with --url.`, {
        cause,
      });
    });
    if (response.headers.get('x-sandbox') !== '1')
      throw new SandboxControlError(`What answers at ${base} is no sandbox (status ${response.status}).`);
    const answer = (await response.json().catch(() => null)) as Answer | null;
    if (response.ok && answer !== null) return answer;
    const reason = jsonText(answer?.['detail'] ?? answer?.['error'] ?? answer);
    throw new SandboxControlError(`The sandbox refuses it (${response.status}): ${reason}`);
  };
}
