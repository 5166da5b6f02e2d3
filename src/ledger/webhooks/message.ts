import { readWebhookEvent, webhookMessageId, type WebhookEvent } from '../../rules/webhooks/messages.ts';
import type { CampaignEvent } from '../events.ts';
import type { Queries } from '../tx.ts';
import type { Webhook } from './registry.ts';
import { requestedAttemptStates } from '../../rules/ledger.ts';

/** In the form of Standard Webhooks. */
export interface WebhookMessage {
  id: string;
  body: { type: string; timestamp: string; data: Record<string, unknown> };
}

/** The webhook's event for a log event, before its row is read; null: not for this webhook. */
export function readFor({ campaignId, types }: Pick<Webhook, 'campaignId' | 'types'>, event: CampaignEvent): WebhookEvent | null {
  if (campaignId !== null && event.campaignId !== campaignId) return null;
  const webhookEvent = readWebhookEvent(event);
  return webhookEvent === null || types?.includes(webhookEvent.type) === false ? null : webhookEvent;
}

/** Its message, always with the same text. */
export async function writeMessage(
  db: Queries,
  webhook: Pick<Webhook, 'webhookId' | 'campaignId' | 'types'>,
  event: CampaignEvent,
): Promise<WebhookMessage | null> {
  const webhookEvent = readFor(webhook, event);
  if (webhookEvent === null) return null;
  const data = await writeData(db, webhookEvent, event);
  if (data === null) return null;
  const body = { type: webhookEvent.type, timestamp: new Date(event.at).toISOString(), data };
  return { id: webhookMessageId(webhook.webhookId, event), body };
}

async function writeData(
  db: Queries,
  webhookEvent: WebhookEvent,
  { seq, campaignId: campaign }: CampaignEvent,
): Promise<Record<string, unknown> | null> {
  if (!('recipientId' in webhookEvent)) {
    const { type, reason, resumesAt } = webhookEvent;
    const resumes = { resumes_at: resumesAt === null ? null : new Date(resumesAt).toISOString() };
    return { campaign, reason, ...(type === 'campaign.paused' ? resumes : {}) };
  }
  const row = await readToldRow(db, webhookEvent.recipientId, seq);
  if (row === null) return null;
  const { attempts, ...ids } = row;
  const end = webhookEvent.type === 'row.ended' ? { outcome: webhookEvent.outcome, reason: webhookEvent.reason } : webhookEvent.type === 'row.result' ? { result: webhookEvent.result } : {}; // prettier-ignore
  return { campaign, ...ids, ...end, attempts };
}

/** Without number and name. */
export interface ToldRow {
  row: number;
  id: string | null;
  /** Calls requested by then. */
  attempts: number;
}

/** As of this event, so that a repeated message is the same; null: no such row. */
export async function readToldRow(db: Queries, recipientId: string, untilSeq: number): Promise<ToldRow | null> {
  const found = await db
    .selectFrom('recipients')
    .select(['row_number', 'external_id'])
    .where('recipient_id', '=', recipientId)
    .executeTakeFirst();
  if (found === undefined) return null;
  const posted = db
    .selectFrom('events')
    .select('attempt_id')
    .where('recipient_id', '=', recipientId)
    .where('seq', '<=', untilSeq)
    .where('type', '=', 'attempt.posted');
  const { attempts } = await db
    .selectFrom('attempts')
    .select((eb) => eb.fn.countAll<number>().as('attempts'))
    .where('recipient_id', '=', recipientId)
    .where('state', 'in', requestedAttemptStates)
    .where('attempt_id', 'in', posted)
    .executeTakeFirstOrThrow();
  return { row: found.row_number, id: found.external_id, attempts };
}
