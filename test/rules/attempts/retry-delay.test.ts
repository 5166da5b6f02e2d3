import * as fc from 'fast-check';
import { DateTime } from 'luxon';
import { expect, test } from 'vitest';
import { retryAt } from '../../../src/rules/attempts/retry-delay.ts';

const hourMs = 3_600_000;
const instant = (text: string): number => Date.parse(text);
const base = {
  nth: 1,
  from: instant('2030-01-15T12:00:00Z'),
  zones: ['America/New_York'],
  jitterMs: 0,
  key: 'spring/1/1',
};

test('the first, second and each further retry have their own delays', () => {
  const delays = [hourMs, 2 * hourMs];
  expect([1, 2, 3, 9].map((nth) => retryAt({ ...base, delays, nth }))).toEqual([1, 2, 2, 2].map((hours) => base.from + hours * hourMs));
  expect(retryAt({ ...base, delays: 'never' })).toBeNull();
  expect(retryAt({ ...base, delays: [] })).toBeNull();
});

test.each([
  ['a winter day', ['America/New_York'], '2030-01-15T12:00:00Z', '2030-01-16T05:00:00Z'],
  ['shortly before midnight there', ['America/New_York'], '2030-01-16T04:59:59Z', '2030-01-16T05:00:00Z'],
  ['midnight there', ['America/New_York'], '2030-01-16T05:00:00Z', '2030-01-17T05:00:00Z'],
  ['the day on which clocks go forward', ['America/New_York'], '2030-03-10T16:00:00Z', '2030-03-11T04:00:00Z'],
  ['the night in which there is no midnight', ['America/Havana'], '2030-03-09T17:00:00Z', '2030-03-10T05:00:00Z'],
  ['the last of several zones', ['America/New_York', 'Pacific/Honolulu'], '2030-01-15T12:00:00Z', '2030-01-16T10:00:00Z'],
  ['zones on both sides of midnight', ['Asia/Tokyo', 'America/New_York'], '2030-01-15T16:00:00Z', '2030-01-16T15:00:00Z'],
  ['no zone', [], '2030-01-15T12:00:00Z', '2030-01-16T12:00:00Z'],
  ['no zone that is known', ['Nowhere/Land'], '2030-01-15T12:00:00Z', '2030-01-16T12:00:00Z'],
])('next_day is the local day after: %s', (_, zones, from, expected) => {
  const at = retryAt({ ...base, delays: ['next_day'], zones, from: instant(from) });
  expect(new Date(at ?? 0).toISOString()).toBe(new Date(expected).toISOString());
});

test('on the next day no zone has the date of the call any more', () => {
  const zone = fc.constantFrom('America/New_York', 'Pacific/Honolulu', 'Australia/Lord_Howe', 'Asia/Kolkata', 'America/Havana');
  fc.assert(
    fc.property(
      fc.integer({ min: instant('2029-01-01T00:00:00Z'), max: instant('2031-01-01T00:00:00Z') }),
      fc.array(zone, { minLength: 1, maxLength: 3 }),
      (from, zones) => {
        const at = retryAt({ ...base, delays: ['next_day'], zones, from }) ?? 0;
        const dateIn = (each: string, ms: number) => DateTime.fromMillis(ms, { zone: each }).toISODate() ?? '';
        for (const each of zones) expect(dateIn(each, at) > dateIn(each, from)).toBe(true);
        expect(zones.some((each) => dateIn(each, at - 1) === dateIn(each, from))).toBe(true);
      },
    ),
    { seed: 5, numRuns: 500 },
  );
});

test('jitter lengthens each delay by its own part of it, and repeats itself', () => {
  const jitterMs = 600_000;
  const lengthened = Array.from({ length: 2_000 }, (_, row) => {
    const key = `spring/${row}/1`;
    const at = retryAt({ ...base, delays: [hourMs], jitterMs, key }) ?? 0;
    expect(retryAt({ ...base, delays: [hourMs], jitterMs, key })).toBe(at);
    return at - base.from - hourMs;
  });
  expect(Math.min(...lengthened)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...lengthened)).toBeLessThanOrEqual(jitterMs);
  const least = Array.from({ length: 20 }, (_, row) => retryAt({ ...base, delays: [hourMs], jitterMs: 1, key: `spring/${row}/1` }));
  expect(new Set(least)).toEqual(new Set([base.from + hourMs, base.from + hourMs + 1]));
  // Every tenth of the range gets its share, give or take a fifth.
  const tenths = Array.from({ length: 10 }, () => 0);
  for (const ms of lengthened) tenths[Math.min(9, Math.floor((ms / (jitterMs + 1)) * 10))]! += 1;
  for (const count of tenths) expect(Math.abs(count - 200)).toBeLessThan(60);
  expect(retryAt({ ...base, delays: ['next_day'], jitterMs, key: 'spring/7/1' })).toBeGreaterThan(instant('2030-01-16T05:00:00Z'));
});
