import type { Command } from 'commander';
import { readConfig, type Config } from '../../../shared/config.ts';
import { FaultRuleError, readFaultRules, type FaultRuleInput } from '../../../sandbox/faults/rule.ts';
import { checkFixture, FixtureError, readFixture, type FixtureInput } from '../../../sandbox/fixture/check-fixture.ts';
import { didYouMean } from '../../../rules/nearest-name.ts';
import { defaultBatchSettings, defaultCampaignSettings } from '../../../sandbox/core/open-settings.ts';
import { dialects } from '../../../sandbox/core/dialects.ts';
import { retryAfterStyles, defaultPlan, planNames } from '../../../sandbox/core/plans.ts';
import type { LiveKitSettings } from '../../../sandbox/core/settings/connection-settings.ts';
import { readWorld, WorldError } from '../../../sandbox/core/world/read-world.ts';
import { type SandboxOptions, SandboxStartError } from '../../../sandbox/core/settings/settings.ts';
import { startSandbox, type RunningSandbox } from '../../../sandbox/start.ts';
import { readTextFile } from '../terminal/person-input.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import type { CallingHours } from '../../../sandbox/judge/conduct.ts';

export const defaultPort = 4010;

const flagTexts = (usualPort: string) =>
  ({
    host: [
      '--host <address>',
      'address to listen on, such as 0.0.0.0 for containers and other machines; requires a control token (default: 127.0.0.1)',
    ],
    port: ['--port <number>', `0 for any free port (default: ${usualPort})`],
    dialect: [
      '--dialect <name>',
      'spec: the contract alone; extended: the published API too; published: without the contract (default: extended)',
    ],
    speed: ['--speed <factor>', 'service seconds per real second (default: 1)'],
    clock: ['--clock <mode>', 'realtime, manual (stands still until advanced), or a factor such as 60x; replaces --speed'],
    data: ['--data <file>', 'keep the state in this file, which only you may read (default: in memory)'],
    controlTokenFile: [
      '--control-token-file <file>',
      'token required for the page and everything under /_sandbox except health (default: CARILLON_SANDBOX_TOKEN)',
    ],
    seed: ['--seed <text>', 'the same seed gives the same calls (default: carillon)'],
    plan: ['--plan <name>', `account limits: ${planNames.join(', ')} (default: ${defaultPlan})`],
    concurrency: ['--concurrency <calls>', 'concurrent calls (default: by plan)'],
    retryAfter: ['--retry-after <style>', 'form of Retry-After for requests over the limit: seconds, date or none (default: seconds)'],
    fixture: ['--fixture <file>', 'YAML or JSON file with initial agents, numbers, webhooks, callees and fault rules'],
    faults: ['--faults <file>', 'JSON file with fault rules'],
    world: ['--world <file>', 'YAML file with the callees behind the numbers'],
    callingHours: [
      '--calling-hours <from-to>',
      'permitted calling hours in local time, such as 08:00-21:00; checked by the conduct report',
    ],
    loose: ['--loose', 'accept unknown request fields, and responses requested with the header x-sandbox-prefer'],
    unansweredRecords: ['--no-unanswered-records', 'create no conversation record for unanswered calls'],
    setting: [
      '--setting <name=value>',
      'what the published API leaves open, such as batchCalling.listLagMs=5000 or maxCallsPerBatch=50; repeat for more',
    ],
    allowOutbound: [
      '--allow-outbound <host>',
      'host or host:port outside this machine that may be contacted; repeat for more (default: none)',
    ],
    strictStart: [
      '--strict-start',
      'a conversation fails if an override is not permitted or a variable is missing (default: with --dialect published)',
    ],
    notStrictStart: ['--no-strict-start', 'it does not, with --dialect published either'],
    socketPacing: [
      '--socket-pacing <kind>',
      "how sockets send the agent's audio: realtime, or fast, as quickly as it is read (default: realtime)",
    ],
  }) as const;

/** False for a `--no-…` flag. */
type Switch = 'loose' | 'unansweredRecords' | 'strictStart';
type ValueFlag = Exclude<keyof ReturnType<typeof flagTexts>, Switch | 'notStrictStart' | 'allowOutbound' | 'setting'>;

