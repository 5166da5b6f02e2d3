import { expect, test } from 'vitest';
import { readWindow, weeklyHours } from '../../../src/rules/hours/weekly-hours.ts';
import * as callingWindow from '../../../src/rules/hours/calling-window.ts';
import { type DailyWindow, type Weekday, weekdays, type WeeklyHours } from '../../../src/rules/campaign-rules.ts';

/*
 * When windows open and close, to the millisecond, in every zone and around clock changes, is shown by calling-window-oracle.test.ts. Here:
 * why one is closed, and what lies beyond the days that the oracle knows.
 */

/** One calendar with hours and no holidays. */
type Asked = Omit<callingWindow.WindowInput, 'calendars'> & { hours: WeeklyHours | null };

function windowAt({ hours, ...input }: Asked): callingWindow.WindowState {
  return callingWindow.windowAt({ ...input, calendars: [{ hours, closedOn: [] }] });
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

test('days without a gap between them are one window', () => {
  const hours = everyDay(['00:00', '24:00']);
  expect(at('2026-01-15T23:59:00-05:00', { hours, marginMs: dayMs })).toEqual({ open: true, closesAt: null });
  const weekdaysOnly = { fri: [{ from: 0, to: 1440 }], sat: [{ from: 0, to: 60 }] };
  expect(at('2026-01-16T23:00:00-05:00', { hours: weekdaysOnly })).toEqual({
    open: true,
    closesAt: instant('2026-01-17T01:00:00-05:00'),
  });
});

/** The same written window on every day. */
function daily(text: string): callingWindow.DatedCalendar {
  const window = readWindow(text);
  if (window === null) throw new Error(`${text} is no window`);
  return { hours: weeklyHours(Object.fromEntries(weekdays.map((day) => [day, [window]]))), closedOn: [] };
}

test('holidays of a month are waited for', () => {
  const calendar = daily('09:00-17:00');
  const december = Array.from({ length: 31 }, (_, day) => `2026-12-${String(day + 1).padStart(2, '0')}`);
  const at = Date.parse('2026-12-01T12:00-05:00');
  const asked = { calendars: [{ ...calendar, closedOn: december }], zones: ['America/New_York'], at, marginMs: 0 };
  const opensAt = Date.parse('2027-01-01T09:00-05:00');
  expect(callingWindow.windowAt({ ...asked, endsAt: null })).toEqual({ open: false, reason: 'outside_hours', opensAt });
  expect(callingWindow.windowAt({ ...asked, endsAt: opensAt })).toEqual({ open: false, reason: 'never_opens', opensAt: null });
});
