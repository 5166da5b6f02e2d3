import { expect, test } from 'vitest';
import * as fc from 'fast-check';
import { coarsened } from '../../../src/rules/forecast/coarse.ts';
import { forecast, type ForecastGroup, type ForecastInput } from '../../../src/rules/forecast/forecast.ts';
import { PriorityQueue } from '../../../src/rules/forecast/priority-queue.ts';

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
  startLimits: [],
  caps: [],
};

test.each([null, 12])(
  'a long campaign ends in large steps when it does in small ones, but for a few hundredths: %s starts per minute',
  (startsPerMinute) => {
    const input = { ...many, startLimits: startsPerMinute === null ? [] : [{ most: startsPerMinute, withinMs: minuteMs }] };
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

const byNumber = (left: number, right: number): number => left - right;

test('however items come and go, the first of those inside is given back', () => {
  const step = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constant('pop' as const));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = new PriorityQueue<{ at: number }>((left, right) => left.at - right.at);
      let inside: number[] = [];
      for (const next of [...steps, ...steps.map(() => 'pop' as const)]) {
        if (next === 'pop') {
          inside = inside.toSorted(byNumber);
          expect(queue.pop()?.at).toBe(inside.shift());
        } else {
          queue.push({ at: next });
          inside.push(next);
        }
        expect(queue.size).toBe(inside.length);
        expect(queue.peek()?.at).toBe(inside.length === 0 ? undefined : Math.min(...inside));
      }
    }),
    { seed: 5, numRuns: 300 },
  );
});

test('ten thousand items cost a few comparisons each', () => {
  let comparisons = 0;
  const queue = new PriorityQueue<number>((left, right) => {
    comparisons += 1;
    return left - right;
  });
  for (let item = 0; item < 10_000; item++) queue.push((item * 7919) % 10_000);
  for (let item = 0; item < 10_000; item++) expect(queue.pop()).toBe(item);
  expect(comparisons).toBeLessThan(10_000 * 2 * 14);
  // One that is last already is compared with the one above it, and no further.
  comparisons = 0;
  for (let item = 0; item < 1_000; item++) queue.push(item);
  expect(comparisons).toBeLessThan(1_000);
});
