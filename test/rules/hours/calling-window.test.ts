import { expect, test } from 'vitest';
import { readWindow, weeklyHours } from '../../../src/rules/hours/weekly-hours.ts';
import * as callingWindow from '../../../src/rules/hours/calling-window.ts';
import { type DailyWindow, type Weekday, weekdays, type WeeklyHours } from '../../../src/rules/campaign-rules.ts';

/** One calendar with hours and no holidays, unless a test brings its own. */
type Asked = Omit<callingWindow.WindowInput, 'calendars'> & {
  hours: WeeklyHours | null;
  closedOn?: string[];
  more?: callingWindow.DatedCalendar[];
};

const calendars = new WeakMap<object, Map<string, callingWindow.DatedCalendar>>();

/** The same object for the same hours and days, as a campaign has it: what is worked out for a calendar is kept with it. */
function calendarOf(hours: WeeklyHours | null, closedOn: string[]): callingWindow.DatedCalendar {
  const ofHours = calendars.get(hours ?? calendars) ?? new Map<string, callingWindow.DatedCalendar>();
  const calendar = ofHours.get(closedOn.join()) ?? { hours, closedOn };
  calendars.set(hours ?? calendars, ofHours.set(closedOn.join(), calendar));
  return calendar;
}

function windowAt({ hours, closedOn = [], more = [], ...input }: Asked): callingWindow.WindowState {
  return callingWindow.windowAt({ ...input, calendars: [calendarOf(hours, closedOn), ...more] });
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

function instant(text: string): number {
  return Date.parse(text);
}

function everyDay(...windows: [from: string, to: string][]): Record<Weekday, DailyWindow[]> {
  const window = windows.map(([from, to]) => ({ from: minuteOf(from), to: minuteOf(to) }));
  return { mon: window, tue: window, wed: window, thu: window, fri: window, sat: window, sun: window };
}

function minuteOf(text: string): number {
  const [hour, minute] = text.split(':').map(Number);
  return (hour ?? 0) * 60 + (minute ?? 0);
}

const newYork: Asked = {
  hours: everyDay(['09:00', '20:00']),
  zones: ['America/New_York'],
  at: 0,
  marginMs: 0,
  endsAt: null,
};

function at(text: string, input: Partial<Asked> = {}) {
  return windowAt({ ...newYork, at: instant(text), ...input });
}

test('a window opens and closes to the millisecond', () => {
  const opensAt = instant('2026-01-15T09:00:00-05:00');
  const closesAt = instant('2026-01-15T20:00:00-05:00');
  expect(windowAt({ ...newYork, at: opensAt - 1 })).toEqual({ open: false, reason: 'outside_hours', opensAt });
  expect(windowAt({ ...newYork, at: opensAt })).toEqual({ open: true, closesAt });
  expect(windowAt({ ...newYork, at: closesAt - 1 })).toEqual({ open: true, closesAt });
  expect(windowAt({ ...newYork, at: closesAt })).toEqual({
    open: false,
    reason: 'outside_hours',
    opensAt: instant('2026-01-16T09:00:00-05:00'),
  });
});

test('a margin longer than any window never finds one open', () => {
  const hours = everyDay(['09:00', '09:10']);
  expect(at('2026-01-15T12:00:00Z', { hours, marginMs: 10 * minuteMs })).toEqual({
    open: false,
    reason: 'never_opens',
    opensAt: null,
  });
  expect(at('2026-01-15T12:00:00Z', { hours, marginMs: 10 * minuteMs - 1 })).toMatchObject({
    opensAt: instant('2026-01-15T09:00:00-05:00'),
  });
});

test('every zone of a number must be open', () => {
  const zones = ['America/New_York', 'America/Los_Angeles'];
  const opensAt = instant('2026-01-15T09:00:00-08:00');
  const closesAt = instant('2026-01-15T20:00:00-05:00');
  expect(windowAt({ ...newYork, zones, at: opensAt - 1 })).toEqual({ open: false, reason: 'outside_hours', opensAt });
  expect(windowAt({ ...newYork, zones, at: opensAt })).toEqual({ open: true, closesAt });
  expect(windowAt({ ...newYork, zones, at: closesAt })).toMatchObject({ open: false, opensAt: opensAt + dayMs });
  expect(windowAt({ ...newYork, zones: zones.toReversed(), at: opensAt })).toEqual({ open: true, closesAt });
});

test.each([[[]], [['']], [['America/Atlantis']], [['America/New_York', 'Nowhere']], [['+05:00']]])(
  'with hours set, zones %o are never dialled',
  (zones) => {
    const unknown = { open: false, reason: 'unknown_zone', opensAt: null };
    expect(at('2026-01-15T17:00:00Z', { zones })).toEqual(unknown);
    expect(at('2026-01-15T17:00:00Z', { zones, hours: null })).toEqual({ open: true, closesAt: null });
  },
);

test('zones that come to be open together through a clock change are looked for 45 days ahead', () => {
  // New York is three hours ahead of Phoenix in summer and two in winter; the summer ends on 1 November.
  const zones = ['America/New_York', 'America/Phoenix'];
  const hours = everyDay(['09:00', '11:30']);
  const opensAt = instant('2026-11-01T09:00:00-07:00');
  const input = { ...newYork, hours, zones };
  const horizonMs = 45 * dayMs;
  expect(windowAt({ ...input, at: opensAt - horizonMs })).toEqual({ open: false, reason: 'outside_hours', opensAt });
  expect(windowAt({ ...input, at: opensAt - horizonMs - 1 })).toMatchObject({ reason: 'never_opens', opensAt: null });
});

test('without hours only the campaign end closes', () => {
  const endsAt = instant('2026-01-15T17:00:00Z');
  const closed = { open: false, reason: 'never_opens', opensAt: null };
  const input = { ...newYork, hours: null, endsAt, marginMs: 5_000 };
  expect(windowAt({ ...input, at: endsAt - 5_001 })).toEqual({ open: true, closesAt: endsAt });
  expect(windowAt({ ...input, at: endsAt - 5_000 })).toEqual(closed);
});

test('a window that opens after the campaign end never opens', () => {
  const opensAt = instant('2026-01-16T09:00:00-05:00');
  const night = '2026-01-15T23:00:00-05:00';
  expect(at(night, { endsAt: opensAt + 1 })).toMatchObject({ reason: 'outside_hours', opensAt });
  expect(at(night, { endsAt: opensAt })).toEqual({ open: false, reason: 'never_opens', opensAt: null });
  expect(at(night, { endsAt: opensAt + 60_000, marginMs: 60_000 })).toMatchObject({ reason: 'never_opens' });
  const noon = '2026-01-15T12:00:00-05:00';
  expect(at(noon, { endsAt: instant(noon) + 1_000 })).toEqual({ open: true, closesAt: instant(noon) + 1_000 });
});

test('a weekday that is missing is closed', () => {
  const hours = { mon: [{ from: 540, to: 1200 }] };
  const monday = instant('2026-01-19T09:00:00-05:00');
  expect(at('2026-01-15T12:00:00-05:00', { hours })).toMatchObject({ open: false, opensAt: monday });
  expect(windowAt({ ...newYork, hours, at: monday })).toMatchObject({ open: true });
  expect(at('2026-01-15T12:00:00-05:00', { hours: {} })).toMatchObject({ reason: 'never_opens' });
});

test('days without a gap between them are one window', () => {
  const hours = everyDay(['00:00', '24:00']);
  expect(at('2026-01-15T23:59:00-05:00', { hours, marginMs: dayMs })).toEqual({ open: true, closesAt: null });
  const weekdaysOnly = { fri: [{ from: 0, to: 1440 }], sat: [{ from: 0, to: 60 }] };
  expect(at('2026-01-16T23:00:00-05:00', { hours: weekdaysOnly })).toEqual({
    open: true,
    closesAt: instant('2026-01-17T01:00:00-05:00'),
  });
});

test('an hour that the clock skips is never open, and one that comes twice is open twice', () => {
  const night = { hours: everyDay(['02:00', '03:00']) };
  expect(at('2026-03-07T12:00:00-05:00', night)).toMatchObject({ opensAt: instant('2026-03-09T02:00:00-04:00') });
  const half = { hours: everyDay(['01:30', '03:00']) };
  const backAt = instant('2026-11-01T02:00:00-04:00');
  expect(at('2026-11-01T01:30:00-04:00', half)).toEqual({ open: true, closesAt: backAt });
  expect(windowAt({ ...newYork, ...half, at: backAt })).toMatchObject({
    open: false,
    opensAt: instant('2026-11-01T01:30:00-05:00'),
  });
});

test('a holiday is closed from midnight to midnight of each zone', () => {
  const hours = everyDay(['00:00', '24:00']);
  const eve = instant('2026-12-25T00:00:00-05:00');
  const after = instant('2026-12-26T00:00:00-08:00');
  const closedOn = ['2026-12-25'];
  const zones = ['America/New_York', 'America/Los_Angeles'];
  expect(windowAt({ ...newYork, hours, closedOn, zones, at: eve - 1 })).toEqual({ open: true, closesAt: eve });
  expect(windowAt({ ...newYork, hours, closedOn, zones, at: eve })).toMatchObject({ open: false, opensAt: after });
  // A calendar that has nothing but holidays closes on those alone.
  expect(windowAt({ ...newYork, hours: null, closedOn, at: eve })).toMatchObject({ open: false });
  expect(windowAt({ ...newYork, hours: null, closedOn, at: eve - 1 })).toMatchObject({ open: true });
});

/** The same written window on every day. */
function daily(text: string): callingWindow.DatedCalendar {
  const window = readWindow(text);
  if (window === null) throw new Error(`${text} is no window`);
  return { hours: weeklyHours(Object.fromEntries(weekdays.map((day) => [day, [window]]))), closedOn: [] };
}

/** The open stretches from noon UTC of one day to noon of the next, `from/to` in UTC. */
function stretches(written: string, zones: readonly string[], day: string): string[] {
  const calendars = [daily(written)];
  const found: string[] = [];
  const until = Date.parse(`${day}T12:00Z`) + 24 * 3_600_000;
  for (let at = Date.parse(`${day}T12:00Z`); at < until;) {
    const state = callingWindow.windowAt({ calendars, zones, at, marginMs: 0, endsAt: null });
    if (!state.open) {
      at = state.opensAt ?? until;
      continue;
    }
    const closesAt = state.closesAt ?? until;
    found.push(`${show(at)}/${show(closesAt)}`);
    at = closesAt;
  }
  return found;
}

function show(at: number): string {
  return new Date(at).toISOString().slice(5, 16).replace('T', ' ');
}

// Clocks go forward on 8 March and back on 1 November 2026 in the US, on 29 March and 25 October in the United Kingdom.

test.each([
  // The legal day in New York is an hour earlier in UTC from the change on.
  ['08:00-21:00', 'America/New_York', '2026-03-07', ['03-07 13:00/03-08 02:00']],
  ['08:00-21:00', 'America/New_York', '2026-03-08', ['03-08 12:00/03-09 01:00']],
  ['08:00-21:00', 'America/New_York', '2026-10-31', ['10-31 12:00/11-01 01:00']],
  ['08:00-21:00', 'America/New_York', '2026-11-01', ['11-01 13:00/11-02 02:00']],
  // Arizona, Hawaii and Puerto Rico keep theirs on all four days.
  ['08:00-21:00', 'America/Phoenix', '2026-03-08', ['03-08 15:00/03-09 04:00']],
  // The part of Arizona that does change.
  ['08:00-21:00', 'America/Denver', '2026-03-08', ['03-08 14:00/03-09 03:00']],
  ['08:00-21:00', 'Europe/London', '2026-03-29', ['03-29 12:00/03-29 20:00', '03-30 07:00/03-30 20:00']],
  ['08:00-21:00', 'Europe/London', '2026-10-24', ['10-24 12:00/10-24 20:00', '10-25 08:00/10-25 21:00']],
])('%s in %s around %s is open %j', (written, zone, day, expected) => {
  expect(stretches(written, [zone], day)).toEqual(expected);
});

test.each([
  // 22:00 to 04:00 lasts five hours in the night in which two o'clock does not come …
  ['22:00-04:00', 'America/New_York', '2026-03-07', ['03-08 03:00/03-08 08:00']],
  // … and seven in the one in which it comes twice.
  ['22:00-04:00', 'America/New_York', '2026-10-31', ['11-01 02:00/11-01 09:00']],
  ['22:00-04:00', 'America/New_York', '2026-03-08', ['03-09 02:00/03-09 08:00']],
  ['22:00-04:00', 'Europe/London', '2026-03-28', ['03-28 22:00/03-29 03:00']],
  // An end inside the hour that is skipped: closed when the clock jumps over it.
  ['22:00-02:30', 'America/New_York', '2026-03-07', ['03-08 03:00/03-08 07:00']],
  // An end inside the hour that comes twice: open until it comes first, and again until it comes the second time.
  ['22:00-01:30', 'America/New_York', '2026-10-31', ['11-01 02:00/11-01 05:30', '11-01 06:00/11-01 06:30']],
])('%s across midnight in %s around %s is open %j', (written, zone, day, expected) => {
  expect(stretches(written, [zone], day)).toEqual(expected);
});

test('holidays of a month are waited for', () => {
  const calendar = daily('09:00-17:00');
  const december = Array.from({ length: 31 }, (_, day) => `2026-12-${String(day + 1).padStart(2, '0')}`);
  const at = Date.parse('2026-12-01T12:00-05:00');
  const asked = { calendars: [{ ...calendar, closedOn: december }], zones: ['America/New_York'], at, marginMs: 0 };
  const opensAt = Date.parse('2027-01-01T09:00-05:00');
  expect(callingWindow.windowAt({ ...asked, endsAt: null })).toEqual({ open: false, reason: 'outside_hours', opensAt });
  expect(callingWindow.windowAt({ ...asked, endsAt: opensAt })).toEqual({ open: false, reason: 'never_opens', opensAt: null });
});
