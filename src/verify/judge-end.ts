import type { CampaignBook } from './campaign-book.ts';
import type { LogRule } from './log-rules.ts';

/** What a campaign that has ended is lacking at the end of the log. */
export function judgeEnd(campaign: CampaignBook): [LogRule, string][] {
  if (campaign.state !== 'completed' && campaign.state !== 'cancelled') return [];
  const found: [LogRule, string][] = [];
  const { rows, rejected, outcomes, requeued, edits } = campaign;
  const missing = [...campaign.calls.keys()].filter((rowId) => !outcomes.has(rowId) && !requeued.has(rowId));
  for (const rowId of missing) found.push(['outcome_missing', `${rowId} was to be called and has no outcome`]);
  // Whom a person put back in line waits for the next round. Of those who were never to be called the log knows the number alone.
  const accounted = outcomes.size + rejected + requeued.size;
  if (accounted !== rows && accounted + missing.length !== rows)
    found.push(['outcome_missing', `${rows} rows were imported, and ${accounted} have an outcome or wait again`]);
  for (const [attemptId, attempt] of campaign.attempts)
    if (!attempt.ended) found.push(['log_incomplete', `call ${attemptId} has no end in the log`]);
  if (edits.added + edits.corrected + edits.withdrawn > 0)
    found.push(['log_incomplete', 'rows were changed, and their number was never told']);
  return found;
}
