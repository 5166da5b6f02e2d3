import { consentFault, consentFaults, type ConsentSpan } from '../consent.ts';
import { earliest } from '../campaign-rules.ts';
import { windowAt, type DatedCalendar } from '../hours/calling-window.ts';
import type { Outcome } from '../outcome.ts';

/** Recheck interval for a busy number (service time). */
export const numberBusyRecheckMs = 60_000;
/** Minimum wait before rechecking hours that only one clock shows as open (service time). */
const hoursRecheckMs = 60_000;

/** Facts that decide whether a recipient may be dialled. Instants are epoch ms, service time; null: no limit. */
export interface EligibilityInput {
  /** Service time. */
  at: number;
  endsAt: number | null;
  /** No dial from this instant on, regardless of the campaign. */
  rowEndsAt?: number | null;
  /** No dial before this instant. */
  rowStartsAt?: number | null;
  /** All that apply (`calendarsFor`). */
  calendars: readonly DatedCalendar[];
  /** Every possible zone of the number. */
  zones: readonly string[];
  /** How long hours and campaign must last beyond `at`, as the service may dial later than it accepts. */
  marginMs: number;
  suppressed: boolean;
  /** Consent for the campaign's purpose was revoked. */
  revoked?: boolean;
  /** Absent: the campaign requires none. */
  consent?: ConsentSpan | undefined;
  /** An operator withdrew the row. */
  takenOut?: boolean;
  /** Another attempt to the same number is open, in any campaign. */
  numberBusy: boolean;
  /**
   * Callback due to the number, for this row (`isOwn`) or another, which comes first. `called_off`: the row waits for an ended callback.
   * Absent or null: none.
   */
  promise?: { isOwn: boolean; dueAt: number; until: number } | 'called_off' | null;
  /** Earliest instant at which frequency caps allow another call. */
  capsAllowAt: number;
  /** Earliest instant at which the attempt budget allows another; null: never. */
  budgetAllowsAt: number | null;
  attempted: boolean;
}

/** Reason of outcome `cancelled` for a row that an operator withdrew. */
export const withdrawnReason = 'withdrawn';

/** Why a recipient waits. */
export type WaitReason = 'not_before' | 'promised' | 'number_busy' | 'attempt_budget' | 'frequency_cap' | 'outside_hours' | 'hours';

/** Permanent reasons not to dial a recipient, in report order. */
export const exclusionReasons = [
  withdrawnReason,
  'campaign_end',
  'row_expired',
  'suppressed',
  ...consentFaults,
  'attempts_used_up',
  'unknown_timezone',
  'no_open_window_before_end',
  'capped_until_end',
] as const;
/** Permanent reason not to dial a recipient. */
export type ExclusionReason = (typeof exclusionReasons)[number];

/** `wait`: evaluate again at `until` (service time). `final`: ends the recipient's round with this outcome. */
export type Eligibility =
  | { verdict: 'dial' }
  | { verdict: 'wait'; until: number; reason: WaitReason }
  | { verdict: 'final'; outcome: Outcome; reason: ExclusionReason };

/**
 * Decides whether a recipient may be dialled now; the first matching rule wins. A recipient that cannot be dialled before the end is
 * `undialable` if never dialled, else `expired`.
 */
