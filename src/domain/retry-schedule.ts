import type { CampaignRules, RetryDelays, RetryDisposition } from './campaign-rules.ts';
import type { AttemptResult } from './disposition.ts';
import type { Outcome } from './outcome.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Delays of a campaign file that names none. `unknown` waits for a person: a call may have been placed. */
export const defaultRetryDelays: Readonly<Record<RetryDisposition, RetryDelays>> = {
  busy: [30 * minuteMs],
  no_answer: [2 * hourMs, 24 * hourMs],
  unreached: [2 * hourMs],
  voicemail: [24 * hourMs],
  failed: [10 * minuteMs],
  unknown: 'never',
};

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
  rules: CampaignRules['retry'];
}

/**
 * `countsAs`: whether the attempt uses up the budget after all. An uncounted attempt counts once more than `maxUncounted`
 * came in a row; the caller stores it so.
 */
export type AfterAttempt =
  | { kind: 'final'; outcome: Outcome; reason: string; countsAs: boolean }
  | { kind: 'retry'; at: number; countsAs: boolean };

/**
 * What follows a settled attempt: the recipient's outcome, or the earliest instant of the next attempt (calling hours,
 * suppression and pacing are checked when it comes).
 */
export function afterAttempt(attempt: SettledAttempt): AfterAttempt {
  const { result, rules } = attempt;
  const overdue = !result.counted && attempt.uncountedInARow > rules.maxUncounted;
  const countsAs = result.counted || overdue;
  const final = (outcome: Outcome, reason: string): AfterAttempt => ({ kind: 'final', outcome, reason, countsAs });

  switch (result.disposition) {
    case 'answered':
      return final('completed', result.detail ?? 'answered');
    case 'opted_out':
      return final('opted_out', 'opted_out');
    case 'invalid_number':
      return final('undialable', 'invalid_number');
    case 'busy':
    case 'no_answer':
    case 'unreached':
    case 'voicemail':
    case 'failed':
    case 'unknown':
      break;
  }
  const delay = nextDelayMs(rules.delays[result.disposition], attempt.sameDisposition);
  if (delay === null && result.disposition === 'unknown') return final('unresolved', 'unknown');
  const counted = attempt.countedAttempts + (overdue ? 1 : 0);
  if (counted >= rules.maxAttempts) return final('exhausted', 'attempts_used_up');
  if (delay === null) return final('exhausted', `no_retry_after_${result.disposition}`);
  return { kind: 'retry', at: attempt.settledAt + delay, countsAs };
}

function nextDelayMs(delays: RetryDelays, nth: number): number | null {
  if (delays === 'never') return null;
  return delays[Math.min(nth, delays.length) - 1] ?? null;
}
