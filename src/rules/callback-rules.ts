/** Where a record gives the callback time: keys of collected values. */
export type CallbackSource =
  { kind: 'at'; key: string } | { kind: 'date_and_time'; date: string; time: string } | { kind: 'in'; key: string };

/** How a campaign handles recipients who ask for a callback. */
export interface CallbackRules {
  at: CallbackSource;
  /** Of campaigns begun while English words were parsed: what is not understood goes to an operator. */
  words?: 'en' | null;
  /** A callback is kept if its call is requested from the due instant on and before this has passed. */
  lateMs: number;
  /** After a missed callback: an operator decides, a retry as after no answer, or the same time next day. */
  missed: 'ask' | 'retry' | 'next_day';
  /** After an unclear callback time. */
  unclear: 'ask' | 'retry';
  /** Maximum callbacks from one row's records; the next one goes to an operator. */
  most: number;
  /** A time further ahead than this, counted from the record, is unclear. */
  horizonMs: number;
}

/** Ends of a callback: rang in time; rang late; not called in time; or row ended, talk took place otherwise, or callback taken back. */
export const callbackEnds = ['kept', 'late', 'missed', 'cancelled'] as const;
/** How a callback ended. */
export type CallbackEnd = (typeof callbackEnds)[number];

/** States of a callback. */
export const callbackStates = ['open', 'unclear', ...callbackEnds] as const;
/** State of a callback. */
export type CallbackState = (typeof callbackStates)[number];

/** Rules for an operator's callbacks when the campaign file has none. */
export const usualCallback = {
  lateMs: 30 * 60_000,
  missed: 'ask',
  horizonMs: 14 * 24 * 3_600_000,
} as const satisfies Partial<CallbackRules>;

/** Why a callback time is unclear. */
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
/** One of `unclearReasons`. */
export type UnclearReason = (typeof unclearReasons)[number];
