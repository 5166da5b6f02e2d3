import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { readConfig, type Config } from '../../config.ts';
import { FaultRuleError, readFaultRules, type FaultRuleInput } from '../../sandbox/faults/fault-rule.ts';
import { checkFixture, FixtureError, readFixture } from '../../sandbox/fixture/check-fixture.ts';
import type { FixtureInput } from '../../sandbox/fixture/fixture.ts';
import { retryAfterStyles, type RetryAfterStyle } from '../../sandbox/core/settings/retry-after.ts';
import type { LiveKitSettings } from '../../sandbox/core/settings/connection-settings.ts';
import { defaultPlan, isPlanName, planNames, type PlanName } from '../../sandbox/core/plans.ts';
import { readWorld, WorldError } from '../../sandbox/core/world/read-world.ts';
import type { World } from '../../sandbox/core/world/world-schema.ts';
import type { SandboxOptions } from '../../sandbox/core/settings/settings.ts';
import { SandboxStartError } from '../../sandbox/core/start-error.ts';
import { readControlToken } from './control-token.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { codeOf } from '../../input/error-code.ts';
import type { CallingHours } from '../../sandbox/judge/conduct-limits.ts';

/** Flags as typed. */
export interface SandboxFlags {
  host?: string;
  port?: string;
  dialect?: string;
  speed?: string;
  clock?: string;
  controlTokenFile?: string;
  data?: string;
  seed?: string;
  plan?: string;
  concurrency?: string;
  retryAfter?: string;
  fixture?: string;
  faults?: string;
  world?: string;
  callingHours?: string;
  loose?: boolean;
  /** False for `--no-unanswered-records`. */
  unansweredRecords?: boolean;
  allowOutbound?: string[];
  /** False for `--no-model-stream`. */
  modelStream?: boolean;
  modelLatency?: string;
  socketPacing?: string;
  /** False for `--no-speech`. */
  speech?: boolean;
  json?: boolean;
}

/** Thrown when a flag cannot be used; the message says which and what is allowed. */
class FlagError extends Error {
  override readonly name = 'FlagError' as const;
}

export const defaultPort = 4010;

/** The flags that say how a sandbox behaves. `usualPort` is what the help says of the port when none is given. */
export function addSandboxFlags(command: Command, usualPort: string): Command {
  return command
    .option(
      '--host <address>',
      'address to listen on, such as 0.0.0.0 for containers and other machines; requires a control token (default: 127.0.0.1)',
    )
    .option('--port <number>', `0 for any free port (default: ${usualPort})`)
    .option(
      '--dialect <name>',
      'spec: only what the contract promises; extended: also likely inner fields (default: extended)',
    )
    .option('--speed <factor>', 'service seconds per real second (default: 1)')
    .option(
      '--clock <mode>',
      'realtime, manual (stands still until advanced), or a factor such as 60x; replaces --speed',
    )
    .option('--data <file>', 'keep the state in this file, and its key in a file next to it (default: in memory)')
    .option(
      '--control-token-file <file>',
      'token required for the page and everything under /_sandbox except health (default: CARILLON_SANDBOX_TOKEN)',
    )
    .option('--seed <text>', 'the same seed gives the same calls (default: carillon)')
    .option('--plan <name>', `account limits: ${planNames.join(', ')} (default: ${defaultPlan})`)
    .option('--concurrency <calls>', 'concurrent calls (default: by plan)')
    .option(
      '--retry-after <style>',
      'form of Retry-After for requests over the limit: seconds, date or none (default: seconds)',
    )
    .option('--fixture <file>', 'YAML or JSON file with initial agents, numbers, webhooks, callees and fault rules')
    .option('--faults <file>', 'JSON file with fault rules')
    .option('--world <file>', 'YAML file with the callees behind the numbers')
    .option(
      '--calling-hours <from-to>',
      'permitted calling hours in local time, such as 08:00-21:00; checked by the conduct report',
    )
    .option('--loose', 'accept unknown request fields, and responses requested with the header x-sandbox-prefer')
    .option('--no-unanswered-records', 'create no conversation record for unanswered calls')
    .option(
      '--allow-outbound <host>',
      'host or host:port outside this machine that may be contacted; repeat for more (default: none)',
      (host: string, hosts: string[] | undefined) => [...(hosts ?? []), host],
    )
    .option('--no-model-stream', "request unstreamed responses from agents' custom models")
    .option(
      '--model-latency <kind>',
      "how long agents' own models are heard to think: measured, or drawn from the seed (default: measured)",
    )
    .option(
      '--socket-pacing <kind>',
      "how sockets send the agent's audio: realtime, or fast, as quickly as it is read (default: realtime)",
    )
    .option('--no-speech', 'use tones instead of voices in recordings');
}

/** Whether an error says that the sandbox cannot start as asked; its message is for people. */
export function isStartRefusal(error: unknown): error is Error {
  return [FlagError, UsageError, SandboxStartError, FaultRuleError, FixtureError, WorldError].some(
    (kind) => error instanceof kind,
  );
}

