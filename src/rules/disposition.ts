/** Page texts. */
interface DispositionFacts {
  /** Within a sentence. */
  text: string;
  /** Where space is short; absent: `text`. */
  short?: string;
  /** Group in counts; absent: not over. */
  tone?: 'reached' | 'optout' | 'decide';
}

/** In display order. `unreached`: not answered, cause not visible. `unknown`: may have been placed. */
const dispositionFacts = {
  answered: { text: 'answered', tone: 'reached' },
  opted_out: { text: 'answered, and asked not to be called again', short: 'Answered', tone: 'optout' },
  voicemail: { text: 'voicemail' },
  no_answer: { text: 'no answer' },
  busy: { text: 'busy' },
  unreached: { text: 'not reached' },
  failed: { text: 'the call failed', short: 'Failed' },
  invalid_number: { text: 'the number is invalid', short: 'Number invalid' },
  unknown: { text: 'nobody knows whether it was placed', short: 'Not known', tone: 'decide' },
} as const satisfies Readonly<Record<string, DispositionFacts>>;

/** Result of one attempt, as in results and reports. */
export type Disposition = keyof typeof dispositionFacts;

/** All dispositions in display order. */
export const dispositions = Object.keys(dispositionFacts) as Disposition[];
/** Dispositions that a rule of a campaign file may read; a record never shows the others. */
export type ReadableDisposition = Exclude<Disposition, 'invalid_number' | 'unknown'>;
/** All readable dispositions. */
export const readableDispositions = dispositions.filter(
  (name): name is ReadableDisposition => name !== 'invalid_number' && name !== 'unknown',
);
/** Page texts of each disposition. */
export const dispositionOf: Readonly<Record<Disposition, DispositionFacts>> = dispositionFacts;

/** Counts of calls from counts of attempts: with `invalid_number` (always a refusal) the service placed none. */
export function callsAmong(counts: Readonly<Record<string, number>>): Record<string, number> {
  const { invalid_number: _refused, ...calls } = counts;
  return calls;
}

/** Whether a person answered the call. */
export function isAnswered(disposition: string | null): boolean {
  return disposition === 'answered' || disposition === 'opted_out';
}

/** Ended calls, and how many a person answered. */
export function countCalls(counts: Readonly<Record<string, number>>): { calls: number; answered: number } {
  const calls = Object.values(callsAmong(counts)).reduce((sum, count) => sum + count, 0);
  return { calls, answered: (counts['answered'] ?? 0) + (counts['opted_out'] ?? 0) };
}

/** Detail of a call whose record could not be distinguished from others: only an operator releases its row. */
export const notToldApart = 'records_not_told_apart';

/** Detail of a call assumed not placed, until an answer or a record showed that it was. */
export const acceptedLate = 'accepted_late';

/** Detail of an attempt, and reason of a batch, whose request the service has more than once. */
export const carriedOutTwice = 'carried_out_twice';

/** Result of one attempt; equal facts give an equal result. */
export interface AttemptResult {
  disposition: Disposition;
  /** `silent`: answered, but only the agent spoke. */
  detail: string | null;
  /** Whether the attempt uses budget. False only with proof of no answer (a carrier result). */
  counted: boolean;
}