export type SandboxFlags = { [Flag in ValueFlag]?: string } & { [Flag in Switch]?: boolean } & {
  allowOutbound?: string[];
  setting?: string[];
  json?: boolean;
};

/** Flags that configure a sandbox. `usualPort`: default port as shown in the help. */
export function addSandboxFlags(command: Command, usualPort: string): Command {
  const { allowOutbound, setting, ...others } = flagTexts(usualPort);
  for (const [flags, description] of Object.values(others)) command.option(flags, description);
  const gather = (value: string, values?: string[]) => [...(values ?? []), value];
  return command.option(...setting, gather).option(...allowOutbound, gather);
}

/** Null, with the reason on standard error, if the flags do not allow a start. */
export async function startFromFlags(flags: SandboxFlags, stderr: { write(text: string): unknown }): Promise<RunningSandbox | null> {
  try {
    return await startSandbox(await readSandboxFlags(flags));
  } catch (error) {
    const refusals = [UsageError, SandboxStartError, FaultRuleError, FixtureError, WorldError];
    if (!refusals.some((kind) => error instanceof kind)) throw error;
    stderr.write(`error: ${(error as Error).message}\n`);
    return null;
  }
}

/** Throws `UsageError`, `FaultRuleError`, `FixtureError` or `WorldError`. */
export async function readSandboxFlags(flags: SandboxFlags): Promise<SandboxOptions> {
  const { host, data, seed, allowOutbound, loose, strictStart, callingHours, fixture, faults, world } = flags;
  const config = readConfig();
  const pacing = readOneOf('--socket-pacing', flags.socketPacing, ['realtime', 'fast']);
  return given({
    host,
    data,
    seed,
    allowOutbound,
    loose,
    strictStart,
    ...readSettings(flags.setting),
    port: readNumber('--port', flags.port) ?? defaultPort,
    dialect: readOneOf('--dialect', flags.dialect, dialects) ?? 'extended',
    unansweredCreateRecord: flags.unansweredRecords ?? true,
    speed: readNumber('--speed', flags.speed),
    ...readClock(flags),
    controlToken: await readControlToken(flags.controlTokenFile, config),
    sockets: pacing && { pacing },
    livekit: readLiveKit(config),
    plan: readOneOf('--plan', flags.plan, planNames),
    concurrency: readNumber('--concurrency', flags.concurrency),
    retryAfter: readOneOf('--retry-after', flags.retryAfter, retryAfterStyles),
    conduct: callingHours === undefined ? undefined : { callingHours: readHours(callingHours) },
    fixture: fixture === undefined ? undefined : await readFixtureFile(fixture, flags),
    faults: faults === undefined ? undefined : await readFaultFile(faults),
    world: world === undefined ? undefined : readWorld(await readTextFile(`--world ${world}`, world), world),
  });
}

function given<Values extends object>(values: Values): { [Name in keyof Values]?: Exclude<Values[Name], undefined> } {
  const all = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(all) as { [Name in keyof Values]?: Exclude<Values[Name], undefined> };
}

function readNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === '' || Number.isNaN(value)) throw new UsageError(`${flag} is "${text}"; it must be a number.`);
  return value;
}

/** Throws UsageError with the valid names. */
function readOneOf<Name extends string>(flag: string, text: string | undefined, names: readonly Name[]): Name | undefined {
  const name = names.find((each) => each === text);
  if (text === undefined || name !== undefined) return name;
  throw new UsageError(`${flag} is "${text}"; it must be ${names.slice(0, -1).join(', ')} or ${names.at(-1) ?? ''}.`);
}

function readClock({ clock, speed }: SandboxFlags): Pick<SandboxOptions, 'clock' | 'speed'> {
  if (clock === undefined) return {};
  if (speed !== undefined) throw new UsageError('--clock and --speed say the same thing; give only one of them.');
  if (clock === 'manual') return { clock };
  if (clock === 'realtime') return { speed: 1 };
  const factor = /^(\d+(?:\.\d+)?)x$/.exec(clock)?.[1];
  if (factor === undefined) throw new UsageError(`--clock is "${clock}"; it must be realtime, manual, or a factor such as 60x.`);
  return { speed: Number(factor) };
}

