import type { CampaignRules, RetryDelays, RetryDisposition } from '../campaign-rules.ts';
import { acceptedLate, notToldApart, type AttemptResult } from '../disposition.ts';
import type { Outcome } from '../outcome.ts';
import { retryAt } from './retry-delay.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Delays when the campaign file names none. `unknown` waits for an operator: a call may have been placed. */
export const defaultRetryDelays: Readonly<Record<RetryDisposition, RetryDelays>> = {
  busy: [30 * minuteMs],
  no_answer: [2 * hourMs, 'next_day'],
  unreached: [2 * hourMs],
  voicemail: [24 * hourMs],
  failed: [10 * minuteMs],
  unknown: 'never',
};

/** Detail of a call, and reason of a row, that an operator gave up: no further dial for it. */
export const givenUp = 'given_up';

/** A call with a known result, and the history that decides what follows. */
export interface SettledAttempt {
  result: AttemptResult;
  /** Counted attempts, including this one when `result.counted`. */
  countedAttempts: number;
  /** Consecutive uncounted attempts, including this one; 0 when this one counts. */
  uncountedInARow: number;
  /** Attempts with this disposition, including this one. */
  sameDisposition: number;
  /** Service time. */
  settledAt: number;
  zones: readonly string[];
  /** Key of the jitter. */
  attemptId: string;
  /** Earliest instant of another call that the talk asks for; absent or null: none. */
  asksAt?: number | null;
  rules: CampaignRules['retry'];
}

/**
 * `countsAs`: whether the attempt uses budget, which the caller stores. An uncounted attempt counts after more than `maxUncounted` in a
 * row.
 */
export type AfterAttempt =
  { kind: 'final'; outcome: Outcome; reason: string; countsAs: boolean } | { kind: 'retry'; at: number; countsAs: boolean };

/**
 * Decides the recipient's outcome, or the earliest instant of the next attempt; hours, timed budgets, suppression and pacing are checked
 * then.
 */
export function afterAttempt(attempt: SettledAttempt): AfterAttempt {
  const { result, rules } = attempt;
  const overdue = !result.counted && attempt.uncountedInARow > rules.maxUncounted;
  const countsAs = result.counted || overdue;
  const final = (outcome: Outcome, reason: string): AfterAttempt => ({ kind: 'final', outcome, reason, countsAs });

  const { disposition, detail } = result;
  // Final even if the campaign redials `unknown`.
  if (disposition === 'unknown' && (detail === givenUp || detail === notToldApart || detail === acceptedLate))
    return final('unresolved', detail);
  if (disposition === 'answered') {
    // A talk that asks for more calls than the budget has ends the row.
    if (attempt.asksAt == null || isUsedUp(attempt.countedAttempts, rules)) return final('completed', detail ?? 'answered');
    return { kind: 'retry', at: attempt.asksAt, countsAs };
  }
  if (disposition === 'opted_out') return final('opted_out', 'opted_out');
  if (disposition === 'invalid_number') return final('undialable', 'invalid_number');
  const at = retryAt({
    delays: rules.delays[disposition],
    nth: attempt.sameDisposition,
    from: attempt.settledAt,
    zones: attempt.zones,
    jitterMs: rules.jitterMs,
    key: attempt.attemptId,
  });
  if (at === null && disposition === 'unknown') return final('unresolved', 'unknown');
  if (isUsedUp(attempt.countedAttempts + (overdue ? 1 : 0), rules)) return final('exhausted', 'attempts_used_up');
  if (at === null) return final('exhausted', `no_retry_after_${disposition}`);
  return { kind: 'retry', at, countsAs };
}

/** A renewable budget is never used up: the row waits for renewal. */
function isUsedUp(counted: number, { maxAttempts, resetAfterMs }: CampaignRules['retry']): boolean {
  return counted >= maxAttempts && resetAfterMs === null;
}
