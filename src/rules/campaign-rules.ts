import { type ConsentRules, type Basis, consentKinds } from './consent.ts';
import type { Gate, PilotRules } from './gates.ts';
import type { CallerLimits } from './caller-choice.ts';
import type { CallbackRules } from './callback-rules.ts';
import type { ResultRule, ValueReading, ValueRule } from './talk-results.ts';
import type { Price } from './price.ts';
import type { JsonObject } from './conversation-override.ts';
import type { ListEncoding, Numbering, OwnColumns, StaysOpen } from './row-terms.ts';
import { picked } from './collections.ts';
import type { Disposition, ReadableDisposition } from './disposition.ts';
import type { FrequencyCap } from './frequency-caps.ts';

/** In ISO 8601 order, named as in the campaign file. */
export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
/** A day of the week in local time. */
export type Weekday = (typeof weekdays)[number];

/** Interval of a local day in minutes since midnight; `to` is exclusive, at most 1440, and above `from`. */
export interface DailyWindow {
  from: number;
  to: number;
}

/** Open intervals per weekday, ascending and disjoint; a missing weekday is closed. */
export type WeeklyHours = Partial<Record<Weekday, readonly DailyWindow[]>>;

/** When calls may be made, by local wall clock. */
export interface CallingCalendar {
  /** Null: at any hour. */
  hours: WeeklyHours | null;
  /** Local dates (`2026-12-25`) without calls. */
  closedOn: readonly string[];
}

/** Account rules, which bind every campaign of a database: the strictest wins. Plain JSON. */
export interface AccountRules {
  /** From 1; each change gets a new one. */
  version: number;
  calendar: CallingCalendar;
  caps: readonly FrequencyCap[];
  callerLimits: CallerLimits | null;
  /** What a campaign must have; otherwise it places no calls. */
  requires: { consent: boolean; optOut: boolean };
}

/** Maximum calls to one number, over all campaigns of the database. */
export type LegalCap = { by: 'number' } & Extract<FrequencyCap, { calls: number }>;

/** Every country without hours in any rule, including no country. */
export const unruledCountries = '*';

/** Calling hours, caps and consent by law, as data: for whom, since when, by which source. */
export interface LegalHours extends CallingCalendar {
  id: string;
  /** ISO 3166 code, or `*`. */
  country: string;
  /** Part of the country (`FL`); null: all of it. */
  region: string | null;
  /** Local dates, both included; null: no limit. */
  from: string | null;
  until: string | null;
  /** Empty: no caps. */
  caps: readonly LegalCap[];
  /** Days before public holidays, and their hours if their weekday is open. */
  eves?: { dates: readonly string[]; windows: readonly DailyWindow[] };
  /** On rule `*`, `closed`: public holidays of each of its countries are closed. `made`: derived from it for one country. */
  holidays?: 'closed' | 'made';
  consent?: (typeof consentKinds)[number];
  /** What could not be read at its source. */
  unconfirmed?: string;
  source: string;
  /** Local date on which its file was looked up. */
  asOf?: string;
}

/** Results that allow another dial, in campaign-file order; all others are final. */
export const retryDispositions = ['busy', 'no_answer', 'unreached', 'voicemail', 'failed', 'unknown'] as const satisfies Disposition[];
/** One of `retryDispositions`. */
export type RetryDisposition = (typeof retryDispositions)[number];

/** Milliseconds, or `next_day`: from the recipient's next local day on. */
export type RetryDelay = number | 'next_day';

/** Delays before the first, second, … retry (the last one repeats), or `never`. */
export type RetryDelays = readonly RetryDelay[] | 'never';

/** Maps record fields outside the contract to a disposition. The first matching rule decides. */
export interface DispositionRule {
  /** JSON pointer (RFC 6901) into the record. */
  pointer: string;
  /** Compared as text, ignoring case and surrounding blanks. */
  equals: readonly (string | number | boolean)[];
  disposition: ReadableDisposition;
}

/** When a campaign pauses itself because too many calls fail. */
export interface BreakerRules {
  /** Share of failed calls that opens it, above 0 and at most 1. */
  failureShare: number;
  /** Only calls that ended within this long count. */
  windowMs: number;
  /** With fewer calls it stays closed. */
  minCalls: number;
  /** Resumes by itself after this long; null: only an operator resumes. */
  coolDownMs: number | null;
}