const settable: Readonly<Record<string, string | number | boolean | null>> = {
  maxCallsPerBatch: 1000,
  ...Object.fromEntries(Object.entries(defaultBatchSettings).map(([name, value]) => [`batchCalling.${name}`, value])),
  ...Object.fromEntries(Object.entries(defaultCampaignSettings).map(([name, value]) => [`campaigns.${name}`, value])),
};

/** Throws UsageError for an unknown name; the sandbox validates the values. */
function readSettings(pairs: readonly string[] = []): Pick<SandboxOptions, 'maxCallsPerBatch' | 'batchCalling' | 'campaigns'> {
  const groups: Record<string, Record<string, unknown>> = {};
  const alone: Record<string, unknown> = {};
  for (const pair of pairs) {
    const [, name = pair, text] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
    const names = Object.keys(settable);
    if (!names.includes(name))
      throw new UsageError(`--setting has no "${name}".${didYouMean(name, names)} There are: ${names.join(', ')}.`);
    if (text === undefined) throw new UsageError(`--setting ${name} has no value; write ${name}=${settable[name]}, for example.`);
    const [group = '', inner] = name.split('.');
    const value = readValue(text, settable[name] ?? null);
    if (inner === undefined) alone[group] = value;
    else groups[group] = { ...groups[group], [inner]: value };
  }
  return { ...alone, ...groups };
}

/** Parses a value of the given kind; null allows a number or null. Any other text stays text. */
function readValue(text: string, kind: string | number | boolean | null): unknown {
  if (typeof kind === 'string') return text;
  if (typeof kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return kind === null && text === 'null' ? null : /^\d+$/.test(text) ? Number(text) : text;
}

/** Undefined without a LiveKit server. */
function readLiveKit(config: Config): LiveKitSettings | undefined {
  const { LIVEKIT_API_KEY: apiKey, LIVEKIT_API_SECRET: apiSecret } = config;
  if (apiKey !== undefined && apiSecret !== undefined) return { apiKey, apiSecret };
  if (apiKey === undefined && apiSecret === undefined) return undefined;
  throw new UsageError('LIVEKIT_API_KEY and LIVEKIT_API_SECRET belong together. Set both, or neither.');
}

/** `08:00-21:00`; the sandbox validates the times. */
function readHours(text: string): CallingHours {
  const [start, end, ...more] = text.split('-').map((part) => part.trim());
  if (start === undefined || end === undefined || more.length > 0)
    throw new UsageError(`--calling-hours is "${text}"; it must be two times of day, like 08:00-21:00.`);
  return { start, end };
}

/** Validated here so that errors name the file; the sandbox validates it again. */
async function readFaultFile(path: string): Promise<FaultRuleInput[]> {
  const input = await readJsonFile(`--faults ${path}`, path);
  readFaultRules(input, path);
  return (Array.isArray(input) ? input : [input]) as FaultRuleInput[];
}

/** Validated here for the same reason. */
async function readFixtureFile(path: string, flags: SandboxFlags): Promise<FixtureInput> {
  const value = readFixture(await readTextFile(`--fixture ${path}`, path), path);
  const { dialect, loose = false, allowOutbound = [] } = flags;
  const hosts = allowOutbound.map((host) => host.toLowerCase());
  const outbound = { hosts, ownPort: readNumber('--port', flags.port) ?? defaultPort };
  checkFixture(value, path, { dialect: readOneOf('--dialect', dialect, dialects) ?? 'extended', loose, outbound });
  return value as FixtureInput;
}

/** Throws UsageError. */
export async function readJsonFile(name: string, path: string): Promise<unknown> {
  const text = await readTextFile(name, path);
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new UsageError(`${name}: not JSON (${(cause as Error).message}).`, { cause });
  }
}

/** From a file, else from the environment; undefined without both. Throws UsageError. */
export async function readControlToken(
  file: string | undefined,
  { CARILLON_SANDBOX_TOKEN: token }: Pick<Config, 'CARILLON_SANDBOX_TOKEN'>,
): Promise<string | undefined> {
  return file === undefined ? token : (await readTextFile(`--control-token-file ${file}`, file)).trim();
}
