/** Result of one attempt. `unreached`: not answered, cause not visible. `unknown`: cannot tell whether it was placed. */
export const dispositions = [
  'answered',
  'voicemail',
  'busy',
  'no_answer',
  'unreached',
  'failed',
  'invalid_number',
  'opted_out',
  'unknown',
] as const;
/** Result of one attempt, as results and reports show it. */
export type Disposition = (typeof dispositions)[number];

/**
 * Counts of attempts by disposition as counts of calls: where the service refused the number (`invalid_number`, which nothing else is) it
 * placed none.
 */
export function callsAmong(counts: Readonly<Record<string, number>>): Record<string, number> {
  const { invalid_number: _refused, ...calls } = counts;
  return calls;
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
