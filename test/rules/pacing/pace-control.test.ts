import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { atPace, cutPace, fullPace, raisePace, type Pace } from '../../../src/rules/pacing/pace-control.ts';

const noon = 1_800_000_000_000;
const fresh: Pace = { pace: fullPace, cutAt: 0 };

test.each<[string, number, number, number]>([
  ['all of it at full pace', 7, 1000, 7],
  ['half of it', 10, 500, 5],
  ['the whole calls of a part', 10, 590, 5],
  ['one call at least', 10, 1, 1],
  ['one call of one', 1, 500, 1],
])('a limit leaves %s', (_, limit, pace, expected) => {
  expect(atPace(limit, pace)).toBe(expected);
});

test('a refusal halves the pace, and the same one told again within the minute does not', () => {
  const cut = cutPace(fresh, { limit: 20, now: noon });
  expect(cut).toEqual({ pace: 500, cutAt: noon });
  expect(cutPace(cut, { limit: 20, now: noon })).toEqual(cut);
  expect(cutPace(cut, { limit: 20, now: noon + 59_999 })).toEqual(cut);
  expect(cutPace(cut, { limit: 20, now: noon + 60_000 })).toEqual({ pace: 250, cutAt: noon + 60_000 });
});

test('a cut that lies in the future, since the service began its time anew, does not hold up the next', () => {
  expect(cutPace({ pace: 500, cutAt: noon }, { limit: 20, now: noon - 1 })).toEqual({ pace: 250, cutAt: noon - 1 });
});

test('below one line nothing is cut, and a campaign with few lines does not raise the pace of one with many', () => {
  expect(cutPace({ pace: 400, cutAt: 0 }, { limit: 3, now: noon }).pace).toBe(334);
  expect(cutPace({ pace: 100, cutAt: 0 }, { limit: 3, now: noon }).pace).toBe(100);
});

test('as many accepted calls as there are lines raise the pace by a fifth, in however many batches', () => {
  expect(raisePace({ pace: 500, cutAt: noon }, { limit: 20, calls: 10 })).toEqual({ pace: 700, cutAt: noon });
  expect(raisePace({ pace: 500, cutAt: noon }, { limit: 20, calls: 5 }).pace).toBe(600);
  expect(raisePace({ pace: 500, cutAt: noon }, { limit: 20, calls: 1_000 }).pace).toBe(700);
  expect(raisePace({ pace: 990, cutAt: noon }, { limit: 20, calls: 20 }).pace).toBe(fullPace);
  expect(raisePace({ pace: 500, cutAt: noon }, { limit: 100_000, calls: 1 }).pace).toBe(501);
});

interface Step {
  limited: boolean;
  limit: number;
  calls: number;
  afterMs: number;
}
const step: fc.Arbitrary<Step> = fc.record({
  limited: fc.boolean(),
  limit: fc.integer({ min: 1, max: 100_000 }),
  calls: fc.integer({ min: 1, max: 1_000 }),
  afterMs: fc.integer({ min: 0, max: 200_000 }),
});

test('whatever the service answers, the pace stays within its bounds, falls only on refusals and rises only on acceptance', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let pace = fresh;
      let now = noon;
      let lastCut = -Infinity;
      for (const { limited, limit, calls, afterMs } of steps) {
        now += afterMs;
        const next = limited ? cutPace(pace, { limit, now }) : raisePace(pace, { limit, calls });
        expect(Number.isInteger(next.pace)).toBe(true);
        expect(next.pace).toBeGreaterThan(0);
        expect(next.pace).toBeLessThanOrEqual(fullPace);
        expect(atPace(limit, next.pace)).toBeGreaterThanOrEqual(1);
        expect(atPace(limit, next.pace)).toBeLessThanOrEqual(limit);
        if (limited) expect(next.pace).toBeLessThanOrEqual(pace.pace);
        else if (pace.pace < fullPace) expect(next.pace).toBeGreaterThan(pace.pace);
        if (next.pace < pace.pace) {
          expect(now - lastCut).toBeGreaterThanOrEqual(60_000);
          expect(next.pace).toBeGreaterThanOrEqual(Math.floor(pace.pace / 2));
          lastCut = now;
        }
        pace = next;
      }
    }),
    { seed: 1, numRuns: 1_000 },
  );
});

test('from the lowest pace on, full batches lead back to all lines in twenty rounds', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2_000 }), (limit) => {
      let pace: Pace = { pace: Math.ceil(fullPace / limit), cutAt: noon };
      for (let round = 0; round < 20; round += 1) {
        pace = raisePace(pace, { limit, calls: atPace(limit, pace.pace) });
      }
      expect(pace.pace).toBe(fullPace);
    }),
    { seed: 2, numRuns: 500 },
  );
});
