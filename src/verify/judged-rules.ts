/** Opening hours of a local day, in minutes since midnight; `to` is exclusive. */
interface Hours {
  from: number;
  to: number;
}

/** Hours by weekday (`mon`), null: at any hour; and local dates on which nobody is called. */
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
  /** First and last local date on which it holds. */
  from: string | null;
  until: string | null;
  caps: readonly Cap[];
}

type Delays = readonly (number | 'next_day')[] | 'never';

const noCalendar: Calendar = { hours: null, closedOn: [] };
const noLaw: Law = { ...noCalendar, eves: { dates: [], windows: [] }, country: '', region: null, from: null, until: null, caps: [] };

export interface SaidRule {
  source: string;
  key: string;
  values: readonly unknown[];
}

export interface JudgedResult {
  result: string;
  value: SaidRule | null;
  talkUnderMs: number | null;
  next?: { kind: string; afterMs?: number };
  goal?: boolean;
}

/** `spreadMs`: between two calls of one number at least. */
interface JudgedCallerLimits {
  perHour: number | null;
  perDay: number | null;
  spreadMs?: number;
}

/** What a campaign is held to if its import says nothing: nothing. Durations are milliseconds of service time. */
const untold = {
  agentId: '',
  callers: { limits: null as JudgedCallerLimits | null },
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
  /** Whoever took back consent for it is not called; null: it is not told, and may be any. */
  purpose: null as string | null,
  /** Every row needs a consent, no older than this. */
  consent: null as { maxAgeMs: number | null } | null,
  optOut: [] as readonly SaidRule[],
  /** The first that describes a talk names what it came to. */
  results: [] as readonly JudgedResult[],
  /** Values for these stand in the facts as they count; campaigns begun before take off a second wrapping. */
  unwrapOnce: false,
  pilot: null as { next: string } | null,
  stopAt: null as { goal: number } | null,
  /** What is done about people of whom nobody can tell when to call them back. */
  callback: null as { unclear: string } | null,
  /** Where there are any, fields that no contract names decide how a call ended. */
  dispositions: [] as readonly unknown[],
  timing: { dispatchMarginMs: 0, clockToleranceMs: 300_000 },
};

/** What the judge holds every campaign to besides its own rules. */
export type JudgedHouse = typeof ofNoHouse;
const ofNoHouse = {
  version: 0,
  calendar: noCalendar,
  caps: [] as readonly Cap[],
  callerLimits: null as JudgedCallerLimits | null,
  requires: { consent: false, optOut: false },
};

/** Reads the rules of the house as the log tells them; null: nothing is ruled. */
export function readJudgedHouse(told: unknown): JudgedHouse | null {
  return typeof told === 'object' && told !== null ? readAs(ofNoHouse, told) : null;
}

/** What the judge holds a campaign to, under the names of the rules that its import tells. */
export type JudgedRules = typeof untold;
export type Limits = JudgedRules['pacing'];

/** Reads the rules that an import tells; what it does not tell is not held. */
export function readJudgedRules(told: object): JudgedRules {
  const rules = readAs(untold, told);
  return { ...rules, law: rules.law.map((law) => readAs(noLaw, law)) };
}

function readAs<Value>(kept: Value, told: unknown): Value {
  if (kept === null) return (told ?? null) as Value;
  if (typeof kept !== 'object') return (typeof told === typeof kept ? told : kept) as Value;
  if (typeof told !== 'object' || told === null || Array.isArray(told) !== Array.isArray(kept)) return kept;
  const keys = Object.keys(kept);
  if (keys.length === 0) return told as Value;
  const [parts, toldParts] = [kept as Record<string, unknown>, told as Record<string, unknown>];
  return Object.fromEntries(keys.map((key) => [key, readAs(parts[key], toldParts[key])])) as Value;
}

export function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
