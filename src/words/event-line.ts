import type { CampaignEvent } from '../ledger/events.ts';
import { tellEvent } from './events.ts';

/** A line of the log for programs, before `withInstants`: type, ids and words; its data stays inside, where numbers may stand. */
export function eventAsJson(event: CampaignEvent): Record<string, unknown> {
  const { seq, at, type, campaignId, batchId = null, recipientId = null, attemptId = null } = event;
  return { seq, at, type, campaignId, batchId, recipientId, attemptId, text: tellEvent(event) };
}
