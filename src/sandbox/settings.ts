import type { Clock } from './clock.ts';
import type { FaultRuleInput } from './faults/fault-rule.ts';
import type { BatchHooks } from './gates.ts';
import type { Dialect } from './schemas/building-blocks.ts';

/** Relative weights of what happens to a call whose number is not a magic one. */
export interface OutcomeMix {
  answered: number;
  busy: number;
  no_answer: number;
  voicemail: number;
  failed: number;
}

/** What the conduct report holds a caller to. */
export interface ConductLimits {
  /** A number accepted again within this many service seconds counts as dialled twice. Default 60. */
  redialWithinSeconds: number;
  /** A conversation read again within this many service seconds counts as polled too fast. Default 1. */
  minReadIntervalSeconds: number;
  /** Requests that may be in progress at once. Default 30. */
  maxParallelRequests: number;
  /** Dials of one number within 24 service hours. Default 10. */
  maxDialsPerDay: number;
}

export interface SandboxOptions {
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
  allowNonLoopback?: boolean;
  /** Default extended. */
  dialect?: Dialect;
  /** Service milliseconds per real millisecond. Default 1. */
  speed?: number;
  /** Service time at start, epoch milliseconds. Default: the machine's time. */
  epochMs?: number;
  /** Instead of a clock made from `speed` and `epochMs`. */
  clock?: Clock;
  /** Same seed, same ids, outcomes, transcripts and faults. Default `carillon`. */
  seed?: number | string;
  /** Accepted beside the documented `sk_sandbox_*` keys. */
  apiKeys?: string[];
  /** Calls on the line at once; more wait in a queue. Default 30. */
  concurrency?: number;
  /** Requests per service second and key; null (the default) for no limit. */
  rateLimit?: { requestsPerSecond: number | null };
  maxCallsPerBatch?: number;
  /** Whether a call that nobody answered leaves a conversation record. Default true. */
  unansweredCreateRecord?: boolean;
  /** Default 60, log-normal. */
  meanTalkSeconds?: number;
  outcomeMix?: OutcomeMix;
  /** Order of the conversation list. Default newest_first. */
  listOrder?: 'newest_first' | 'oldest_first';
  faults?: FaultRuleInput[];
  /** Two agents and three numbers at start. Default true. */
  seedData?: boolean;
  /** Accept unknown request fields. Default false. */
  loose?: boolean;
  hooks?: BatchHooks;
  conduct?: Partial<ConductLimits>;
}

export type SandboxSettings = Required<Omit<SandboxOptions, 'epochMs' | 'clock' | 'rateLimit' | 'conduct' | 'seed'>> & {
  seed: string;
  requestsPerSecond: number | null;
  conduct: ConductLimits;
};

/** Thrown when the sandbox cannot start as asked; the message says which setting and what to do. */
export class SandboxStartError extends Error {
  override readonly name = 'SandboxStartError' as const;
}

export function resolveSettings(options: SandboxOptions): SandboxSettings {
  const settings: SandboxSettings = {
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    allowNonLoopback: options.allowNonLoopback ?? false,
    dialect: options.dialect ?? 'extended',
    speed: options.speed ?? 1,
    seed: String(options.seed ?? 'carillon'),
    apiKeys: options.apiKeys ?? [],
    concurrency: options.concurrency ?? 30,
    requestsPerSecond: options.rateLimit?.requestsPerSecond ?? null,
    maxCallsPerBatch: options.maxCallsPerBatch ?? 1000,
    unansweredCreateRecord: options.unansweredCreateRecord ?? true,
    meanTalkSeconds: options.meanTalkSeconds ?? 60,
    outcomeMix: options.outcomeMix ?? { answered: 62, no_answer: 18, voicemail: 10, busy: 8, failed: 2 },
    listOrder: options.listOrder ?? 'newest_first',
    faults: options.faults ?? [],
    seedData: options.seedData ?? true,
    loose: options.loose ?? false,
    hooks: options.hooks ?? {},
    conduct: {
      redialWithinSeconds: 60,
      minReadIntervalSeconds: 1,
      maxParallelRequests: 30,
      maxDialsPerDay: 10,
      ...options.conduct,
    },
  };
  checkSettings(settings);
  return settings;
}

function checkSettings(settings: SandboxSettings): void {
  const { host, port, speed, concurrency, maxCallsPerBatch, meanTalkSeconds, outcomeMix, requestsPerSecond } = settings;
  if (!settings.allowNonLoopback && !/^(127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host)) {
    throw new SandboxStartError(
      `The sandbox listens on loopback addresses only, not on "${host}". Use 127.0.0.1, or allow it in as many words (allowNonLoopback).`,
    );
  }
  requireThat(
    Number.isInteger(port) && port >= 0 && port <= 65_535,
    'port',
    port,
    'a whole number from 0 (any free port) to 65535',
  );
  requireThat(
    Number.isFinite(speed) && speed > 0 && speed <= 100_000,
    'speed',
    speed,
    'a number above 0, at most 100000',
  );
  requireThat(
    Number.isInteger(concurrency) && concurrency > 0,
    'concurrency',
    concurrency,
    'a whole number of at least 1',
  );
  requireThat(
    Number.isInteger(maxCallsPerBatch) && maxCallsPerBatch > 0,
    'maxCallsPerBatch',
    maxCallsPerBatch,
    'a whole number of at least 1',
  );
  requireThat(meanTalkSeconds > 0, 'meanTalkSeconds', meanTalkSeconds, 'a number above 0');
  requireThat(
    requestsPerSecond === null || requestsPerSecond > 0,
    'rateLimit.requestsPerSecond',
    requestsPerSecond,
    'null or a number above 0',
  );
  const weights = Object.values(outcomeMix);
  const usable = weights.every((weight) => weight >= 0) && weights.some((weight) => weight > 0);
  requireThat(usable, 'outcomeMix', JSON.stringify(outcomeMix), 'weights of 0 or more, not all 0');
}

function requireThat(holds: boolean, setting: string, value: unknown, allowed: string): void {
  if (!holds) throw new SandboxStartError(`The sandbox setting ${setting} is ${String(value)}; it must be ${allowed}.`);
}
