import type { Disposition } from './disposition.ts';

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

/** One interval of a local day, in minutes since local midnight; `to` is exclusive, at most 1440, and above `from`. */
export interface DailyWindow {
  from: number;
  to: number;
}

export type RetryDisposition = Extract<
  Disposition,
  'busy' | 'no_answer' | 'unreached' | 'voicemail' | 'failed' | 'unknown'
>;

/** Delay before the next attempt: milliseconds for the first, second, … retry (the last one repeats), or `never`. */
export type RetryDelays = number[] | 'never';

/**
 * The rules of a campaign as frozen at its start: plain JSON, stored with the campaign, built from the campaign file by
 * `src/campaign/campaign-file.ts`. All durations are milliseconds of *service time* unless the name says `Real`.
 */
export interface CampaignRules {
  agentId: string;
  fromPhoneNumberId: string;
  list: {
    /** Column names exactly as in the header. */
    columns: string[];
    phoneColumn: string;
    idColumn: string | null;
    timezoneColumn: string | null;
    countryColumn: string | null;
    defaultRegion: string | null;
  };
  /** Liquid template of the opening line, or null when the agent's own is used. */
  firstMessage: string | null;
  /** Liquid templates of per-call variables, sent under `key`; null when the file uses none. */
  variables: { key: string; values: Record<string, string>; reference: string | null } | null;
  /** Null: at any hour. A weekday that is missing is closed. */
  hours: Partial<Record<Weekday, DailyWindow>> | null;
  /** Epoch milliseconds after which nothing is dialled, or null. */
  endsAt: number | null;
  retry: {
    /** Counted attempts per recipient, over all rules. */
    maxAttempts: number;
    delays: Record<RetryDisposition, RetryDelays>;
    /** Uncounted returns in a row after which an attempt counts. */
    maxUncounted: number;
  };
  pacing: {
    maxConcurrentCalls: number;
    /** Null: no limit. */
    startsPerMinute: number | null;
    batchSize: number;
    /** Free slots at which the next batch is planned. */
    refillThreshold: number;
  };
  /** What in a call counts as an opt-out: a collected value or an evaluation with that key that equals one of `values`. */
  optOut: { source: 'collected' | 'evaluation'; key: string; values: (string | number | boolean)[] }[];
  timing: {
    /** How long a window must stay open beyond the POST. */
    dispatchMarginMs: number;
    /** No record this long after the last sign of progress: `unreached`. */
    settleMs: number;
    /** How long results that lag behind a finished call are awaited. */
    analysisWaitMs: number;
    /** How long a server that hung may still process what it received. */
    lateDeliveryMs: number;
    /** How far back a sweep reads at least. */
    lateLookbackMs: number;
    /** Pause between two sweeps while calls are open. */
    pollMs: number;
  };
}
