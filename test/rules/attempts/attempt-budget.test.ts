import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { budgetAllowsAt, type AttemptBudget } from '../../../src/rules/attempts/attempt-budget.ts';
import { dispositions, type Disposition } from '../../../src/rules/disposition.ts';
import { evaluateEligibility } from '../../../src/rules/attempts/eligibility.ts';
import { afterAttempt } from '../../../src/rules/attempts/retry-schedule.ts';

const dayMs = 86_400_000;
const none: AttemptBudget = { maxAttempts: 3, maxAttemptsPerNumber: null, resetAfterMs: null };

test.each<[string, AttemptBudget, number[], number[], number | null]>([
  ['nothing was used', none, [], [], 100],
  ['all are used', none, [1, 2, 3], [], null],
  ['others to the number do not matter', none, [], [1, 2, 3, 4], 100],
  ['the number has its own', { ...none, maxAttemptsPerNumber: 2 }, [1], [1, 50], null],
  ['the oldest no longer counts', { ...none, resetAfterMs: 50 }, [50, 60, 70], [], 100],
  ['the oldest counts a little longer', { ...none, resetAfterMs: 51 }, [50, 60, 70], [], 101],
  ['more than the limit were used', { ...none, maxAttempts: 1, resetAfterMs: 90 }, [70, 20, 60], [], 160],
  ['nothing counts any more', { maxAttempts: 1, maxAttemptsPerNumber: 1, resetAfterMs: 50 }, [10], [10, 20], 100],
])('%s', (_, budget, byRecipient, byNumber, expected) => {
  expect(budgetAllowsAt(budget, { byRecipient, byNumber }, 100)).toBe(expected);
});

/** Rows, of which some share a number, called until nobody may be called any more, or for long. */
test('no combination of rules, results and renewals exceeds a budget', () => {
  const delay = fc.oneof(
    fc.constant('never' as const),
    fc.array(fc.oneof(fc.integer({ min: 1, max: 2 * dayMs }), fc.constant('next_day' as const)), {
      minLength: 1,
      maxLength: 3,
    }),
  );
  const rules = fc.record({
    maxAttempts: fc.integer({ min: 1, max: 4 }),
    maxAttemptsPerNumber: fc.option(fc.integer({ min: 1, max: 6 })),
    resetAfterMs: fc.option(fc.integer({ min: 60_000, max: 5 * dayMs })),
    maxUncounted: fc.integer({ min: 1, max: 3 }),
    jitterMs: fc.integer({ min: 0, max: dayMs }),
    delays: fc.record({
      busy: delay,
      no_answer: delay,
      unreached: delay,
      voicemail: delay,
      failed: delay,
      unknown: delay,
    }),
  });
  const call = fc.record({
    disposition: fc.constantFrom<Disposition>(...dispositions.filter((word) => word !== 'answered' && word !== 'opted_out')),
    uncounted: fc.boolean(),
    takesMs: fc.integer({ min: 1_000, max: 3_600_000 }),
  });
  fc.assert(
    fc.property(
      rules,
      fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 1, maxLength: 4 }),
      fc.array(call, { maxLength: 60 }),
      (retry, numbers, calls) => {
        const endsAt = 30 * dayMs;
        const rows = numbers.map((number) => ({
          number,
          dueAt: 0,
          done: false,
          used: [] as number[],
          uncountedInARow: 0,
          seen: new Map<string, number>(),
          attempts: 0,
        }));
        const placed: { row: number; number: number; at: number; counts: boolean }[] = [];
        const usedBy = (number: number) => placed.filter((each) => each.number === number && each.counts).map(({ at }) => at);
        for (const { disposition, uncounted, takesMs } of calls) {
          const next = rows.filter(({ done }) => !done).sort((a, b) => a.dueAt - b.dueAt)[0];
          if (next === undefined) break;
          const at = next.dueAt;
          const verdict = evaluateEligibility({
          at, endsAt, calendars: [], zones: [], marginMs: 0, suppressed: false, numberBusy: false, capsAllowAt: at,
          budgetAllowsAt: budgetAllowsAt(retry, { byRecipient: next.used, byNumber: usedBy(next.number) }, at),
          attempted: next.attempts > 0,
        }); // prettier-ignore
          if (verdict.verdict === 'final') {
            next.done = true;
            continue;
          }
          if (verdict.verdict === 'wait') {
            expect(verdict.until).toBeGreaterThan(at);
            next.dueAt = verdict.until;
            continue;
          }
          next.attempts += 1;
          const counted = !(uncounted && disposition === 'failed');
          next.uncountedInARow = counted ? 0 : next.uncountedInARow + 1;
          next.seen.set(disposition, (next.seen.get(disposition) ?? 0) + 1);
          const after = afterAttempt({
            result: { disposition, detail: null, counted },
            countedAttempts: next.used.length + (counted ? 1 : 0),
            uncountedInARow: next.uncountedInARow,
            sameDisposition: next.seen.get(disposition) ?? 0,
            settledAt: at + takesMs,
            zones: ['America/New_York'],
            attemptId: `spring/${next.number}/${next.attempts}`,
            rules: retry,
          });
          placed.push({ row: rows.indexOf(next), number: next.number, at, counts: after.countsAs });
          if (after.countsAs) {
            next.used.push(at);
            next.uncountedInARow = 0;
          }
          if (after.kind === 'final') next.done = true;
          else next.dueAt = after.at;
        }
        const counting = placed.filter(({ counts }) => counts);
        const span = retry.resetAfterMs ?? Infinity;
        for (const { row, number, at } of counting) {
          const within = counting.filter((each) => each.at <= at && each.at > at - span);
          expect(within.filter((each) => each.row === row).length).toBeLessThanOrEqual(retry.maxAttempts);
          expect(within.filter((each) => each.number === number).length).toBeLessThanOrEqual(retry.maxAttemptsPerNumber ?? Infinity);
        }
        for (const [index] of rows.entries()) {
          const own = placed.filter(({ row }) => row === index);
          let inARow = 0;
          for (const { counts } of own) {
            inARow = counts ? 0 : inARow + 1;
            expect(inARow).toBeLessThanOrEqual(retry.maxUncounted);
          }
        }
      },
    ),
    { seed: 11, numRuns: 1_000 },
  );
});
