import type { z } from 'zod';
import { type Outbound, isLoopbackAddress } from '../allowed-host.ts';
import { atLeastOne, batchSettings, campaignSettings } from '../open-settings.ts';
import type { Clock } from '../clock/clock.ts';
import type { FaultRuleInput } from '../../faults/rule.ts';
import { checkFixture, type FixtureRules, type Fixture, type FixtureInput } from '../../fixture/check-fixture.ts';
import type { BatchHooks } from '../gates.ts';
import { type RetryAfterStyle, defaultPlan, isPlanName, planNames, plans, type PlanName, retryAfterStyles } from '../plans.ts';
import { defaultSocketSettings, type LiveKitSettings, type SocketSettings } from './connection-settings.ts';
import { type Dialect, dialectFacts } from '../dialects.ts';
import { checkWorld } from '../world/read-world.ts';
import { type WorldInput, isTimeOfDay } from '../world/schema.ts';
import { refuseAddress, webhookInput, type WebhookFacts, type WebhookInput } from '../../schemas/webhook.ts';
import type { OutcomeMix } from '../telephony/callee.ts';
import type { ConductLimits } from '../../judge/conduct.ts';

export interface SandboxOptions {
  /** Listening host. Default 127.0.0.1; an address that others reach needs a `controlToken`. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
  /** Default extended. */
  dialect?: Dialect;
  /** Service ms per real ms. Default 1. */
  speed?: number;
  /** Service time at start, epoch ms. Default: the machine's time. */
  epochMs?: number;
  /** `manual`: stands until moved; or a custom clock, instead of `speed` and `epochMs`. */
  clock?: 'manual' | Clock;
  /** Required as `authorization: Bearer …` by all of /_sandbox except health. Default none. */
  controlToken?: string;
  /** Path of the state file. Default: in memory only. */
  data?: string;
  /** Same seed, same ids, outcomes, transcripts and faults. Default `carillon`. */
  seed?: number | string;
  /** Accepted besides the documented `sk_sandbox_*` keys. */
  apiKeys?: string[];
  /** Provides limits that are not set here. Default rehearsal. */
  plan?: PlanName;
  /** Simultaneous calls; more are queued. Default: from the plan. */
  concurrency?: number;
  /** Requests per service second and key; null: no limit. Default: from the plan. */
  rateLimit?: { requestsPerSecond: number | null };
  /** Format of the wait in rate-limit answers. Default seconds. */
  retryAfter?: RetryAfterStyle;
  maxCallsPerBatch?: number;
  /** An unanswered call leaves a conversation record. Default true. */
  unansweredCreateRecord?: boolean;
  /** Default 60, log-normal. */
  meanTalkSeconds?: number;
  outcomeMix?: OutcomeMix;
  /** People behind the numbers. Default: no particular ones. */
  world?: WorldInput;
  /** A forbidden override or missing variable fails a conversation. Default: in the published dialect only. */
  strictStart?: boolean;
  /** Batch calling in the published form. */
  batchCalling?: z.input<typeof batchSettings> | undefined;
  /** Order of the conversation list. Default newest_first. */
  listOrder?: 'newest_first' | 'oldest_first';
  faults?: FaultRuleInput[];
  /** Loaded at start; its agents and numbers replace the default ones. */
  fixture?: FixtureInput;
  /** Start with two agents and three numbers. Default true, unless a fixture has agents or numbers. */
  seedData?: boolean;
  /** Accept unknown request fields. Default false. */
  loose?: boolean;
  hooks?: BatchHooks;
  /** Notified of finished calls; extended dialect only. Default none. */
  webhooks?: WebhookInput[];
  /** Extra hosts the sandbox may connect to: `name` or `name:port`. Default none. */
  allowOutbound?: string[];
  sockets?: Partial<SocketSettings>;
  /** Conversation tokens are signed for it. Default: keys of the sandbox's own. */
  livekit?: LiveKitSettings;
  /** Outbound campaigns; extended dialect only. */
  campaigns?: z.input<typeof campaignSettings> | undefined;
  conduct?: Partial<ConductLimits>;
}

