import type { CampaignBook } from './campaign-book.ts';
import { settleDebt } from './judge-batch.ts';
import type { Violate } from './log-rules.ts';

/** States in which nobody knows yet what became of a batch. */
const undecided: readonly string[] = ['intent', 'posting', 'not_sent', 'unknown'];

/** What is owed where the log ends, ended or not. */
export function judgeDebts(campaign: CampaignBook, violate: Violate): void {
  for (const [batchId, batch] of campaign.batches) {
    settleDebt(batch, violate);
    if (batch.lacksMatch !== null) violate('cause_missing', `batch ${batchId} was confirmed by a record, and no call of it has one`);
  }
  if (campaign.owesRoundEnd !== null) violate('cause_missing', `the campaign is ${campaign.state}, and the end of its round is not told`);
}

/** What a campaign that has ended is lacking at the end of the log. */
export function judgeEnd(campaign: CampaignBook, violate: Violate): void {
  if (campaign.state !== 'completed' && campaign.state !== 'cancelled') return;
  const { rows, rejected, outcomes, requeued, edits } = campaign;
  const missing = [...campaign.calls.keys()].filter((rowId) => !outcomes.has(rowId) && !requeued.has(rowId));
  for (const rowId of missing) violate('outcome_missing', `${rowId} was to be called and has no outcome`);
  // Whom a person put back in line waits for the next round. Of those who were never to be called the log knows the number alone.
  const accounted = outcomes.size + rejected + requeued.size;
  if (accounted !== rows && accounted + missing.length !== rows)
    violate('outcome_missing', `${rows} rows were imported, and ${accounted} have an outcome or wait again`);
  for (const { attemptId } of campaign.open) violate('log_incomplete', `call ${attemptId} has no end in the log`);
  for (const [batchId, { state }] of campaign.batches)
    if (undecided.includes(state)) violate('cause_missing', `the campaign is ${campaign.state}, and batch ${batchId} is ${state}`);
  if (edits.added + edits.corrected + edits.withdrawn > 0) violate('log_incomplete', 'rows were changed, and their number was never told');
}
