import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { readWindow, weeklyHours, type WrittenWindow } from '../../../src/rules/hours/weekly-hours.ts';
import { windowAt, type DatedCalendar } from '../../../src/rules/hours/calling-window.ts';
import { weekdays, type Weekday } from '../../../src/rules/campaign-rules.ts';

/*
 * The oracle reads the wall clock of every minute with Intl.DateTimeFormat and applies the written rules to it as a person would. It shares
 * neither code nor library with what it judges: no offsets, no intervals, no luxon.
 */

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Minutes that the oracle knows after the first day, and how far from their end nothing is asked any more. */
const knownDays = 6;
const askedDays = 4;

const zones = [
  'America/New_York',
  'America/Phoenix',
  'America/Denver',
  'Pacific/Honolulu',
  'America/Puerto_Rico',
  'Europe/London',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'Asia/Kathmandu',
];

/** First instant of the days around a clock change: US, Europe, Lord Howe (half an hour), and days without any. */
const starts = [
  '2026-03-06T00:00Z',
  '2026-10-30T00:00Z',
  '2026-03-27T00:00Z',
  '2026-10-23T00:00Z',
  '2026-04-03T00:00Z',
  '2026-10-02T00:00Z',
  '2026-06-12T00:00Z',
].map((text) => Date.parse(text));

interface LocalMinute {
  weekday: number;
  minute: number;
  date: string;
}

const clocks = new Map<string, LocalMinute[]>();

function clockOf(zone: string, start: number): LocalMinute[] {
  const known = clocks.get(`${zone} ${String(start)}`);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  const minutes = Array.from({ length: knownDays * 1440 }, (_, index) => {
    // 30/10/2026, 20:05
    const [day = '', month = '', year = '', hour = '', minute = ''] = format.format(start + index * minuteMs).split(/\D+/);
    const date = `${year}-${month}-${day}`;
    return {
      date,
      weekday: (new Date(`${date}T00:00Z`).getUTCDay() + 6) % 7,
      minute: Number(hour) * 60 + Number(minute),
    };
  });
  clocks.set(`${zone} ${String(start)}`, minutes);
  return minutes;
}

beforeAll(() => {
  for (const start of starts) for (const zone of zones) clockOf(zone, start);
});

interface WrittenRules {
  /** As in a campaign file; null: any hour. */
  hours: Partial<Record<Weekday, string[]>> | null;
  closedOn: string[];
  from: string | null;
  until: string | null;
}

/** For each minute of a week whether a window stands open, painted window by window. */
function paintWeek(hours: NonNullable<WrittenRules['hours']>): boolean[] {
  const week = Array.from({ length: 7 * 1440 }, () => false);
  for (const [index, day] of weekdays.entries()) {
    for (const text of hours[day] ?? []) {
      const [fromHour = 0, fromMinute = 0, toHour = 0, toMinute = 0] = text.split(/\D/).map(Number);
      const opens = fromHour * 60 + fromMinute;
      const closes = toHour * 60 + toMinute;
      const minutes = closes > opens ? closes - opens : closes + 1440 - opens;
      for (let past = 0; past < minutes; past += 1) week[(index * 1440 + opens + past) % week.length] = true;
    }
  }
  return week;
}

function paintRules({ hours, closedOn, from, until }: WrittenRules): (local: LocalMinute) => boolean {
  const week = hours === null ? null : paintWeek(hours);
  return ({ weekday, minute, date }) => {
    if ((from !== null && date < from) || (until !== null && date > until)) return true;
    return !closedOn.includes(date) && (week === null || week[weekday * 1440 + minute] === true);
  };
}

interface Run {
  from: number;
  to: number;
}

/** The stretches of open minutes; the last one may go on beyond what is known. */
function openRuns(rules: readonly WrittenRules[], zoned: readonly string[], start: number): Run[] {
  const local = zoned.map((zone) => clockOf(zone, start));
  const allows = rules.map(paintRules);
  const runs: Run[] = [];
  for (let index = 0; index < knownDays * 1440; index += 1) {
    const isOpen = local.every((clock) => {
      const minute = clock[index];
      return minute !== undefined && allows.every((rule) => rule(minute));
    });
    if (!isOpen) continue;
    const at = start + index * minuteMs;
    const last = runs.at(-1);
    if (last?.to === at) last.to = at + minuteMs;
    else runs.push({ from: at, to: at + minuteMs });
  }
  return runs;
}

function calendarOf({ hours, ...rest }: WrittenRules): DatedCalendar {
  if (hours === null) return { hours, ...rest };
  const written = Object.entries(hours).map(([day, texts]) => [day, texts.map((text) => readWindow(text) as WrittenWindow)]);
  return { hours: weeklyHours(Object.fromEntries(written) as Partial<Record<Weekday, WrittenWindow[]>>), ...rest };
}

function showMinute(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}

/** Ends of windows fall on odd minutes as well as around the hours of the clock changes. */
const anyMinute = fc.oneof(fc.integer({ min: 0, max: 1439 }), fc.constantFrom(60, 90, 119, 120, 121, 150, 180, 1380));
const anyNight = fc
  .tuple(fc.integer({ min: 1080, max: 1439 }), fc.integer({ min: 1, max: 300 }))
  .map(([from, to]) => `${showMinute(from)}-${showMinute(to)}`);
