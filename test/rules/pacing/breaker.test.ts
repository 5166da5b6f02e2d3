import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { breakerOpens } from '../../../src/rules/pacing/breaker.ts';

const rules = { failureShare: 0.5, windowMs: 30 * 60_000, minCalls: 20, coolDownMs: null };
const lost = { batches: 0, calls: 0 };

test.each([
  [19, { failed: 19 }, false],
  [20, { failed: 9 }, false],
  [20, { failed: 10 }, true],
  [20, { failed: 5, invalid_number: 3, unknown: 2 }, true],
  [20, { failed: 5, invalid_number: 3, unknown: 1 }, false],
  [0, {}, false],
])('of %i calls %o: opens %s', (ended, failed, opens) => {
  expect(breakerOpens(rules, { ended, failed, lost }) !== null).toBe(opens);
});

test.each([
  ['one batch of eleven, beside nine calls that went well', { ended: 20, unknown: 11, batches: 1 }, false],
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

test('more failures never close it, and more other calls never open it', () => {
  const share = fc.double({ min: 0.001, max: 1, noNaN: true });
  fc.assert(
    fc.property(share, fc.integer({ min: 1, max: 50 }), fc.nat(100), fc.nat(100), (failureShare, minCalls, failed, others) => {
      const opens = (bad: number, good: number) =>
        breakerOpens({ ...rules, failureShare, minCalls }, { ended: bad + good, failed: { failed: bad }, lost }) !== null;
      if (opens(failed, others)) expect(opens(failed + 1, others)).toBe(true);
      if (!opens(failed, others) && failed + others >= minCalls) expect(opens(failed, others + 1)).toBe(false);
      if (opens(failed, others)) expect(failed).toBeGreaterThanOrEqual(failureShare * (failed + others));
    }),
    { seed: 3, numRuns: 2_000 },
  );
});
