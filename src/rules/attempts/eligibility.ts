import { consentFault, consentFaults, type ConsentSpan } from '../consent.ts';
import { earliest } from '../campaign-rules.ts';
import { windowAt, type DatedCalendar } from '../hours/calling-window.ts';
import type { Outcome } from '../outcome.ts';

/** A number that is on another open call is looked at again after this long (service time). */
export const numberBusyRecheckMs = 60_000;
/** Hours that are open by one clock only are looked at again after this long at least (service time). */
const hoursRecheckMs = 60_000;

/** What decides whether a recipient may be dialled. Instants are epoch milliseconds in service time; null: no limit. */
export interface EligibilityInput {
  /** Service time of the decision. */
  at: number;
  endsAt: number | null;
  /** The recipient is not dialled from this instant on, whatever the campaign allows. */
  rowEndsAt?: number | null;
  /** Nor before this one. */
  rowStartsAt?: number | null;
  /** The campaign's calendar, those of the law that hold where the recipient may be, and the row's own. */
  calendars: readonly DatedCalendar[];
  /** Every zone in which the number may be. */
  zones: readonly string[];
  /** How long hours and campaign must last beyond `at`, since the service may dial later than it accepts. */
  marginMs: number;
  suppressed: boolean;
  /** Somebody took back consent for the purpose of the campaign. */
  revoked?: boolean;
  /** Of the row; absent: the campaign asks for none. */
  consent?: ConsentSpan | undefined;
  /** A person took the row out of its campaign. */
  takenOut?: boolean;
  /** Another attempt to the same number is open, in whatever campaign. */
  numberBusy: boolean;
  /**
   * What is promised to the number: a call back for this row, or for another one, which then comes first. `called_off`: this row stands in
   * line for a promise that has ended. Absent or null: nothing.
   */
  promise?: { isOwn: boolean; dueAt: number; until: number } | 'called_off' | null;
  /** The earliest instant at which frequency caps allow one more call; `at` or earlier when they do now. */
  capsAllowAt: number;
  /** The earliest instant at which the budget of attempts allows one more; null: it is used up. */
  budgetAllowsAt: number | null;
  /** Whether the recipient was ever dialled. */
  attempted: boolean;
}

/** Reason of outcome `cancelled` when a person took the row out. */
export const withdrawnReason = 'withdrawn';

/** What keeps a recipient until later. */
export type WaitReason = 'not_before' | 'promised' | 'number_busy' | 'attempt_budget' | 'frequency_cap' | 'outside_hours' | 'hours';

/** What may keep a recipient for ever, in the order in which a report lists it. */
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
/** What keeps a recipient for ever. */
export type ExclusionReason = (typeof exclusionReasons)[number];

/** `wait`: ask again at `until` (service time). `final`: the recipient ends so, and is never dialled in this round. */
export type Eligibility =
  | { verdict: 'dial' }
  | { verdict: 'wait'; until: number; reason: WaitReason }
  | { verdict: 'final'; outcome: Outcome; reason: ExclusionReason };

/**
 * Whether a recipient may be dialled now. Rules in order, the first that applies decides: the word of a person, campaign and row end,
 * suppression, consent, budget of attempts, the row's own beginning, promises to the number, another open call to it, frequency caps,
 * calling window. A recipient who may not be dialled before the end is `undialable` when it was never dialled, and `expired` when it was:
 * then only the further attempts fell away.
 */