const anyDay = fc
  .tuple(fc.uniqueArray(anyMinute, { minLength: 2, maxLength: 6 }), fc.option(anyNight, { nil: null, freq: 3 }))
  .map(([minutes, night]) => {
    const ends = minutes.toSorted((a, b) => a - b);
    const windows = ends.flatMap((to, index) =>
      index % 2 === 1 ? [`${showMinute(ends[index - 1] ?? 0)}-${index === 1 && to > 1400 ? '24:00' : showMinute(to)}`] : [],
    );
    return night === null ? windows : [...windows, night];
  });
const everyDay = <Day>(day: Day) => Object.fromEntries(weekdays.map((weekday) => [weekday, day])) as Record<Weekday, Day>;
/** Any days, or the hour around each clock change on every day. */
const anyHours = fc.oneof(
  { weight: 9, arbitrary: fc.record(everyDay(anyDay), { requiredKeys: [] }) },
  { weight: 1, arbitrary: fc.constant(everyDay(['00:30-02:30'])) },
);

const anyCase = fc
  .record({
    start: fc.constantFrom(...starts),
    zoned: fc.uniqueArray(fc.constantFrom(...zones), { minLength: 1, maxLength: 3 }),
  })
  .chain(({ start, zoned }) => {
    const anyDate = fc.integer({ min: 0, max: knownDays }).map((day) => new Date(start + day * dayMs).toISOString().slice(0, 10));
    const anyRules = fc.record({
      hours: fc.option(anyHours, { nil: null, freq: 6 }),
      closedOn: fc.array(anyDate, { maxLength: 1 }),
      from: fc.option(anyDate, { nil: null }),
      until: fc.option(anyDate, { nil: null }),
    });
    const anyAt = fc.integer({ min: start, max: start + askedDays * dayMs });
    return fc.record({
      start: fc.constant(start),
      zoned: fc.constant(zoned),
      campaign: fc.record({
        hours: anyHours,
        closedOn: fc.array(anyDate, { maxLength: 1 }),
        from: fc.constant(null),
        until: fc.constant(null),
      }),
      law: fc.array(anyRules, { maxLength: 2 }),
      marginMs: fc.oneof(fc.constant(10 * minuteMs), fc.integer({ min: 0, max: 90 * minuteMs })),
      endsAt: fc.option(anyAt, { nil: null, freq: 2 }),
      instants: fc.array(anyAt, { minLength: 10, maxLength: 30 }),
    });
  });

test('windows are open exactly when every wall clock and every rule say so, around clock changes', () => {
  const seen = { cases: 0, open: 0, waiting: 0, closed: 0 };
  fc.assert(
    fc.property(anyCase, ({ start, zoned, campaign, law, marginMs, endsAt, instants }) => {
      seen.cases += 1;
      const rules = [campaign, ...law];
      const runs = openRuns(rules, zoned, start);
      const calendars = rules.map(calendarOf);
      const known = start + knownDays * dayMs;
      // The edges of the open stretches as well, to the millisecond.
      const edges = runs.flatMap(({ from, to }) => [from - 1, from, to - marginMs - 1, to - marginMs, to - 1, to]);
      const last = start + askedDays * dayMs;
      const asked = [...instants, ...edges].filter((instant) => instant >= start && instant < last);
      // The latest first: what was worked out for a day must not be taken for the days before it.
      for (const at of asked.sort((a, b) => b - a)) {
        const end = endsAt ?? Infinity;
        const lasts = ({ from, to }: Run): boolean => Math.min(to, end) > Math.max(from, at) + marginMs;
        const next = runs.find((run) => run.to > at && lasts(run));
        const state = windowAt({ calendars, zones: zoned, at, marginMs, endsAt });
        const expected =
          next === undefined
            ? { open: false, opensAt: null }
            : next.from <= at
              ? { open: true, closesAt: Math.min(next.to, end) }
              : { open: false, opensAt: next.from };
        seen[expected.open ? 'open' : next === undefined ? 'closed' : 'waiting'] += 1;
        const found = state.open ? { open: true, closesAt: state.closesAt } : { open: false, opensAt: state.opensAt };
        // What lies beyond the days that the oracle knows is not its business.
        const isUnknown = next !== undefined && next.to >= known && Math.min(found.closesAt ?? Infinity, end) >= known;
        if (found.open && isUnknown) found.closesAt = expected.closesAt ?? null;
        if (next === undefined && (found.opensAt ?? 0) > known - marginMs - minuteMs) found.opensAt = null;
        const isEqual = found.open === expected.open && found.closesAt === expected.closesAt && found.opensAt === expected.opensAt;
        if (!isEqual) expect([new Date(at).toISOString(), zoned, found]).toEqual([expected]);
      }
    }),
    { seed: 20_261_101, numRuns: 400, endOnFailure: true },
  );
  expect(seen.cases).toBe(400);
  for (const count of [seen.open, seen.waiting, seen.closed]) expect(count).toBeGreaterThan(500);
});
