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
  const told = readWebhookEvent(event);
  return told === null || types?.includes(told.type) === false ? null : told;
}

/** Its message, always with the same text. */
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