export function judgeEligibility(input: EligibilityInput): Eligibility {
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
  const { promise = null, budgetAllowsAt } = input;
  if (budgetAllowsAt === null || (endsAt !== null && budgetAllowsAt + marginMs >= endsAt))
    return { verdict: 'final', outcome: 'exhausted', reason: 'attempts_used_up' };
  const tooLate = (reason: 'capped_until_end' | 'no_open_window_before_end') =>
    ({ verdict: 'final', outcome: input.attempted ? 'expired' : 'undialable', reason }) as const;
  const rowStartsAt = input.rowStartsAt ?? at;
  if (rowStartsAt > at) {
    if (endsAt === null || rowStartsAt + marginMs < endsAt) return { verdict: 'wait', until: rowStartsAt, reason: 'not_before' };
    return tooLate('no_open_window_before_end');
  }
  // Never before the instant that was promised, and never after its time: then it is told, and decided anew.
  const promised = promisedUntil(promise, at);
  if (promised !== null) return { verdict: 'wait', until: promised, reason: 'promised' };
  if (input.numberBusy) return { verdict: 'wait', until: at + numberBusyRecheckMs, reason: 'number_busy' };

  if (budgetAllowsAt > at) return { verdict: 'wait', until: budgetAllowsAt, reason: 'attempt_budget' };

  if (input.capsAllowAt > at) {
    if (endsAt === null || input.capsAllowAt + marginMs < endsAt)
      return { verdict: 'wait', until: input.capsAllowAt, reason: 'frequency_cap' };
    return tooLate('capped_until_end');
  }

  const asked = { zones: input.zones, at, marginMs, endsAt };
  const window = windowAt({ ...asked, calendars: input.calendars });
  if (window.open) return { verdict: 'dial' };
  if (window.opensAt !== null) {
    const ofOthers = input.calendars.filter(({ isOwn }) => isOwn !== true);
    const isOwn = ofOthers.length < input.calendars.length && windowAt({ ...asked, calendars: ofOthers }).open;
    return { verdict: 'wait', until: window.opensAt, reason: isOwn ? 'hours' : 'outside_hours' };
  }
  if (window.reason === 'unknown_zone') return { verdict: 'final', outcome: 'undialable', reason: 'unknown_timezone' };
  return tooLate('no_open_window_before_end');
}

function faultOfConsent({ consent, at, marginMs }: EligibilityInput) {
  return consent === undefined ? null : consentFault(consent, { at, until: at + marginMs });
}

/** Until when a promise keeps a row from being called; null: it does not. */
function promisedUntil(promise: NonNullable<EligibilityInput['promise']> | null, at: number): number | null {
  if (promise === null) return null;
  if (promise === 'called_off') return at;
  const { isOwn, dueAt, until } = promise;
  if (isOwn) return at < dueAt ? dueAt : at >= until ? at : null;
  return at < until ? until : null;
}

/** What lies before a recipient of whom nothing is known that may change: what keeps it, one after the other, until `at`. */
export interface Foresight {
  keptBy: WaitReason[];
  at: number;
  /** What keeps it for ever then; null: it may be dialled. */
  never: ExclusionReason | null;
}

/** Asks `judgeEligibility` again whenever it says to wait, as the planner does. An open call to the number counts only at first. */
export function foresee(input: EligibilityInput): Foresight {
  const keptBy: WaitReason[] = [];
  for (let { at, numberBusy } = input; ; numberBusy = false) {
    const verdict = judgeEligibility({ ...input, at, numberBusy });
    if (verdict.verdict !== 'wait') return { keptBy, at, never: verdict.verdict === 'final' ? verdict.reason : null };
    keptBy.push(verdict.reason);
    at = verdict.until;
  }
}

/**
 * As `judgeEligibility`; hours, promises, and the ends of campaign and row must allow the call at `serviceNow` too, by another clock.
 * Caps and budgets are kept by one clock alone. Nothing is final by the other one, which may be wrong.
 */
export function judgeByBothClocks(serviceNow: number, input: EligibilityInput): Eligibility {
  const verdict = judgeEligibility(input);
  if (verdict.verdict !== 'dial') return verdict;
  const there = judgeEligibility({ ...input, at: serviceNow, capsAllowAt: serviceNow, budgetAllowsAt: serviceNow });
  if (there.verdict === 'dial') return verdict;
  const waitMs = there.verdict === 'wait' ? there.until - serviceNow : 0;
  if (there.verdict === 'wait' && there.reason === 'promised') return { verdict: 'wait', until: input.at + waitMs, reason: 'promised' };
  return { verdict: 'wait', until: input.at + Math.max(hoursRecheckMs, waitMs), reason: 'outside_hours' };
}
