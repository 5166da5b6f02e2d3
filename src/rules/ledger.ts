/** States of a batch's ledger row, which guards "never call twice". Every change is a compare-and-set. */
export type BatchState =
  'intent' | 'posting' | 'confirmed' | 'refused' | 'not_sent' | 'unknown' | 'held' | 'released' | 'redial' | 'given_up';

/** Legal changes of a batch. Unlisted changes never happen, not even by hand. */
export const batchTransitions: Readonly<Record<BatchState, readonly BatchState[]>> = {
  intent: ['posting', 'released'],
  posting: ['confirmed', 'refused', 'not_sent', 'unknown'],
  not_sent: ['posting', 'released', 'unknown'],
  unknown: ['confirmed', 'not_sent', 'refused', 'held'],
  held: ['confirmed', 'redial', 'given_up'],
  confirmed: [],
  // Late proof: a record or an answer shows that the batch was placed after all.
  refused: ['unknown'],
  released: [],
  redial: ['confirmed'],
  given_up: ['confirmed'],
};

/** States of a batch to be sent, for the first time or again. */
export const unsentStates: readonly BatchState[] = ['intent', 'not_sent'];

/** States of a batch without a verdict: its submit is not over. */
export const undecidedStates: readonly BatchState[] = [...unsentStates, 'posting'];

/** Known result of one POST. Missing: the process that made it has not reported. */
export type PostVerdict = 'confirmed' | 'refused' | 'not_sent' | 'unknown';

/** `planned → posting → open → settled` or `released`; a released attempt keeps its number and never counts. */
export type AttemptState = 'planned' | 'posting' | 'open' | 'settled' | 'released';

/** Attempts that hold their number and line: to be dialled, or the call has not ended. */
export const openAttemptStates: readonly AttemptState[] = ['planned', 'posting', 'open'];

/** Attempts the service has not answered for: the call is to be requested, or just is. */
export const unansweredAttemptStates: readonly AttemptState[] = ['planned', 'posting'];

/** Attempts whose call was requested and has not ended. */
export const callingAttemptStates: readonly AttemptState[] = ['posting', 'open'];

/** Attempts whose call was requested, ended or not. */
export const requestedAttemptStates: readonly AttemptState[] = [...callingAttemptStates, 'settled'];
