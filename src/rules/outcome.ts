/** Final result of a recipient. Every data row of a list ends in exactly one. */
export const outcomes = [
  'completed',
  'exhausted',
  'opted_out',
  'suppressed',
  'rejected',
  'undialable',
  'expired',
  'cancelled',
  'unresolved',
] as const;
/** Final result of a recipient, as the results show it. */
export type Outcome = (typeof outcomes)[number];

const neverAgain: readonly Outcome[] = ['opted_out', 'suppressed', 'rejected'];

/** Whether nobody is called after this outcome, whoever asks for it; null: there is none yet. */
export function isNeverCalledAgain(outcome: Outcome | null): boolean {
  return outcome !== null && neverAgain.includes(outcome);
}

/** Why a row was refused at import; stands in the results as the reason of outcome `rejected`. */
export const rejectionReasons = [
  'missing_phone',
  'invalid_phone',
  'unknown_range',
  'invalid_country',
  'invalid_timezone',
  'invalid_zip',
  'invalid_state',
  'invalid_date',
  'invalid_priority',
  'invalid_hours',
  'invalid_person',
  'missing_consent',
  'missing_value',
  'malformed_row',
  'duplicate_phone',
  'duplicate_id',
] as const;
/** Why a row of the list was refused at import. */
export type RejectionReason = (typeof rejectionReasons)[number];