/** Goal after which only callbacks are called. */
export interface StopAt {
  /** Talks with a goal result. */
  goal: number;
  /** `none`: open and awaited calls never exceed the missing goals. */
  overshoot: 'allowed' | 'none';
}

/**
 * Rules of a campaign, frozen at its start: plain JSON, built by `src/campaign/file/file.ts`. Durations are ms of *service time* unless the
 * name says `Real`.
 */
export interface CampaignRules extends ValueReading {
  agentId: string;
  callers: {
    /** Ids of the imported caller numbers; at least one. */
    numbers: readonly string[];
    /** `region`: a number of the recipient's region first, then in turn; `rotation`: in turn. */
    choice: 'region' | 'rotation';
    /** Absent: limited only by the lines. */
    limits?: CallerLimits;
  };
  list: {
    /** Column names exactly as in the header. */
    columns: string[];
    phoneColumn: string;
    idColumn: string | null;
    timezoneColumn: string | null;
    countryColumn: string | null;
    /** State or province code. */
    regionColumn: string | null;
    zipColumn: string | null;
    defaultRegion: string | null;
    /** Zone of recipients without one; null: not dialled while hours apply. */
    fallbackTimezone: string | null;
    numbering?: Numbering;
  } & OwnColumns &
    ListEncoding;
  /** Liquid template of the opening line; null: the agent's own. */
  firstMessage: string | null;
  /** Further settings of each call; their texts are Liquid templates. The opening line is in `firstMessage`. */
  override?: JsonObject;
  /** Liquid templates of per-call variables, sent under `key`; null: none. */
  variables: { key: string; values: Record<string, string>; reference: string | null } | null;
  /** From the campaign file. */
  calendar: CallingCalendar;
  /** Account rules, never frozen: read with the campaign each time. Absent: none. */
  house?: AccountRules;
  /** Law of every place the list may lead to; empty when the campaign file turns it off. */
  law: readonly LegalHours[];
  /** Absent: not in the file. Without a purpose, consent revoked for any purpose blocks the call. */
  basis?: Basis;
  purpose?: string;
  consent?: ConsentRules;
  /** Absent: costs are not reported. */
  price?: Price;
  /** Epoch ms; no dial before it. */
  startsAt: number | null;
  /** Epoch ms; no dial after it. */
  endsAt: number | null;
  /** Apply over all campaigns of the database. */
  caps: readonly FrequencyCap[];
  retry: {
    /** Counted attempts per recipient. */
    maxAttempts: number;
    /** Counted attempts per number, over all campaigns; null: no limit. */
    maxAttemptsPerNumber: number | null;
    /** Older attempts no longer use either budget; null: they always do. */
    resetAfterMs: number | null;
    /** Each delay grows by up to this, differently for each attempt. */
    jitterMs: number;
    delays: Record<RetryDisposition, RetryDelays>;
    /** Consecutive uncounted attempts after which one counts. */
    maxUncounted: number;
  };
  pacing: {
    maxConcurrentCalls: number;
    /** Null: no limit. */
    startsPerMinute: number | null;
    batchSize: number;
    /** Free slots at which the next batch is planned. */
    refillThreshold: number;
    /** Lines grow from the start of a round until all are in use after this long; 0: at once. */
    warmUpMs: number;
    /** Weight among campaigns that share an account, 1 to 100. */
    priority: number;
  };
  /** Null: off. */
  breaker: BreakerRules | null;
  /** Hook asked before each request whether its recipients may be called. The time limit is real time. */
  preDial: { url: string; timeoutMs: number } | null;
  onCompletion: { url: string } | null;
  /** Notified when the campaign has paused itself. */
  onPause: { url: string } | null;
  /** Opt-outs: a collected value or an evaluation with that key that equals one of `values`. */
  optOut: ValueRule[];
  /** Result of a talk, by the first matching rule; absent: no results. */
  results?: readonly ResultRule[];
  /** Absent: all rows are called from the beginning. */
  pilot?: PilotRules;
  /** Absent: none. */
  gates?: readonly Gate[];
  /** Absent: runs until every row has an outcome. */
  stopAt?: StopAt;
  /** Absent: ends when every row has an outcome. */
  staysOpen?: StaysOpen;
  /** Absent: records are not read for callbacks. */
  callback?: CallbackRules;
  dispositions: readonly DispositionRule[];
  /** JSON pointers to further fields that identify a record's call. */
  correlation: { calleeNumber: readonly string[]; batchId: readonly string[]; reference: readonly string[] };
  timing: {
    /** How long a window must stay open beyond the POST. */
    dispatchMarginMs: number;
    /** `unreached` without a record this long after the last sign of progress. */
    settleMs: number;
    /** How long to wait for results that lag behind a finished call. */
    analysisWaitMs: number;
    /** How long a hung server may still process a request. */
    lateDeliveryMs: number;
    /** Minimum look-back of a sweep. */
    lateLookbackMs: number;
    /** Pause between sweeps while calls are open. */
    pollMs: number;
    /** Tolerance of times in records. */
    clockToleranceMs: number;
    /** Up to this long, an empty transcript means silence where the service counts the ringing. */
    ringLimitMs: number;
  };
  /** When records cannot distinguish two calls: one waits, or both are dialled and may end in doubt. */
  sharedWords: 'wait' | 'unresolved';
}