export type SandboxSettings = ReturnType<typeof resolveSettings>;

/** Applies defaults and validates. Throws `SandboxStartError`. */
export function resolveSettings(options: SandboxOptions) {
  const plan = plans[readPlan(options.plan)];
  const port = options.port ?? 0;
  const hosts = (options.allowOutbound ?? []).map((host) => host.toLowerCase());
  const outbound: Outbound = { hosts, ownPort: port === 0 ? null : port };
  const { dialect = 'extended', loose = false } = options;
  const fixture = readSettingFixture(options, { dialect, loose, outbound });
  const conduct: ConductLimits = {
    redialWithinSeconds: 60,
    minReadIntervalSeconds: 1,
    maxParallelRequests: plan.maxParallelRequests,
    maxDialsPerDay: 10,
    callingHours: null,
    ...options.conduct,
  };
  const settings = {
    host: options.host ?? '127.0.0.1',
    port,
    dialect,
    speed: options.speed ?? 1,
    seed: String(options.seed ?? 'carillon'),
    controlToken: options.controlToken ?? null,
    data: options.data ?? null,
    apiKeys: options.apiKeys ?? [],
    plan: readPlan(options.plan),
    concurrency: options.concurrency ?? plan.concurrency,
    requestsPerSecond: options.rateLimit === undefined ? plan.requestsPerSecond : options.rateLimit.requestsPerSecond,
    retryAfter: options.retryAfter ?? 'seconds',
    maxCallsPerBatch: options.maxCallsPerBatch ?? 1000,
    unansweredCreateRecord: options.unansweredCreateRecord ?? true,
    meanTalkSeconds: options.meanTalkSeconds ?? 60,
    outcomeMix: options.outcomeMix ?? { answered: 62, no_answer: 18, voicemail: 10, busy: 8, failed: 2 },
    strictStart: options.strictStart ?? dialectFacts[dialect].strictStart,
    batchCalling: readOpen('batchCalling', batchSettings, options.batchCalling),
    listOrder: options.listOrder ?? 'newest_first',
    faults: [...(options.faults ?? []), ...fixture.faults],
    fixture: { agents: fixture.agents, numbers: fixture.numbers },
    seedData: options.seedData ?? fixture.agents.length + fixture.numbers.length === 0,
    loose,
    hooks: options.hooks ?? {},
    webhooks: [...readWebhooks(options, outbound), ...fixture.webhooks],
    world: fixture.world ?? checkWorld(options.world ?? {}, 'the setting world'),
    outbound,
    sockets: { ...defaultSocketSettings, ...options.sockets },
    livekit: options.livekit ?? null,
    campaigns: readOpen('campaigns', campaignSettings, options.campaigns),
    conduct,
  };
  checkSettings(settings);
  return settings;
}

function readSettingFixture({ fixture: input, world }: SandboxOptions, rules: FixtureRules): Fixture {
  if (input === undefined) return { agents: [], numbers: [], webhooks: [], faults: [], world: null };
  const fixture = checkFixture(input, 'the setting fixture', rules);
  // Of two world descriptions, one would be ignored.
  if (world !== undefined && fixture.world !== null)
    throw new SandboxStartError('The fixture and the world both say who is behind the numbers; leave one of them out.');
  return fixture;
}

function readPlan(name: string = defaultPlan): PlanName {
  if (isPlanName(name)) return name;
  throw new SandboxStartError(`The sandbox setting plan is "${name}"; it must be one of ${planNames.join(', ')}.`);
}

/** Errors omit values: one is a secret. */
function readWebhooks({ webhooks = [], dialect = 'extended' }: SandboxOptions, outbound: Outbound): WebhookFacts[] {
  if (webhooks.length > 0 && !dialectFacts[dialect].further)
    throw new SandboxStartError('The sandbox setting webhooks needs the extended dialect; the contract has no webhooks.');
  return webhooks.map((webhook, index) => {
    const parsed = webhookInput.safeParse(webhook);
    const [issue] = parsed.error?.issues ?? [];
    if (issue !== undefined || parsed.data === undefined)
      throw new SandboxStartError(`The sandbox setting webhooks[${index}] is not usable: ${issue?.path.join('.')}: ${issue?.message}`);
    const refusal = refuseAddress(parsed.data.url, outbound);
    if (refusal !== null) throw new SandboxStartError(`The sandbox setting webhooks[${index}].url: ${refusal}`);
    return parsed.data;
  });
}

