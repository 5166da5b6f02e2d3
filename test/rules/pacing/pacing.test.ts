import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { refillAt, slotsToFill, warmUpLines, type PacingInput } from '../../../src/rules/pacing/pacing.ts';

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
  ['nothing when one slot less is free', { open: 81 }, 0],
  ['nothing when all slots are taken', { open: 100 }, 0],
  ['nothing when more calls are open than allowed', { open: 130, refillThreshold: 0 }, 0],
  ['the free slots when they are fewer than a batch', { open: 90, refillThreshold: 10 }, 10],
  ['what is due', { due: 7 }, 7],
  ['nothing when nothing is due', { due: 0, nothingElseComing: true }, 0],
  ['the last few when nothing else is coming', { open: 95, due: 5, nothingElseComing: true }, 5],
  ['nothing yet when the last ones do not fit', { open: 95, due: 6, nothingElseComing: true }, 0],
  ['nothing yet when more may become due', { open: 95, due: 5 }, 0],
  ['one call of a single line', { maxConcurrentCalls: 1 }, 1],
  ['nothing on a single line that is busy', { maxConcurrentCalls: 1, open: 1 }, 0],
  ['the starts left in this minute', { startsPerMinute: 30, startedInLastMinute: 25 }, 5],
  ['nothing when the minute is used up', { startsPerMinute: 30, startedInLastMinute: 30 }, 0],
  ['nothing when more were started than allowed', { startsPerMinute: 30, startedInLastMinute: 40 }, 0],
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
  ['all at the end', 20, 60 * 60_000, 20],
  ['all from then on', 20, 90 * 60_000, 20],
  ['a tenth before the beginning', 20, -5, 2],
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
  ['as it is while all lines may be used', 100, 20],
  ['smaller with fewer lines', 50, 10],
  ['rounded up', 12, 3],
  ['one at least', 0, 1],
])('the threshold of a refill is %s', (_, allowed, expected) => {
  expect(refillAt({ refillThreshold: 20, lines: 100, allowed })).toBe(expected);
});