export function evaluateEligibility(input: EligibilityInput): Eligibility {
  const { at, marginMs } = input;
  if (input.takenOut === true) return { verdict: 'final', outcome: 'cancelled', reason: withdrawnReason };
  const endsAt = earliest(input.endsAt, input.rowEndsAt ?? null);
  if (endsAt !== null && at + marginMs >= endsAt) {
    const reason = endsAt === input.endsAt ? 'campaign_end' : 'row_expired';
    return { verdict: 'final', outcome: 'expired', reason };
  }
  if (input.suppressed) return { verdict: 'final', outcome: 'suppressed', reason: 'suppressed' };
  const unconsented = input.revoked === true ? 'consent_revoked' : faultOfConsent(input);
  if (unconsented !== null) return { verdict: 'final', outcome: 'suppressed', reason: unconsented };
  const { promise: callback = null, budgetAllowsAt } = input;
  if (budgetAllowsAt === null || (endsAt !== null && budgetAllowsAt + marginMs >= endsAt))
    return { verdict: 'final', outcome: 'exhausted', reason: 'attempts_used_up' };
  const tooLate = (reason: 'capped_until_end' | 'no_open_window_before_end') =>
    ({ verdict: 'final', outcome: input.attempted ? 'expired' : 'undialable', reason }) as const;
  const rowStartsAt = input.rowStartsAt ?? at;
  if (rowStartsAt > at) {
    if (endsAt === null || rowStartsAt + marginMs < endsAt) return { verdict: 'wait', until: rowStartsAt, reason: 'not_before' };
    return tooLate('no_open_window_before_end');
  }
  // Neither before a callback is due nor after its deadline, which must first be recorded.
  const callbackUntil = blockedByCallbackUntil(callback, at);
  if (callbackUntil !== null) return { verdict: 'wait', until: callbackUntil, reason: 'promised' };
  if (input.numberBusy) return { verdict: 'wait', until: at + numberBusyRecheckMs, reason: 'number_busy' };

  if (budgetAllowsAt > at) return { verdict: 'wait', until: budgetAllowsAt, reason: 'attempt_budget' };

  if (input.capsAllowAt > at) {
    if (endsAt === null || input.capsAllowAt + marginMs < endsAt)
      return { verdict: 'wait', until: input.capsAllowAt, reason: 'frequency_cap' };
    return tooLate('capped_until_end');
  }

  const windowInput = { zones: input.zones, at, marginMs, endsAt };
  const window = windowAt({ ...windowInput, calendars: input.calendars });
  if (window.open) return { verdict: 'dial' };
  if (window.opensAt !== null) {
    const ofOthers = input.calendars.filter(({ isOwn }) => isOwn !== true);
    const isOwn = ofOthers.length < input.calendars.length && windowAt({ ...windowInput, calendars: ofOthers }).open;
    return { verdict: 'wait', until: window.opensAt, reason: isOwn ? 'hours' : 'outside_hours' };
  }
  if (window.reason === 'unknown_zone') return { verdict: 'final', outcome: 'undialable', reason: 'unknown_timezone' };
  return tooLate('no_open_window_before_end');
}

function faultOfConsent({ consent, at, marginMs }: EligibilityInput) {
  return consent === undefined ? null : consentFault(consent, { at, until: at + marginMs });
}

/** Instant until which a callback blocks the row; null: it does not. */
function blockedByCallbackUntil(callback: NonNullable<EligibilityInput['promise']> | null, at: number): number | null {
  if (callback === null) return null;
  if (callback === 'called_off') return at;
  const { isOwn, dueAt, until } = callback;
  if (isOwn) return at < dueAt ? dueAt : at >= until ? at : null;
  return at < until ? until : null;
}

/** Waits ahead of a recipient if nothing else changes, in order, and the instant when they end. */
export interface Foresight {
  keptBy: WaitReason[];
  at: number;
  /** Permanent reason not to dial after these waits; null: it may be dialled. */
  never: ExclusionReason | null;
}

/** Evaluates again after each wait, as the planner does. An open call to the number counts only at first. */
export function foresee(input: EligibilityInput): Foresight {
  const keptBy: WaitReason[] = [];
  for (let { at, numberBusy } = input; ; numberBusy = false) {
    const verdict = evaluateEligibility({ ...input, at, numberBusy });
    if (verdict.verdict !== 'wait') return { keptBy, at, never: verdict.verdict === 'final' ? verdict.reason : null };
    keptBy.push(verdict.reason);
    at = verdict.until;
  }
}

/**
 * Like `evaluateEligibility`, but hours, callbacks and ends must also allow the call by the clock `serviceNow`, which may be wrong and so
 * makes nothing final. Caps and budgets use one clock.
 */
export function evaluateByBothClocks(serviceNow: number, input: EligibilityInput): Eligibility {
  const verdict = evaluateEligibility(input);
  if (verdict.verdict !== 'dial') return verdict;
  const there = evaluateEligibility({ ...input, at: serviceNow, capsAllowAt: serviceNow, budgetAllowsAt: serviceNow });
  if (there.verdict === 'dial') return verdict;
  const waitMs = there.verdict === 'wait' ? there.until - serviceNow : 0;
  if (there.verdict === 'wait' && there.reason === 'promised') return { verdict: 'wait', until: input.at + waitMs, reason: 'promised' };
  return { verdict: 'wait', until: input.at + Math.max(hoursRecheckMs, waitMs), reason: 'outside_hours' };
}
