import { expect, test } from 'vitest';
import { localHour } from '../../../src/domain/hours/local-hour.ts';

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
  expect(localHour(Date.parse(instant), zone)).toBe(hour);
});

test('the hour that clocks show twice is the same hour both times', () => {
  expect(localHour(Date.parse('2026-11-01T05:30:00Z'), 'America/New_York')).toBe(1);
  expect(localHour(Date.parse('2026-11-01T06:30:00Z'), 'America/New_York')).toBe(1);
});

test('a zone that does not exist has no hour', () => {
  expect(localHour(0, 'America/Atlantis')).toBeNull();
});
