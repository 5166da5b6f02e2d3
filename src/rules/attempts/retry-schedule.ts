import type { CampaignRules, RetryDelays, RetryDisposition } from '../campaign-rules.ts';
import { acceptedLate, notToldApart, type AttemptResult } from '../disposition.ts';
import type { Outcome } from '../outcome.ts';
import { retryAt } from './retry-delay.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Delays of a campaign file that names none. `unknown` waits for a person: a call may have been placed. */
export const defaultRetryDelays: Readonly<Record<RetryDisposition, RetryDelays>> = {
  busy: [30 * minuteMs],
  no_answer: [2 * hourMs, 'next_day'],
  unreached: [2 * hourMs],
  voicemail: [24 * hourMs],
  failed: [10 * minuteMs],
  unknown: 'never',
};

/** Detail of a call, and reason of a row, on which a person has given up: nobody is dialled for it again. */
export const givenUp = 'given_up';

/** A call whose result is known, and the history that decides what follows. */
export interface SettledAttempt {
  result: AttemptResult;
  /** Counted attempts of the recipient, this one included when `result.counted`. */
  countedAttempts: number;
  /** Uncounted attempts in a row up to this one, this one included; 0 when this one counts. */
  uncountedInARow: number;
  /** Attempts of the recipient that ended with this disposition, this one included. */
  sameDisposition: number;
  /** Service time at which the attempt was settled. */
  settledAt: number;
  /** Zones in which the recipient may be. */
  zones: readonly string[];
  /** Names the attempt, so that its jitter is its own. */
  attemptId: string;
  /** The talk asks for another call, not before this instant; absent or null: it does not. */
  asksAt?: number | null;
  rules: CampaignRules['retry'];
}

/**
 * `countsAs`: whether the attempt uses up the budget after all. An uncounted attempt counts once more than `maxUncounted`
 * came in a row; the caller stores it so.
 */
export type AfterAttempt =
  { kind: 'final'; outcome: Outcome; reason: string; countsAs: boolean } | { kind: 'retry'; at: number; countsAs: boolean };

/**
 * What follows a settled attempt: the recipient's outcome, or the earliest instant of the next attempt (calling hours,
 * budgets over time, suppression and pacing are checked when it comes).
 */
export function afterAttempt(attempt: SettledAttempt): AfterAttempt {
  const { result, rules } = attempt;
  const overdue = !result.counted && attempt.uncountedInARow > rules.maxUncounted;
  const countsAs = result.counted || overdue;
  const final = (outcome: Outcome, reason: string): AfterAttempt => ({ kind: 'final', outcome, reason, countsAs });

  const { disposition, detail } = result;
  // Whatever is done about unknown calls otherwise, such a one is over.
  if (disposition === 'unknown' && (detail === givenUp || detail === notToldApart || detail === acceptedLate))
    return final('unresolved', detail);
  if (disposition === 'answered') {
    // One that asks for more calls than the budget has is over.
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

/** With a budget that is renewed they wait for that. */
function isUsedUp(counted: number, { maxAttempts, resetAfterMs }: CampaignRules['retry']): boolean {
  return counted >= maxAttempts && resetAfterMs === null;
}
