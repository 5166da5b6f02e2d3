import { readWebhookEvent, webhookMessageId, type WebhookEvent } from '../../rules/webhooks/messages.ts';
import type { CampaignEvent } from '../events.ts';
import type { Queries } from '../tx.ts';
import type { Webhook } from './registry.ts';
import { readToldRow } from './told-row.ts';

/** A message in the form of Standard Webhooks: `type`, `timestamp` and `data`. */
export interface WebhookMessage {
  id: string;
  body: { type: string; timestamp: string; data: Record<string, unknown> };
}

/** What a webhook is told of an event of the log, always in the same words; null when it is nothing for it. */
export async function writeMessage(
  db: Queries,
  { webhookId, campaignId, types }: Pick<Webhook, 'webhookId' | 'campaignId' | 'types'>,
  event: CampaignEvent,
): Promise<WebhookMessage | null> {
  if (campaignId !== null && event.campaignId !== campaignId) return null;
  const told = readWebhookEvent(event);
  if (told === null || types?.includes(told.type) === false) return null;
  const data = await writeData(db, told, event);
  if (data === null) return null;
  const body = { type: told.type, timestamp: new Date(event.at).toISOString(), data };
  return { id: webhookMessageId(webhookId, event), body };
}

async function writeData(
  db: Queries,
  told: WebhookEvent,
  { seq, campaignId: campaign }: CampaignEvent,
): Promise<Record<string, unknown> | null> {
  if (!('recipientId' in told)) {
    const { type, reason, resumesAt } = told;
    const resumes = { resumes_at: resumesAt === null ? null : new Date(resumesAt).toISOString() };
    return { campaign, reason, ...(type === 'campaign.paused' ? resumes : {}) };
  }
  const row = await readToldRow(db, told.recipientId, seq);
  if (row === null) return null;
  const { attempts, ...ids } = row;
  const end = told.type === 'row.ended' ? { outcome: told.outcome, reason: told.reason } : told.type === 'row.result' ? { result: told.result } : {}; // prettier-ignore
  return { campaign, ...ids, ...end, attempts };
}
