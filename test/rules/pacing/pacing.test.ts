import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { breakerOpens } from '../../../src/rules/pacing/breaker.ts';
import { atPace, cutPace, fullPace, type Pace, raisePace } from '../../../src/rules/pacing/pace-control.ts';
import { type PacingInput, refillAt, slotsToFill, warmUpLines } from '../../../src/rules/pacing/pacing.ts';

const idle: PacingInput = {
  open: 0,
  maxConcurrentCalls: 100,
  refillThreshold: 20,
  batchSize: 20,
  startedInLastMinute: 0,
  startsPerMinute: null,
  due: 1_000,
  nothingElseComing: false,
};

test.each<[string, Partial<PacingInput>, number]>([
  ['a full batch when nothing is open', {}, 20],
  ['a batch when exactly the threshold is free', { open: 80 }, 20],
  ['the free slots when they are fewer than a batch', { open: 90, refillThreshold: 10 }, 10],
  ['nothing when nothing is due', { due: 0, nothingElseComing: true }, 0],
  ['the last few when nothing else is coming', { open: 95, due: 5, nothingElseComing: true }, 5],
  ['nothing yet when the last ones do not fit', { open: 95, due: 6, nothingElseComing: true }, 0],
  ['nothing yet when more may become due', { open: 95, due: 5 }, 0],
  ['the starts left in this minute', { startsPerMinute: 30, startedInLastMinute: 25 }, 5],
])('plans %s', (_, input, expected) => {
  expect(slotsToFill({ ...idle, ...input })).toBe(expected);
});

test('no limit is ever exceeded, and what is due is never left for ever', () => {
  const count = fc.integer({ min: 0, max: 50 });
  const limit = fc.integer({ min: 1, max: 50 });
  const anyInput = fc.record({
    open: count,
    maxConcurrentCalls: limit,
    refillThreshold: limit,
    batchSize: limit,
    startedInLastMinute: count,
    startsPerMinute: fc.option(limit),
    due: count,
    nothingElseComing: fc.boolean(),
  });
  fc.assert(
    fc.property(anyInput, (input) => {
      const planned = slotsToFill(input);
      expect(planned).toBeGreaterThanOrEqual(0);
      expect(planned).toBeLessThanOrEqual(input.batchSize);
      expect(planned).toBeLessThanOrEqual(input.due);
      if (planned > 0) expect(input.open + planned).toBeLessThanOrEqual(input.maxConcurrentCalls);
      if (planned > 0 && input.startsPerMinute !== null) {
        expect(input.startedInLastMinute + planned).toBeLessThanOrEqual(input.startsPerMinute);
      }
      if (input.due > 0) expect(slotsToFill({ ...input, open: 0, startedInLastMinute: 0 })).toBeGreaterThan(0);
    }),
    { seed: 1, numRuns: 2_000 },
  );
});

test.each<[string, number, number, number]>([
  ['a tenth at first', 20, 0, 2],
  ['one at least', 3, 0, 1],
  ['evenly more', 20, 30 * 60_000, 11],
  ['all but one just before the end', 20, 60 * 60_000 - 1, 19],
])('a warm-up of an hour allows %s', (_, lines, sinceMs, expected) => {
  expect(warmUpLines({ lines, warmUpMs: 60 * 60_000, sinceMs })).toBe(expected);
});

test('without a warm-up all lines are allowed at once', () => {
  expect(warmUpLines({ lines: 20, warmUpMs: 0, sinceMs: 0 })).toBe(20);
});

test('a warm-up never allows more than all lines, nor less than before', () => {
  const time = fc.integer({ min: 0, max: 10_000_000 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), time, time, time, (lines, warmUpMs, sinceMs, moreMs) => {
      const allowed = warmUpLines({ lines, warmUpMs, sinceMs });
      expect(allowed).toBeGreaterThanOrEqual(1);
      expect(allowed).toBeLessThanOrEqual(lines);
      expect(warmUpLines({ lines, warmUpMs, sinceMs: sinceMs + moreMs })).toBeGreaterThanOrEqual(allowed);
    }),
    { seed: 1, numRuns: 1_000 },
  );
});

test.each<[string, number, number]>([
  ['smaller with fewer lines', 50, 10],
  ['rounded up', 12, 3],
  ['one at least', 0, 1],
])('the threshold of a refill is %s', (_, allowed, expected) => {
  expect(refillAt({ refillThreshold: 20, lines: 100, allowed })).toBe(expected);
});

const rules = { failureShare: 0.5, windowMs: 30 * 60_000, minCalls: 20, coolDownMs: null };
const lost = { batches: 0, calls: 0 };

test.each([
  [20, { failed: 9 }, false],
  [20, { failed: 10 }, true],
  [20, { failed: 5, invalid_number: 3, unknown: 2 }, true],
])('of %i calls %o: opens %s', (ended, failed, opens) => {
  expect(breakerOpens(rules, { ended, failed, lost }) !== null).toBe(opens);
});

test.each([
  ['two, and nothing else', { ended: 40, unknown: 40, batches: 2 }, false],
  ['three, and as many calls that went well', { ended: 40, unknown: 20, batches: 3 }, true],
  ['three among many that went well', { ended: 41, unknown: 20, batches: 3 }, false],
])('lost answers count from the third on: %s', (_, { ended, unknown, batches }, opens) => {
  const recent = { ended, failed: { unknown }, lost: { batches, calls: unknown } };
  expect(breakerOpens(rules, recent) !== null).toBe(opens);
});

test('a lost answer neither hides nor makes up for other failures', () => {
  const beside = { batches: 1, calls: 11 };
  const recent = { ended: 31, failed: { failed: 10, unknown: 11 }, lost: beside };
  expect(breakerOpens(rules, recent)).toMatch(/^10 of the 20 calls .* failed \(10 failed\)/);
  expect(breakerOpens(rules, { ...recent, failed: { failed: 9, unknown: 11 } })).toBeNull();
  expect(breakerOpens(rules, { ...recent, ended: 30 })).toBeNull();
});

test('it tells its evidence', () => {
  const failed = { failed: 9, invalid_number: 3 };
  expect(breakerOpens(rules, { ended: 22, failed, lost })).toBe(
    '12 of the 22 calls that ended in the last 30 min failed (9 failed, 3 invalid_number), and breaker.failure_share is 50%',
  );
  const third = { ...rules, failureShare: 0.125, minCalls: 1, windowMs: 3_600_000 };
  expect(breakerOpens(third, { ended: 8, failed: { unknown: 1 }, lost })).toBe(
    '1 of the 8 calls that ended in the last 60 min failed (1 unknown), and breaker.failure_share is 12.5%',
  );
});

const noon = 1_800_000_000_000;
const fresh: Pace = { pace: fullPace, cutAt: 0 };

test.each<[string, number, number, number]>([
  ['the whole calls of a part', 10, 590, 5],
  ['one call at least', 10, 1, 1],
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
