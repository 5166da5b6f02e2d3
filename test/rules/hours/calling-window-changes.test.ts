import { expect, test } from 'vitest';
import { readWindow, weeklyHours } from '../../../src/campaign/file/weekly-hours.ts';
import { windowAt, type DatedCalendar } from '../../../src/rules/hours/calling-window.ts';
import { weekdays } from '../../../src/rules/campaign-rules.ts';

/** The same written window on every day. */
function daily(text: string): DatedCalendar {
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
    const state = windowAt({ calendars, zones, at, marginMs: 0, endsAt: null });
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
  ['08:00-21:00', 'America/Phoenix', '2026-03-07', ['03-07 15:00/03-08 04:00']],
  ['08:00-21:00', 'America/Phoenix', '2026-03-08', ['03-08 15:00/03-09 04:00']],
  ['08:00-21:00', 'America/Phoenix', '2026-11-01', ['11-01 15:00/11-02 04:00']],
  ['08:00-21:00', 'Pacific/Honolulu', '2026-03-08', ['03-08 18:00/03-09 07:00']],
  ['08:00-21:00', 'Pacific/Honolulu', '2026-11-01', ['11-01 18:00/11-02 07:00']],
  ['08:00-21:00', 'America/Puerto_Rico', '2026-03-08', ['03-08 12:00/03-09 01:00']],
  ['08:00-21:00', 'America/Puerto_Rico', '2026-11-01', ['11-01 12:00/11-02 01:00']],
  // The part of Arizona that does change.
  ['08:00-21:00', 'America/Denver', '2026-03-08', ['03-08 14:00/03-09 03:00']],
  ['08:00-21:00', 'America/Denver', '2026-11-01', ['11-01 15:00/11-02 04:00']],
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
  ['22:00-04:00', 'Europe/London', '2026-10-24', ['10-24 21:00/10-25 04:00']],
  ['22:00-04:00', 'America/Phoenix', '2026-03-07', ['03-08 05:00/03-08 11:00']],
  // An end inside the hour that is skipped: closed when the clock jumps over it.
  ['22:00-02:30', 'America/New_York', '2026-03-07', ['03-08 03:00/03-08 07:00']],
  // An end inside the hour that comes twice: open until it comes first, and again until it comes the second time.
  ['22:00-01:30', 'America/New_York', '2026-10-31', ['11-01 02:00/11-01 05:30', '11-01 06:00/11-01 06:30']],
  ['23:00-01:30', 'Europe/London', '2026-10-24', ['10-24 22:00/10-25 00:30', '10-25 01:00/10-25 01:30']],
])('%s across midnight in %s around %s is open %j', (written, zone, day, expected) => {
  expect(stretches(written, [zone], day)).toEqual(expected);
});

test('two zones that change on different days are open together by both clocks', () => {
  const zones = ['America/New_York', 'Europe/London'];
  // Five hours apart, four between the two changes of spring, five again.
  expect(stretches('09:00-17:00', zones, '2026-03-06')).toEqual(['03-06 14:00/03-06 17:00']);
  expect(stretches('09:00-17:00', zones, '2026-03-10')).toEqual(['03-10 13:00/03-10 17:00']);
  expect(stretches('09:00-17:00', zones, '2026-03-30')).toEqual(['03-30 13:00/03-30 16:00']);
});

test('Lord Howe moves its clock by half an hour', () => {
  expect(stretches('08:00-21:00', ['Australia/Lord_Howe'], '2026-04-03')).toEqual(['04-03 21:00/04-04 10:00']);
  expect(stretches('08:00-21:00', ['Australia/Lord_Howe'], '2026-04-05')).toEqual(['04-05 21:30/04-06 10:30']);
});

test('holidays of a month are waited for', () => {
  const calendar = daily('09:00-17:00');
  const december = Array.from({ length: 31 }, (_, day) => `2026-12-${String(day + 1).padStart(2, '0')}`);
  const at = Date.parse('2026-12-01T12:00-05:00');
  const asked = { calendars: [{ ...calendar, closedOn: december }], zones: ['America/New_York'], at, marginMs: 0 };
  const opensAt = Date.parse('2027-01-01T09:00-05:00');
  expect(windowAt({ ...asked, endsAt: null })).toEqual({ open: false, reason: 'outside_hours', opensAt });
  expect(windowAt({ ...asked, endsAt: opensAt })).toEqual({ open: false, reason: 'never_opens', opensAt: null });
});
