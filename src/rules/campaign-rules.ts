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

/** In the order of ISO 8601, by the names of the campaign file. */
export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
/** A day of the week in local time. */
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

/** What every campaign of a database is held to besides its own rules: the strictest wins. Plain JSON. */
export interface HouseRules {
  /** From 1; each change is another one. */
  version: number;
  calendar: CallingCalendar;
  caps: readonly FrequencyCap[];
  callerLimits: CallerLimits | null;
  /** What a campaign must have, or it calls nobody. */
  requires: { consent: boolean; optOut: boolean };
}

/** At most so many calls to one number, over all campaigns of the database. */
export type LegalCap = { by: 'number' } & Extract<FrequencyCap, { calls: number }>;

/** Stands for every country whose hours no rule knows, those of no country included. */
export const unruledCountries = '*';

/** Calling hours, frequency caps and consent by law, as data: for whom, since when, and who says so. */
export interface LegalHours extends CallingCalendar {
  id: string;
  /** ISO 3166 code, or `*`. */
  country: string;
  /** The part of the country for which it holds (`FL`); null: all of it. */
  region: string | null;
  /** First and last local date on which it holds; null: no limit. */
  from: string | null;
  until: string | null;
  /** Empty: it says nothing about how often. */
  caps: readonly LegalCap[];
  /** Days before public holidays, and their hours where their weekday is open at all. */
  eves?: { dates: readonly string[]; windows: readonly DailyWindow[] };
  /** Of the rule for `*`: the public holidays of each country that it stands for are closed. Of one made from it: `made`. */
  holidays?: 'closed' | 'made';
  consent?: (typeof consentKinds)[number];
  /** What of it could not be read at its source. */
  unconfirmed?: string;
  source: string;
  /** Local date on which its file was looked up. */
  asOf?: string;
}

/** Results after which a recipient may be dialled again, in the order of the campaign file; all others are final. */
export const retryDispositions = ['busy', 'no_answer', 'unreached', 'voicemail', 'failed', 'unknown'] as const satisfies Disposition[];
/** One of them. */
export type RetryDisposition = (typeof retryDispositions)[number];

/** Milliseconds, or `next_day`: from the next local day of the recipient on. */
export type RetryDelay = number | 'next_day';

/** Delay before the next attempt, for the first, second, … retry (the last one repeats), or `never`. */
export type RetryDelays = readonly RetryDelay[] | 'never';

/** Fields of a record that no contract names, and what they say about the call. The first rule that fits decides. */
export interface DispositionRule {
  /** JSON pointer (RFC 6901) into the record. */
  pointer: string;
  /** Compared as text, without case and surrounding blanks. */
  equals: readonly (string | number | boolean)[];
  disposition: ReadableDisposition;
}

/** When a campaign stops by itself because too many calls fail. */
export interface BreakerRules {
  /** Share of failed calls, above 0 and at most 1, at which it opens. */
  failureShare: number;
  /** Only calls that ended within this long count. */
  windowMs: number;
  /** Fewer calls than this say nothing. */
  minCalls: number;
  /** Goes on by itself after this long; null: only a person resumes. */
  coolDownMs: number | null;
}

/** Enough of what the campaign is for: no further calls but those that were promised. */
export interface StopAt {
  /** Talks whose result is the goal. */
  goal: number;
  /** `none`: no more calls are open, or waited for, than goals are missing. */
  overshoot: 'allowed' | 'none';
}

/**
 * The rules of a campaign as frozen at its start: plain JSON, stored with the campaign, built from the campaign file by
 * `src/campaign/file/file.ts`. All durations are milliseconds of *service time* unless the name says `Real`.
 */
