/** Thrown when the database was set back behind the campaign's progress: dialling on could repeat calls. Never retried. */
export class LedgerOlderError extends Error {
  override readonly name = 'LedgerOlderError' as const;
  /** Number of the batch that is missing, or of which the database knows too little; null when the whole campaign is missing. */
  readonly missing: number | null;
  /** Whether that batch had been submitted: a database in which it is still to be sent is too old as well. */
  readonly submitted: boolean;

  constructor(message: string, missing: number | null = null, submitted = true) {
    super(message);
    this.missing = missing;
    this.submitted = submitted;
  }
}

const olderWords = "The ledger is older than the campaign's progress";

/** The planner is asked for a batch only when the one before it has its verdict. */
export function olderBeforePlanning(campaignId: string, n: number, fault: 'missing' | 'undecided'): LedgerOlderError {
  const what = fault === 'missing' ? 'is missing' : 'has no verdict';
  return new LedgerOlderError(`${olderWords}: batch ${n} of ${campaignId} ${what}.`, n);
}

/** A batch that is being submitted, or its request, is not in the database. */
export function olderWhileSubmitting(batchId: string, k: number | null = null): LedgerOlderError {
  const what = k === null ? `batch ${batchId}` : `request ${k} of batch ${batchId}`;
  return new LedgerOlderError(`${olderWords}: ${what} is missing.`, numberOf(batchId), k !== null);
}

/** The id of the campaign whose batch it is. */
export function campaignIdOf(batchId: string): string {
  return batchId.split('/').slice(0, -2).join('/');
}

function numberOf(batchId: string): number {
  return Number(batchId.split('/').at(-1));
}