/** Pacing limits that may change while a campaign runs. */
export const adjustableLimits = ['maxConcurrentCalls', 'startsPerMinute', 'batchSize', 'priority'] as const;
/** One of `adjustableLimits`. */
export type AdjustableLimit = (typeof adjustableLimits)[number];
/** All adjustable limits, as currently in effect. */
export type PacingLimits = Required<Pick<CampaignRules['pacing'], AdjustableLimit>>;

/** Dispositions whose delays may change while a campaign runs; not `unknown`, which is decided before the start. */
export const adjustableDelays = retryDispositions.filter((name) => name !== 'unknown');
/** One of `adjustableDelays`. */
export type AdjustableDelay = (typeof adjustableDelays)[number];
/** What besides pacing may change while a campaign runs. `hours` null: at any hour the law allows. */
export type AdjustableTerms = { hours: WeeklyHours | null; maxAttempts: number } & Record<AdjustableDelay, RetryDelays>;
/** All adjustable rules, as currently in effect. */
export type AdjustableRules = PacingLimits & AdjustableTerms;

/** Reads the adjustable rules. A limit that older frozen rules lack is null. */
export function adjustableOf({ pacing, calendar, retry }: CampaignRules): AdjustableRules {
  const limits = Object.fromEntries(adjustableLimits.map((name) => [name, pacing[name] ?? null])) as unknown as PacingLimits;
  return { ...limits, hours: calendar.hours, maxAttempts: retry.maxAttempts, ...picked(retry.delays, adjustableDelays) };
}

/** Applies an operator's changes; the refill threshold is not adjustable. */
export function withAdjustments(rules: CampaignRules, changed: Partial<AdjustableRules>): CampaignRules {
  const held = { ...adjustableOf(rules), ...changed };
  return {
    ...rules,
    pacing: { ...rules.pacing, ...picked(held, adjustableLimits) },
    calendar: { ...rules.calendar, hours: held.hours },
    retry: { ...rules.retry, maxAttempts: held.maxAttempts, delays: { ...rules.retry.delays, ...picked(held, adjustableDelays) } },
  };
}

/** Bound of the cache: rules are long with their law, and every result needs them. */
const mostAtHand = 100;
const atHand = new Map<string, CampaignRules>();

/** Parses stored rules. Callers with the same text share one deeply frozen object. */
export function readRules(text: string): CampaignRules {
  const known = atHand.get(text);
  if (known !== undefined) return known;
  const rules = frozen(JSON.parse(text) as CampaignRules);
  const [oldest] = atHand.keys();
  if (oldest !== undefined && atHand.size >= mostAtHand) atHand.delete(oldest);
  atHand.set(text, rules);
  return rules;
}

function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}

/** Earlier of two instants, either of which may be null. */
export function earliest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}
