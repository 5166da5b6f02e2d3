/** States of a batch's ledger row, which guards "never call twice". Every change is a compare-and-set. */
export type BatchState =
  'intent' | 'posting' | 'confirmed' | 'refused' | 'not_sent' | 'unknown' | 'held' | 'released' | 'redial' | 'given_up';

/** Legal changes of a batch. Whatever is not listed never happens, not even by hand. */
export const batchTransitions: Readonly<Record<BatchState, readonly BatchState[]>> = {
  intent: ['posting', 'released'],
  posting: ['confirmed', 'refused', 'not_sent', 'unknown'],
  not_sent: ['posting', 'released', 'unknown'],
  unknown: ['confirmed', 'not_sent', 'refused', 'held'],
  held: ['confirmed', 'redial', 'given_up'],
  confirmed: [],
  // By late proof: whatever was said or decided, a record or an answer shows that the batch was placed.
  refused: ['unknown'],
  released: [],
  redial: ['confirmed'],
  given_up: ['confirmed'],
};

/** States in which a batch is to be sent, for the first time or again. */
export const unsentStates: readonly BatchState[] = ['intent', 'not_sent'];

/** States in which a batch has no verdict yet: its submit is not over. */
export const undecidedStates: readonly BatchState[] = [...unsentStates, 'posting'];

/** What is known about one POST. A missing verdict means that the process that made it has not said. */
export type PostVerdict = 'confirmed' | 'refused' | 'not_sent' | 'unknown';

/** `planned → posting → open → settled` or `released`; a released attempt keeps its number and never counts. */
export type AttemptState = 'planned' | 'posting' | 'open' | 'settled' | 'released';

/** Of an attempt that holds its number and its line: it is to be dialled, or its call has not ended. */
export const openAttemptStates: readonly AttemptState[] = ['planned', 'posting', 'open'];

/** Of one of which the service has not answered for: its call is to be requested, or just is. */
export const unansweredAttemptStates: readonly AttemptState[] = ['planned', 'posting'];

/** Of one whose call has been requested and has not ended. */
export const callingAttemptStates: readonly AttemptState[] = ['posting', 'open'];

/** Of one whose call has been requested, whether it has ended or not. */
export const requestedAttemptStates: readonly AttemptState[] = [...callingAttemptStates, 'settled'];
