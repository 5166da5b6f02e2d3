import { expect, test } from 'vitest';
import { localTime } from '../../../src/rules/hours/local-time.ts';

test.each([
  ['2026-01-15T04:59:59.999Z', 'America/New_York', 23],
  ['2026-01-15T05:00:00Z', 'America/New_York', 0],
  ['2026-07-15T04:00:00Z', 'America/New_York', 0],
  ['2026-01-15T18:29:59Z', 'Asia/Kolkata', 23],
  ['2026-01-15T18:30:00Z', 'Asia/Kolkata', 0],
  ['2026-01-15T23:00:00Z', 'UTC', 23],
  // Before 1970 too.
  ['1969-12-31T23:00:00Z', 'UTC', 23],
  ['1969-12-31T20:00:00Z', 'America/New_York', 15],
])('at %s a clock in %s shows hour %i', (instant, zone, hour) => {
  expect(localTime(Date.parse(instant), zone)?.hour).toBe(hour);
});

test('the hour that clocks show twice is the same hour both times', () => {
  expect(localTime(Date.parse('2026-11-01T05:30:00Z'), 'America/New_York')?.hour).toBe(1);
  expect(localTime(Date.parse('2026-11-01T06:30:00Z'), 'America/New_York')?.hour).toBe(1);
});

test.each([
  ['2026-11-22T12:00:00Z', 'UTC', { weekday: 6, date: '2026-11-22' }],
  ['2026-11-23T04:59:59Z', 'America/New_York', { weekday: 6, date: '2026-11-22' }],
  ['2026-11-23T05:00:00Z', 'America/New_York', { weekday: 0, date: '2026-11-23' }],
  ['2026-11-22T18:30:00Z', 'Asia/Kolkata', { weekday: 0, date: '2026-11-23' }],
  ['1969-12-28T12:00:00Z', 'UTC', { weekday: 6, date: '1969-12-28' }],
])('at %s a calendar in %s shows %j', (instant, zone, day) => {
  expect(localTime(Date.parse(instant), zone)).toMatchObject(day);
});

test('a zone that does not exist has no time', () => {
  expect(localTime(0, 'America/Atlantis')).toBeNull();
});
