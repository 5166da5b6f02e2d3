import { expect, test } from 'vitest';
import { coarsened } from '../../../src/domain/forecast/coarse.ts';
import { forecast, type ForecastGroup, type ForecastInput } from '../../../src/domain/forecast/forecast.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** A Monday, 15:00 UTC. */
const monday = Date.UTC(2026, 0, 5, 15);

function group(count: number, changes: Partial<ForecastGroup> = {}): ForecastGroup {
  return { count, calendars: [], zones: ['America/New_York'], notBefore: null, expiresAt: null, ...changes };
}

const many: ForecastInput = {
  groups: [group(60_000), group(3, { notBefore: monday + hourMs }), group(40_000, { notBefore: monday + 2 * hourMs })],
  course: {
    answerRate: 0.4,
    answeredMs: 90_000,
    unansweredMs: 30_000,
    retries: 2,
    retryAt: (_retry, endedAt) => endedAt + hourMs,
  },
  at: monday,
  endsAt: null,
  marginMs: 0,
  linesAt: () => 20,
  startsPerMinute: null,
  caps: [],
};

test.each([null, 12])(
  'a long campaign ends in large steps when it does in small ones, but for a few hundredths: %s starts per minute',
  (startsPerMinute) => {
    const input = { ...many, startsPerMinute };
    const exact = (forecast(input).finishesAt ?? 0) - monday;
    const coarse = coarsened(input);
    expect(Math.abs((forecast(coarse).finishesAt ?? 0) - monday - exact) / exact).toBeLessThan(0.05);
    const people = ({ groups }: ForecastInput): number => groups.reduce((sum, { count }) => sum + count, 0);
    expect(people(coarse)).toBeLessThan(people(input) / 4);
  },
);

test('a short campaign is left as it is', () => {
  const short = { ...many, groups: [group(100)] };
  expect(coarsened(short)).toBe(short);
});

test('those who wait longest are not lost in large steps, however few they are', () => {
  const lastAt = monday + 400 * hourMs;
  const coarse = coarsened({ ...many, groups: [...many.groups, group(1, { notBefore: lastAt })] });
  expect(forecast(coarse).finishesAt).toBeGreaterThan(lastAt);
});

test('attempts that were made already are not made again', () => {
  const course = { ...many.course, answerRate: 0 };
  const calls = (attempts: number): number => forecast({ ...many, course, groups: [group(10, { attempts })] }).calls;
  expect([0, 1, 2].map(calls)).toEqual([30, 20, 10]);
});
