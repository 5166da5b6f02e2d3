/** Where a record says when to call back: keys of collected values. */
export type CallbackSource =
  { kind: 'at'; key: string } | { kind: 'date_and_time'; date: string; time: string } | { kind: 'in'; key: string };

/** What a campaign does about people who ask to be called back. */
export interface CallbackRules {
  at: CallbackSource;
  /** Of campaigns that began while English words were read: what is not understood is left to a person. */
  words?: 'en' | null;
  /** It is kept if the call is requested from the promised instant on and before this has passed. */
  lateMs: number;
  /** What becomes of one that was not kept: a person decides, the row is called as after no answer, or at the same time of the next day. */
  missed: 'ask' | 'retry' | 'next_day';
  /** Of one whose time is not clear. */
  unclear: 'ask' | 'retry';
  /** So many promises are made to one row by its records; with the next one a person decides. */
  most: number;
  /** Later than this, counted from the record, it is unclear. */
  horizonMs: number;
}

/**
 * What became of a promise: the phone rang in its time, or later; it was not called in its time; or its row ended, the person was talked
 * to otherwise, or somebody took it back.
 */
export const endedPromises = ['kept', 'late', 'missed', 'cancelled'] as const;
/** How a promise ended. */
export type EndedPromise = (typeof endedPromises)[number];

/** How a promise may stand. */
export const promiseStates = ['open', 'unclear', ...endedPromises] as const;
/** How a promise stands. */
export type PromiseState = (typeof promiseStates)[number];

/** Of promises that a person makes where the campaign file says nothing of call backs. */
export const usualCallback = {
  lateMs: 30 * 60_000,
  missed: 'ask',
  horizonMs: 14 * 24 * 3_600_000,
} as const satisfies Partial<CallbackRules>;

/** Why it is not clear when somebody is to be called back. */
export const unclearReasons = [
  'no_time',
  'not_understood',
  'ambiguous',
  'past',
  'too_far',
  'unknown_timezone',
  'zones_apart',
  'outside_hours',
  'promised_elsewhere',
  'too_often',
] as const;
/** One of them. */
export type UnclearReason = (typeof unclearReasons)[number];
