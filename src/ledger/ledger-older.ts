import { batchNumberOf } from '../rules/ids.ts';

interface Lost {
  campaignId: string;
  /** The missing or incomplete batch; 0: its round, null: the whole campaign. */
  missing: number | null;
  /** A database that still has to send the batch is too old as well. */
  submitted: boolean;
}

/** Thrown when the database was set back behind the campaign's progress: dialling on could repeat calls. Never retried. */
export class LedgerOlderError extends Error {
  override readonly name = 'LedgerOlderError' as const;
  readonly lost: Lost;

  constructor(message: string, lost: Lost) {
    super(message);
    this.lost = lost;
  }
}

const olderWords = "The ledger is older than the campaign's progress";

export function olderThanCampaign(campaignId: string): LedgerOlderError {
  const lost = { campaignId, missing: null, submitted: true };
  return new LedgerOlderError(`Campaign ${campaignId} is not in this database.`, lost);
}

/** The database lacks the round under way and would plan for an earlier one. */
export function olderThanRound(campaignId: string, round: number): LedgerOlderError {
  const lost = { campaignId, missing: 0, submitted: true };
  return new LedgerOlderError(`${olderWords}: round ${round} of ${campaignId} is missing.`, lost);
}

/** A batch is planned only after the previous one has its verdict. */
export function olderBeforePlanning(campaignId: string, n: number, fault: 'missing' | 'undecided'): LedgerOlderError {
  const what = fault === 'missing' ? 'is missing' : 'has no verdict';
  const lost = { campaignId, missing: n, submitted: true };
  return new LedgerOlderError(`${olderWords}: batch ${n} of ${campaignId} ${what}.`, lost);
}

export function olderWhileSubmitting(batchId: string, k: number | null = null): LedgerOlderError {
  const what = k === null ? `batch ${batchId}` : `request ${k} of batch ${batchId}`;
  const lost = { campaignId: campaignIdOf(batchId), missing: batchNumberOf(batchId), submitted: k !== null };
  return new LedgerOlderError(`${olderWords}: ${what} is missing.`, lost);
}

export function campaignIdOf(batchId: string): string {
  return batchId.split('/').slice(0, -2).join('/');
}
