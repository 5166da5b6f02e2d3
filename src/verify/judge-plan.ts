import type { CampaignEvent } from '../store/events.ts';
import { callsOf, isRowOf, type CampaignBook } from './campaign-book.ts';
import type { LogRule } from './log-rules.ts';

/** Notes a batch that was planned. Those of a round have no gap: one that is missing was taken out of the log. */
export function planBatch(campaign: CampaignBook, { batchId = '' }: CampaignEvent): [LogRule, string][] {
  campaign.batches.set(batchId, { state: 'intent', k: 0, provenIdle: true, calls: [] });
  const [, round, number] = /\/(\d+)\/(\d+)$/.exec(batchId) ?? [];
  if (round === undefined) return [];
  const before = campaign.batchesOf.get(round) ?? 0;
  campaign.batchesOf.set(round, Number(number));
  if (Number(number) === before + 1) return [];
  return [['log_incomplete', `batch ${batchId} was planned, and the last one of its round was ${before}`]];
}

/** Notes an attempt that was planned. Those of a row have no gap either. */
export function planAttempt(campaign: CampaignBook, event: CampaignEvent): [LogRule, string][] {
  const { attemptId = '', recipientId = '', campaignId } = event;
  const budget = campaign.budgets.get(recipientId) ?? 0;
  const calls = callsOf(campaign, recipientId);
  const attempt = {
    recipientId,
    number: null,
    postedAt: null,
    ended: false,
    disposition: null,
    counted: false,
    budget,
  };
  campaign.attempts.set(attemptId, attempt);
  campaign.calls.set(recipientId, [...calls, attempt]);
  if (!isRowOf(campaign, campaignId, recipientId))
    return [['log_incomplete', `call ${attemptId} was planned for ${recipientId}, which is no row of the list`]];
  if (attemptId === `${recipientId}/${calls.length + 1}`) return [];
  return [['log_incomplete', `call ${attemptId} was planned, and the log has ${calls.length} before it`]];
}