export interface CampaignRules extends ValueReading {
  agentId: string;
  callers: {
    /** Ids of the imported numbers that call; at least one. */
    numbers: readonly string[];
    /** `region`: a number of the recipient's own region first, then in turn; `rotation`: in turn. */
    choice: 'region' | 'rotation';
    /** Absent: each may call as often as there are lines. */
    limits?: CallerLimits;
  };
  list: {
    /** Column names exactly as in the header. */
    columns: string[];
    phoneColumn: string;
    idColumn: string | null;
    timezoneColumn: string | null;
    countryColumn: string | null;
    /** State or province, by its code. */
    regionColumn: string | null;
    zipColumn: string | null;
    defaultRegion: string | null;
    /** Zone of recipients about whom nothing is known; null: they are not dialled while hours apply. */
    fallbackTimezone: string | null;
    numbering?: Numbering;
  } & OwnColumns &
    ListEncoding;
  /** Liquid template of the opening line, or null when the agent's own is used. */
  firstMessage: string | null;
  /** Further settings of each call, whose texts are Liquid templates. Its opening line stands in `firstMessage`. */
  override?: JsonObject;
  /** Liquid templates of per-call variables, sent under `key`; null when the file uses none. */
  variables: { key: string; values: Record<string, string>; reference: string | null } | null;
  /** What the campaign file says: hours and holidays. */
  calendar: CallingCalendar;
  /** Never frozen: what holds for all campaigns at this moment, as read with the campaign. Absent: nothing. */
  house?: HouseRules;
  /** What the law says, in every place to which the list may lead; empty when the campaign file turns it off. */
  law: readonly LegalHours[];
  /** Left out: the file does not say; without a purpose whoever took back consent for any is not called. */
  basis?: Basis;
  purpose?: string;
  consent?: ConsentRules;
  /** Left out: what calls cost is not told. */
  price?: Price;
  /** Epoch milliseconds before which nothing is dialled, or null. */
  startsAt: number | null;
  /** Epoch milliseconds after which nothing is dialled, or null. */
  endsAt: number | null;
  /** Hold over all campaigns of the database. */
  caps: readonly FrequencyCap[];
  retry: {
    /** Counted attempts per recipient, over all rules. */
    maxAttempts: number;
    /** Counted attempts per number, over all campaigns of the database; null: no limit. */
    maxAttemptsPerNumber: number | null;
    /** Attempts longer ago than this no longer use up either budget; null: they always do. */
    resetAfterMs: number | null;
    /** Each delay is lengthened by up to this, differently for each attempt. */
    jitterMs: number;
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
    /** The first calls of a round are begun slowly, and all lines are in use only after this long; 0: at once. */
    warmUpMs: number;
    /** Weight among campaigns that share an account, 1 to 100. */
    priority: number;
  };
  /** Null: off. */
  breaker: BreakerRules | null;
  /** Who is asked before each request whether its people may be called. The time limit is real time. */
  preDial: { url: string; timeoutMs: number } | null;
  /** Who is told when a round has ended. */
  onCompletion: { url: string } | null;
  /** Who is notified when the campaign has paused by itself. */
  onPause: { url: string } | null;
  /** What in a call counts as an opt-out: a collected value or an evaluation with that key that equals one of `values`. */
  optOut: ValueRule[];
  /** What a talk came to, the first rule that describes it; absent: nothing is asked. */
  results?: readonly ResultRule[];
  /** Absent: everybody is called from the beginning. */
  pilot?: PilotRules;
  /** Shares that must hold; absent: none. */
  gates?: readonly Gate[];
  /** Absent: it goes on until everybody has an outcome. */
  stopAt?: StopAt;
  /** Absent: it ends when everybody has an outcome. */
  staysOpen?: StaysOpen;
  /** What is done about people who ask to be called back; absent: no record is read for it. */
  callback?: CallbackRules;
  dispositions: readonly DispositionRule[];
  /** JSON pointers to where else a record says whose call it is. */
  correlation: { calleeNumber: readonly string[]; batchId: readonly string[]; reference: readonly string[] };
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
    /** By how much a time in a record may be off. */
    clockToleranceMs: number;
    /** An empty transcript may have lasted so long, where the service counts the ringing, and nobody spoke. */
    ringLimitMs: number;
  };
  /** What is done where records cannot tell two calls apart: one of them waits, or both are dialled and may end in doubt. */
  sharedWords: 'wait' | 'unresolved';
}

/** Limits of the pacing that may be changed while a campaign runs. */
export const adjustableLimits = ['maxConcurrentCalls', 'startsPerMinute', 'batchSize', 'priority'] as const;
/** One of them. */
export type AdjustableLimit = (typeof adjustableLimits)[number];
/** All of them, as they hold. */
export type PacingLimits = Required<Pick<CampaignRules['pacing'], AdjustableLimit>>;

/** Results whose delays may be changed while a campaign runs. Not `unknown`: whether doubt is redialled is decided before the start. */
export const adjustableDelays = retryDispositions.filter((name) => name !== 'unknown');
/** One of them. */
export type AdjustableDelay = (typeof adjustableDelays)[number];
/** What besides the pacing may be changed while a campaign runs. `hours` null: at any hour that the law allows. */
export type AdjustableTerms = { hours: WeeklyHours | null; maxAttempts: number } & Record<AdjustableDelay, RetryDelays>;
/** All that may be changed while a campaign runs, as it holds. */
export type AdjustableRules = PacingLimits & AdjustableTerms;

/** What holds of all that may be changed. A limit that rules frozen by an earlier version do not have is none. */
export function adjustableOf({ pacing, calendar, retry }: CampaignRules): AdjustableRules {
  const limits = Object.fromEntries(adjustableLimits.map((name) => [name, pacing[name] ?? null])) as unknown as PacingLimits;
  return { ...limits, hours: calendar.hours, maxAttempts: retry.maxAttempts, ...picked(retry.delays, adjustableDelays) };
}

/** The rules with what a person changed since. The threshold of a refill is not among it. */
export function withAdjustments(rules: CampaignRules, changed: Partial<AdjustableRules>): CampaignRules {
  const held = { ...adjustableOf(rules), ...changed };
  return {
    ...rules,
    pacing: { ...rules.pacing, ...picked(held, adjustableLimits) },
    calendar: { ...rules.calendar, hours: held.hours },
    retry: { ...rules.retry, maxAttempts: held.maxAttempts, delays: { ...rules.retry.delays, ...picked(held, adjustableDelays) } },
  };
}

/** Rules of so many campaigns are at hand; with their law they are long, and every result asks for them. */
const mostAtHand = 100;
const atHand = new Map<string, CampaignRules>();

/** Reads rules as they are stored with a campaign. They are shared by all who read the same text: nobody can change them. */
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

/** The earlier of two instants that may be missing. */
export function earliest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}