/** The message names the setting and the fix. */
export class SandboxStartError extends Error {
  override readonly name = 'SandboxStartError' as const;
}

function checkSettings(settings: SandboxSettings): void {
  const { host, port, speed, concurrency, maxCallsPerBatch, meanTalkSeconds, outcomeMix } = settings;
  const { controlToken, requestsPerSecond, retryAfter, conduct } = settings;
  const { callingHours: hours } = conduct;
  if (!isLoopbackAddress(host) && controlToken === null) {
    throw new SandboxStartError(
      `The sandbox setting host is "${host}", which others can reach; that takes a control token. Give one in a file (--control-token-file) or in CARILLON_SANDBOX_TOKEN, or listen on 127.0.0.1.`,
    );
  }
  check('port', port, isWhole(port, 0, 65_535), 'a whole number from 0 (any free port) to 65535');
  check('speed', speed, speed > 0 && speed <= 100_000, 'a number above 0, at most 100000');
  check('concurrency', concurrency, isWhole(concurrency), atLeastOne);
  check('maxCallsPerBatch', maxCallsPerBatch, isWhole(maxCallsPerBatch), atLeastOne);
  check('meanTalkSeconds', meanTalkSeconds, meanTalkSeconds > 0, 'a number above 0');
  const isLimit = requestsPerSecond === null || requestsPerSecond > 0;
  check('rateLimit.requestsPerSecond', requestsPerSecond, isLimit, 'null or a number above 0');
  const isToken = controlToken === null || /^[\x21-\x7e]{16,}$/.test(controlToken);
  check('controlToken', '(not shown)', isToken, 'at least 16 printable characters without spaces');
  check('retryAfter', retryAfter, retryAfterStyles.includes(retryAfter), `one of ${retryAfterStyles.join(', ')}`);
  if (hours !== null) {
    const inOrder = isTimeOfDay.test(hours.start) && isTimeOfDay.test(hours.end) && hours.start < hours.end;
    const allowed = 'two times of day as HH:MM, the first before the second';
    check('conduct.callingHours', `${hours.start} to ${hours.end}`, inOrder, allowed);
  }
  for (const name of settings.outbound.hosts)
    check('allowOutbound', name, /^[^\s/@]+$/.test(name), 'a host as it stands in an address: name or name:port');
  const { pacing, ...amounts } = settings.sockets;
  check('sockets.pacing', pacing, pacing === 'realtime' || pacing === 'fast', 'realtime or fast');
  for (const [name, value] of Object.entries(amounts)) check(`sockets.${name}`, value, isWhole(value), atLeastOne);
  const weights = Object.values(outcomeMix);
  const usable = weights.every((weight) => weight >= 0) && weights.some((weight) => weight > 0);
  check('outcomeMix', JSON.stringify(outcomeMix), usable, 'weights of 0 or more, not all 0');
}

function readOpen<Schema extends z.ZodObject>(group: string, schema: Schema, given: z.input<Schema> | undefined): z.output<Schema> {
  const parsed = schema.safeParse(given ?? {}, { reportInput: true });
  const [issue] = parsed.error?.issues ?? [];
  if (issue?.code === 'unrecognized_keys')
    check(`${group}.${issue.keys[0]}`, 'not known', false, `one of ${Object.keys(schema.shape).join(', ')}`);
  if (issue !== undefined) check(`${group}.${issue.path.join('.')}`, issue.input, false, issue.message);
  return parsed.data as z.output<Schema>;
}

function isWhole(value: unknown, least = 1, most = Infinity): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

function check(setting: string, value: unknown, holds: boolean, allowed: string): void {
  if (!holds) throw new SandboxStartError(`The sandbox setting ${setting} is ${String(value)}; it must be ${allowed}.`);
}
