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

/** What this webhook is told of an event of the log, before its row is looked up; null when it is nothing for it. */
export function readFor({ campaignId, types }: Pick<Webhook, 'campaignId' | 'types'>, event: CampaignEvent): WebhookEvent | null {
  if (campaignId !== null && event.campaignId !== campaignId) return null;
  const told = readWebhookEvent(event);
  return told === null || types?.includes(told.type) === false ? null : told;
}

/** The same as its message, always in the same words. */
export async function writeMessage(
  db: Queries,
  webhook: Pick<Webhook, 'webhookId' | 'campaignId' | 'types'>,
  event: CampaignEvent,
): Promise<WebhookMessage | null> {
  const told = readFor(webhook, event);
  if (told === null) return null;
  const data = await writeData(db, told, event);
  if (data === null) return null;
  const body = { type: told.type, timestamp: new Date(event.at).toISOString(), data };
  return { id: webhookMessageId(webhook.webhookId, event), body };
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
