/** Opening hours of a local day, in minutes since midnight; `to` is exclusive. */
interface Hours {
  from: number;
  to: number;
}

/** Hours by weekday (`mon`), null: at any hour; and local dates without calls. */
export interface Calendar {
  hours: Readonly<Record<string, readonly Hours[] | undefined>> | null;
  closedOn: readonly string[];
}

export type Cap = { by: 'number' | 'person' } & ({ calls: number; withinMs: number } | { afterTalkMs: number });

export interface Law extends Calendar {
  /** Local dates with hours of their own, unless their weekday is closed. */
  eves: { dates: readonly string[]; windows: readonly Hours[] };
  country: string;
  region: string | null;
  /** First and last local date of validity. */
  from: string | null;
  until: string | null;
  caps: readonly Cap[];
}

type Delays = readonly (number | 'next_day')[] | 'never';

const noCalendar: Calendar = { hours: null, closedOn: [] };
const noLaw: Law = { ...noCalendar, eves: { dates: [], windows: [] }, country: '', region: null, from: null, until: null, caps: [] };

export interface ValueRule {
  source: string;
  key: string;
  values: readonly unknown[];
}

export interface AuditedResult {
  result: string;
  value: ValueRule | null;
  talkUnderMs: number | null;
  next?: { kind: string; afterMs?: number };
  goal?: boolean;
}

/** `spreadMs`: minimum between two calls of one number. */
interface AuditedCallerLimits {
  perHour: number | null;
  perDay: number | null;
  spreadMs?: number;
}

/** Defaults: no limits. Durations are ms of service time. */
const defaultRules = {
  agentId: '',
  callers: { limits: null as AuditedCallerLimits | null },
  calendar: noCalendar,
  law: [] as readonly Law[],
  startsAt: null as number | null,
  endsAt: null as number | null,
  caps: [] as readonly Cap[],
  retry: {
    maxAttempts: Infinity,
    maxAttemptsPerNumber: null as number | null,
    resetAfterMs: null as number | null,
    delays: {} as Readonly<Record<string, Delays | undefined>>,
    maxUncounted: Infinity,
  },
  pacing: { maxConcurrentCalls: Infinity, startsPerMinute: null as number | null },
  preDial: null as object | null,
  /** Recipients who revoked consent for it are not called; null: not logged, may be any. */
  purpose: null as string | null,
  /** Every row needs a consent, no older than this. */
  consent: null as { maxAgeMs: number | null } | null,
  optOut: [] as readonly ValueRule[],
  /** The first that matches a talk names its result. */
  results: [] as readonly AuditedResult[],
  /** True: stored values count as they are. Campaigns begun before unwrap them once more. */
  unwrapOnce: false,
  pilot: null as { next: string } | null,
  stopAt: null as { goal: number } | null,
  /** What to do when a callback's time is unclear. */
  callback: null as { unclear: string } | null,
  /** If there are any, fields beyond the contract decide how a call ended. */
  dispositions: [] as readonly unknown[],
  timing: { dispatchMarginMs: 0, clockToleranceMs: 300_000 },
};

/** Account rules, which apply to every campaign besides its own. */
export type AuditedAccountRules = typeof defaultAccountRules;
const defaultAccountRules = {
  version: 0,
  calendar: noCalendar,
  caps: [] as readonly Cap[],
  callerLimits: null as AuditedCallerLimits | null,
  requires: { consent: false, optOut: false },
};

/** Null: no rules. */
export function readAuditedAccountRules(logged: unknown): AuditedAccountRules | null {
  return typeof logged === 'object' && logged !== null ? readAs(defaultAccountRules, logged) : null;
}

/** Named as in the import. */
export type AuditedRules = typeof defaultRules;
export type Limits = AuditedRules['pacing'];

/** Missing rules get their default. */
export function readAuditedRules(logged: object): AuditedRules {
  const rules = readAs(defaultRules, logged);
  return { ...rules, law: rules.law.map((law) => readAs(noLaw, law)) };
}

function readAs<Value>(kept: Value, logged: unknown): Value {
  if (kept === null) return (logged ?? null) as Value;
  if (typeof kept !== 'object') return (typeof logged === typeof kept ? logged : kept) as Value;
  if (typeof logged !== 'object' || logged === null || Array.isArray(logged) !== Array.isArray(kept)) return kept;
  const keys = Object.keys(kept);
  if (keys.length === 0) return logged as Value;
  const [parts, loggedParts] = [kept as Record<string, unknown>, logged as Record<string, unknown>];
  return Object.fromEntries(keys.map((key) => [key, readAs(parts[key], loggedParts[key])])) as Value;
}

export function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
