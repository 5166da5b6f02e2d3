import type { JsonObject } from './conversation-override.ts';
import type { Disposition } from './disposition.ts';
import type { FrequencyCap } from './frequency-caps.ts';

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

/** One interval of a local day, in minutes since local midnight; `to` is exclusive, at most 1440, and above `from`. */
export interface DailyWindow {
  from: number;
  to: number;
}

/** Open intervals per weekday, ascending and disjoint; a weekday that is missing is closed. */
export type WeeklyHours = Partial<Record<Weekday, readonly DailyWindow[]>>;

/** When calls may be made by the wall clock of a place. */
export interface CallingCalendar {
  /** Null: at any hour. */
  hours: WeeklyHours | null;
  /** Local dates (`2026-12-25`) on which nobody is called. */
  closedOn: readonly string[];
}

/** Calling hours by law, as data: for whom, since when, and who says so. */
export interface LegalHours extends CallingCalendar {
  id: string;
  /** ISO 3166 code. */
  country: string;
  /** The part of the country for which it holds (`FL`); null: all of it. */
  region: string | null;
  /** First and last local date on which it holds; null: no limit. */
  from: string | null;
  until: string | null;
  source: string;
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
    /** State or province, by its code. */
    regionColumn: string | null;
    defaultRegion: string | null;
    /** Zone of recipients about whom nothing is known; null: they are not dialled while hours apply. */
    fallbackTimezone: string | null;
  };
  /** Liquid template of the opening line, or null when the agent's own is used. */
  firstMessage: string | null;
  /** Further settings of each call, whose texts are Liquid templates. Its opening line stands in `firstMessage`. */
  override?: JsonObject;
  /** Liquid templates of per-call variables, sent under `key`; null when the file uses none. */
  variables: { key: string; values: Record<string, string>; reference: string | null } | null;
  /** What the campaign file says: hours and holidays. */
  calendar: CallingCalendar;
  /** What the law says, in every place to which the list may lead; empty when the campaign file turns it off. */
  law: readonly LegalHours[];
  /** Epoch milliseconds after which nothing is dialled, or null. */
  endsAt: number | null;
  /** Hold over all campaigns of the database. */
  caps: readonly FrequencyCap[];
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
