import type { CampaignBook } from './campaign-book.ts';
import { settleDebt } from './judge-batch.ts';
import type { Found } from './log-rules.ts';

/** States in which nobody knows yet what became of a batch. */
const undecided: readonly string[] = ['intent', 'posting', 'not_sent', 'unknown'];

/** What is owed where the log ends, ended or not. */
export function judgeDebts(campaign: CampaignBook): Found {
  const found: Found = [];
  for (const [batchId, batch] of campaign.batches) {
    found.push(...settleDebt(batch, { batchId }));
    if (batch.lacksMatch !== null)
      found.push(['cause_missing', `batch ${batchId} was confirmed by a record, and no call of it has one`]);
  }
  if (campaign.owesRoundEnd !== null)
    found.push(['cause_missing', `the campaign is ${campaign.state}, and the end of its round is not told`]);
  return found;
}

/** What a campaign that has ended is lacking at the end of the log. */
export function judgeEnd(campaign: CampaignBook): Found {
  if (campaign.state !== 'completed' && campaign.state !== 'cancelled') return [];
  const found: Found = [];
  const { rows, rejected, outcomes, requeued, edits } = campaign;
  const missing = [...campaign.calls.keys()].filter((rowId) => !outcomes.has(rowId) && !requeued.has(rowId));
  for (const rowId of missing) found.push(['outcome_missing', `${rowId} was to be called and has no outcome`]);
  // Whom a person put back in line waits for the next round. Of those who were never to be called the log knows the number alone.
  const accounted = outcomes.size + rejected + requeued.size;
  if (accounted !== rows && accounted + missing.length !== rows)
    found.push(['outcome_missing', `${rows} rows were imported, and ${accounted} have an outcome or wait again`]);
  for (const { attemptId } of campaign.open) found.push(['log_incomplete', `call ${attemptId} has no end in the log`]);
  for (const [batchId, { state }] of campaign.batches)
    if (undecided.includes(state))
      found.push(['cause_missing', `the campaign is ${campaign.state}, and batch ${batchId} is ${state}`]);
  if (edits.added + edits.corrected + edits.withdrawn > 0)
    found.push(['log_incomplete', 'rows were changed, and their number was never told']);
  return found;
}