/** Turns flags into options. Throws `FlagError`, `UsageError`, `FaultRuleError`, `FixtureError` or `WorldError`. */
export async function readSandboxFlags(flags: SandboxFlags): Promise<SandboxOptions> {
  const { dialect = 'extended' } = flags;
  if (dialect !== 'spec' && dialect !== 'extended')
    throw new FlagError(`--dialect is "${dialect}"; it must be spec or extended.`);
  return {
    port: readNumber('--port', flags.port) ?? defaultPort,
    dialect,
    unansweredCreateRecord: flags.unansweredRecords ?? true,
    speech: flags.speech ?? true,
    ...given('speed', readNumber('--speed', flags.speed)),
    ...readClock(flags),
    ...given('data', flags.data),
    ...given('host', flags.host),
    ...given('controlToken', await readControlToken(flags.controlTokenFile, readConfig())),
    ...given('seed', flags.seed),
    ...given('allowOutbound', flags.allowOutbound),
    ...given('modelStream', flags.modelStream),
    ...given('modelLatency', readLatency(flags.modelLatency)),
    ...given('sockets', readPacing(flags.socketPacing)),
    ...given('livekit', readLiveKit(readConfig())),
    ...given('plan', readPlan(flags.plan)),
    ...given('concurrency', readNumber('--concurrency', flags.concurrency)),
    ...given('retryAfter', readRetryAfter(flags.retryAfter)),
    ...given('loose', flags.loose),
    ...given('conduct', flags.callingHours === undefined ? undefined : { callingHours: readHours(flags.callingHours) }),
    ...given('fixture', flags.fixture === undefined ? undefined : await readFixtureFile(flags.fixture, flags)),
    ...given('faults', flags.faults === undefined ? undefined : await readFaultFile(flags.faults)),
    ...given('world', flags.world === undefined ? undefined : await readWorldFile(flags.world)),
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

function readClock({ clock, speed }: SandboxFlags): Pick<SandboxOptions, 'clock' | 'speed'> {
  if (clock === undefined) return {};
  if (speed !== undefined) throw new FlagError('--clock and --speed say the same thing; give only one of them.');
  if (clock === 'manual') return { clock };
  if (clock === 'realtime') return { speed: 1 };
  const factor = /^(\d+(?:\.\d+)?)x$/.exec(clock)?.[1];
  if (factor === undefined)
    throw new FlagError(`--clock is "${clock}"; it must be realtime, manual, or a factor such as 60x.`);
  return { speed: Number(factor) };
}

function readPlan(name: string | undefined): PlanName | undefined {
  if (name === undefined || isPlanName(name)) return name;
  throw new FlagError(`--plan is "${name}"; it must be one of ${planNames.join(', ')}.`);
}

function readRetryAfter(style: string | undefined): RetryAfterStyle | undefined {
  const known = retryAfterStyles.find((each) => each === style);
  if (style === undefined || known !== undefined) return known;
  throw new FlagError(`--retry-after is "${style}"; it must be ${retryAfterStyles.join(', ')}.`);
}

function readLatency(kind: string | undefined): 'measured' | 'drawn' | undefined {
  if (kind === undefined || kind === 'measured' || kind === 'drawn') return kind;
  throw new FlagError(`--model-latency is "${kind}"; it must be measured or drawn.`);
}

function readPacing(kind: string | undefined): { pacing: 'realtime' | 'fast' } | undefined {
  if (kind === undefined) return undefined;
  if (kind === 'realtime' || kind === 'fast') return { pacing: kind };
  throw new FlagError(`--socket-pacing is "${kind}"; it must be realtime or fast.`);
}

/** Undefined where no LiveKit server is configured. */
function readLiveKit(config: Config): LiveKitSettings | undefined {
  const { LIVEKIT_API_KEY: apiKey, LIVEKIT_API_SECRET: apiSecret, LIVEKIT_URL: url } = config;
  if (apiKey !== undefined && apiSecret !== undefined) return { apiKey, apiSecret, url };
  if (apiKey === undefined && apiSecret === undefined && url === undefined) return undefined;
  throw new FlagError(
    'LIVEKIT_API_KEY and LIVEKIT_API_SECRET belong together, and LIVEKIT_URL needs both. Set them, or none of the three.',
  );
}

/** `08:00-21:00`; the sandbox itself checks the times. */
function readHours(text: string): CallingHours {
  const [start, end, ...more] = text.split('-').map((part) => part.trim());
  if (start === undefined || end === undefined || more.length > 0)
    throw new FlagError(`--calling-hours is "${text}"; it must be two times of day, like 08:00-21:00.`);
  return { start, end };
}

async function readFaultFile(path: string): Promise<FaultRuleInput[]> {
  const text = await readText('--faults', path, 'JSON file of fault rules');
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

/** Checked here so that what is wrong names the file; the sandbox checks it again as a setting. */
async function readFixtureFile(path: string, flags: SandboxFlags): Promise<FixtureInput> {
  const value = readFixture(await readText('--fixture', path, 'YAML or JSON file of a fixture'), path);
  const { dialect, loose = false, allowOutbound = [] } = flags;
  const hosts = allowOutbound.map((host) => host.toLowerCase());
  const outbound = { hosts, ownPort: readNumber('--port', flags.port) ?? defaultPort };
  checkFixture(value, path, { dialect: dialect === 'spec' ? 'spec' : 'extended', loose, outbound });
  return value as FixtureInput;
}

async function readWorldFile(path: string): Promise<World> {
  return readWorld(await readText('--world', path, 'YAML file of people'), path);
}

async function readText(flag: string, path: string, kind: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = codeOf(error) ?? 'unreadable';
    throw new FlagError(`${flag} ${path}: the file cannot be read (${code}). Give the path of a ${kind}.`, {
      cause: error,
    });
  }
}
