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

export interface Limits {
  maxConcurrentCalls: number;
  startsPerMinute: number | null;
}

type Delays = readonly (number | 'next_day')[] | 'never';

/** What the judge holds a campaign to, as its import tells. Durations are milliseconds of service time. */
export interface JudgedRules {
  agentId: string;
  calendar: Calendar;
  law: readonly Law[];
  startsAt: number | null;
  endsAt: number | null;
  caps: readonly Cap[];
  retry: {
    maxAttempts: number;
    maxAttemptsPerNumber: number | null;
    resetAfterMs: number | null;
    delays: Readonly<Record<string, Delays | undefined>>;
    maxUncounted: number;
  };
  limits: Limits;
  screened: boolean;
  optOut: readonly { source: string; key: string; values: readonly unknown[] }[];
  /** Whether fields that no contract names decide how a call ended. */
  ruledDispositions: boolean;
  dispatchMarginMs: number;
  clockToleranceMs: number;
}

type Told = Record<string, unknown>;

/** Reads the rules that an import tells; what it does not tell is not held. */
export function readJudgedRules(told: object): JudgedRules {
  const rules = told as Told;
  const part = (name: string): Told => (rules[name] ?? {}) as Told;
  const [retry, pacing, timing] = [part('retry'), part('pacing'), part('timing')];
  return {
    agentId: textOf(rules['agentId']) ?? '',
    calendar: readCalendar(part('calendar')),
    law: (listOf(rules['law']) as Told[]).map((law) => ({
      ...readCalendar(law),
      country: String(law['country']),
      region: textOf(law['region']),
      from: textOf(law['from']),
      until: textOf(law['until']),
      eves: (law['eves'] ?? { dates: [], windows: [] }) as Law['eves'],
      caps: listOf(law['caps']) as Cap[],
    })),
    startsAt: numberOf(rules['startsAt']),
    endsAt: numberOf(rules['endsAt']),
    caps: listOf(rules['caps']) as Cap[],
    retry: {
      maxAttempts: numberOf(retry['maxAttempts']) ?? Infinity,
      maxAttemptsPerNumber: numberOf(retry['maxAttemptsPerNumber']),
      resetAfterMs: numberOf(retry['resetAfterMs']),
      delays: (retry['delays'] ?? {}) as JudgedRules['retry']['delays'],
      maxUncounted: numberOf(retry['maxUncounted']) ?? Infinity,
    },
    limits: {
      maxConcurrentCalls: numberOf(pacing['maxConcurrentCalls']) ?? Infinity,
      startsPerMinute: numberOf(pacing['startsPerMinute']),
    },
    screened: rules['preDial'] != null,
    optOut: listOf(rules['optOut']) as JudgedRules['optOut'],
    ruledDispositions: listOf(rules['dispositions']).length > 0,
    dispatchMarginMs: numberOf(timing['dispatchMarginMs']) ?? 0,
    clockToleranceMs: numberOf(timing['clockToleranceMs']) ?? 300_000,
  };
}

function readCalendar(told: Told): Calendar {
  return {
    hours: (told['hours'] ?? null) as Calendar['hours'],
    closedOn: listOf(told['closedOn']) as string[],
  };
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
