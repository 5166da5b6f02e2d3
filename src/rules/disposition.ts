/** What pages say of a call that ended so. */
interface DispositionFacts {
  /** Within a sentence. */
  text: string;
  /** Where there is little room; absent: `text`. */
  short?: string;
  /** Among what it is counted; absent: among what is not over. */
  tone?: 'reached' | 'optout' | 'decide';
}

/** In the order of all lists. `unreached`: not answered, cause not visible. `unknown`: cannot tell whether it was placed. */
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

/** Result of one attempt, as results and reports show it. */
export type Disposition = keyof typeof dispositionFacts;

/** Every result of one attempt, in the order of all lists. */
export const dispositions = Object.keys(dispositionFacts) as Disposition[];
/** Those that a rule of a campaign file may read in a record; of the others the record says nothing. */
export type ReadableDisposition = Exclude<Disposition, 'invalid_number' | 'unknown'>;
/** Each of them. */
export const readableDispositions = dispositions.filter(
  (name): name is ReadableDisposition => name !== 'invalid_number' && name !== 'unknown',
);
/** What is known of each. */
export const dispositionOf: Readonly<Record<Disposition, DispositionFacts>> = dispositionFacts;

/**
 * Counts of attempts by disposition as counts of calls: where the service refused the number (`invalid_number`, which nothing else is) it
 * placed none.
 */
export function callsAmong(counts: Readonly<Record<string, number>>): Record<string, number> {
  const { invalid_number: _refused, ...calls } = counts;
  return calls;
}

/** Whether a person took a call that ended so. */
export function isAnswered(disposition: string | null): boolean {
  return disposition === 'answered' || disposition === 'opted_out';
}

/** How many calls have ended, and how many of them a person took. */
export function countCalls(counts: Readonly<Record<string, number>>): { calls: number; answered: number } {
  const calls = Object.values(callsAmong(counts)).reduce((sum, count) => sum + count, 0);
  return { calls, answered: (counts['answered'] ?? 0) + (counts['opted_out'] ?? 0) };
}

/** Detail of a call whose record could not be told apart from those of others: only a person releases its row. */
export const notToldApart = 'records_not_told_apart';

/** Detail of a call that was taken for not placed, until an answer or a record showed that it was. */
export const acceptedLate = 'accepted_late';

/** Detail of an attempt, and reason of a batch, whose request the service has more than once. */
export const carriedOutTwice = 'carried_out_twice';

/** Result of one attempt. Equal facts always give an equal result. */
export interface AttemptResult {
  disposition: Disposition;
  /** `silent`: the line was answered but only the agent spoke. */
  detail: string | null;
  /** Whether the attempt uses up the budget. False only with proof that nobody picked up (a carrier result). */
  counted: boolean;
}
