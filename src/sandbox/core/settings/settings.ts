import type { Outbound } from '../allowed-host.ts';
import { type CampaignSettings, defaultCampaignSettings } from './campaign-settings.ts';
import { checkSettings, SandboxStartError } from './check-settings.ts';
import { type BatchSettings, defaultBatchSettings } from '../batch-settings.ts';
import type { Clock } from '../clock/clock.ts';
import type { FaultRuleInput } from '../../faults/rule.ts';
import { checkFixture, type FixtureRules, type Fixture, type FixtureInput } from '../../fixture/check-fixture.ts';
import type { BatchHooks } from '../gates.ts';
import { type RetryAfterStyle, defaultPlan, isPlanName, planNames, plans, type PlanName } from '../plans.ts';
import {
  defaultModelLimits,
  type ModelLimits,
  defaultSocketSettings,
  type LiveKitSettings,
  type SocketSettings,
} from './connection-settings.ts';
import type { Dialect } from '../../schemas/building-blocks.ts';
import { checkWorld } from '../world/read-world.ts';
import type { WorldInput } from '../world/schema.ts';
import { refuseAddress, webhookInput, type WebhookFacts, type WebhookInput } from '../../schemas/webhook.ts';
import type { OutcomeMix } from '../telephony/callee.ts';
import type { ConductLimits } from '../../judge/conduct.ts';

export interface SandboxOptions {
  /** What it listens on. Default 127.0.0.1; an address that others reach needs a `controlToken`. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
  /** Default extended. */
  dialect?: Dialect;
  /** Service milliseconds per real millisecond. Default 1. */
  speed?: number;
  /** Service time at start, epoch milliseconds. Default: the machine's time. */
  epochMs?: number;
  /** `manual` for a clock that stands until it is moved; or a clock of one's own, instead of one made from `speed` and `epochMs`. */
  clock?: 'manual' | Clock;
  /** Wanted as `authorization: Bearer …` by everything under /_sandbox but health. Default none. */
  controlToken?: string;
  /** Path of the one file in which the state is kept. Default: in memory only. */
  data?: string;
  /** Same seed, same ids, outcomes, transcripts and faults. Default `carillon`. */
  seed?: number | string;
  /** Accepted beside the documented `sk_sandbox_*` keys. */
  apiKeys?: string[];
  /** Limits that hold where nothing else is said. Default rehearsal. */
  plan?: PlanName;
  /** Calls on the line at once; more wait in a queue. Default: as the plan says. */
  concurrency?: number;
  /** Requests per service second and key; null for no limit. Default: as the plan says. */
  rateLimit?: { requestsPerSecond: number | null };
  /** How a request over the limit is told to wait. Default seconds. */
  retryAfter?: RetryAfterStyle;
  maxCallsPerBatch?: number;
  /** Whether a call that nobody answered leaves a conversation record. Default true. */
  unansweredCreateRecord?: boolean;
  /** Default 60, log-normal. */
  meanTalkSeconds?: number;
  outcomeMix?: OutcomeMix;
  /** Who is behind the numbers. Default: nobody in particular. */
  world?: WorldInput;
  /** Language models of the service that give no answer, by id. Default none. */
  unavailableModels?: string[];
  /**
   * A conversation fails that is given an override which its agent does not permit, or lacks a variable. Default: in the published dialect.
   */
  strictStart?: boolean;
  /** Batch calling in the published form. */
  batchCalling?: Partial<BatchSettings> | undefined;
  /** Order of the conversation list. Default newest_first. */
  listOrder?: 'newest_first' | 'oldest_first';
  faults?: FaultRuleInput[];
  /** Agents, numbers, webhooks, people and fault rules at start; its agents and numbers stand in the place of the usual ones. */
  fixture?: FixtureInput;
  /** Two agents and three numbers at start. Default true, but not where a fixture has agents or numbers. */
  seedData?: boolean;
  /** Accept unknown request fields. Default false. */
  loose?: boolean;
  hooks?: BatchHooks;
  /** Told about finished calls; in the extended dialect only. Default none. */
  webhooks?: WebhookInput[];
  /** Hosts beside this machine to which the sandbox may connect: `name` or `name:port`. Default none. */
  allowOutbound?: string[];
  modelLimits?: Partial<ModelLimits>;
  /** How long an agent's own model is heard to think: as long as it took, or drawn from the seed. Default measured. */
  modelLatency?: 'measured' | 'drawn';
  /** Conversations over sockets. */
  sockets?: Partial<SocketSettings>;
  /** The LiveKit server for which conversation tokens are signed; with keys of its own when left out. */
  livekit?: LiveKitSettings;
  /** Outbound campaigns; in the extended dialect only. */
  campaigns?: Partial<CampaignSettings> | undefined;
  conduct?: Partial<ConductLimits>;
}

export type SandboxSettings = ReturnType<typeof resolveSettings>;

/** Fills in what is left out, and checks the whole. Throws `SandboxStartError`. */
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
    strictStart: options.strictStart ?? dialect === 'published',
    batchCalling: { ...defaultBatchSettings, ...options.batchCalling },
    listOrder: options.listOrder ?? 'newest_first',
    faults: [...(options.faults ?? []), ...fixture.faults],
    fixture: { agents: fixture.agents, numbers: fixture.numbers },
    seedData: options.seedData ?? fixture.agents.length + fixture.numbers.length === 0,
    loose,
    hooks: options.hooks ?? {},
    webhooks: [...readWebhooks(options, outbound), ...fixture.webhooks],
    world: fixture.world ?? checkWorld(options.world ?? {}, 'the setting world'),
    unavailableModels: options.unavailableModels ?? [],
    outbound,
    modelLimits: { ...defaultModelLimits, ...options.modelLimits },
    modelLatency: options.modelLatency ?? 'measured',
    sockets: { ...defaultSocketSettings, ...options.sockets },
    livekit: options.livekit ?? null,
    campaigns: { ...defaultCampaignSettings, ...options.campaigns },
    conduct,
  };
  checkSettings(settings);
  return settings;
}

function readSettingFixture({ fixture: input, world }: SandboxOptions, rules: FixtureRules): Fixture {
  if (input === undefined) return { agents: [], numbers: [], webhooks: [], faults: [], world: null };
  const fixture = checkFixture(input, 'the setting fixture', rules);
  // Of two descriptions of the people, one would be passed over.
  if (world !== undefined && fixture.world !== null)
    throw new SandboxStartError('The fixture and the world both say who is behind the numbers; leave one of them out.');
  return fixture;
}

function readPlan(name: string = defaultPlan): PlanName {
  if (isPlanName(name)) return name;
  throw new SandboxStartError(`The sandbox setting plan is "${name}"; it must be one of ${planNames.join(', ')}.`);
}

/** Values are not told: one of them is a secret. */
function readWebhooks({ webhooks = [], dialect }: SandboxOptions, outbound: Outbound): WebhookFacts[] {
  if (webhooks.length > 0 && dialect === 'spec')
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
