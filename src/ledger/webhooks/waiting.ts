import { sourceTypes } from '../../rules/webhooks/messages.ts';
import { readAllEvents, readEvents } from '../events.ts';
import type { Queries } from '../tx.ts';
import { readFor } from './message.ts';
import { listWebhooks, type Webhook } from './registry.ts';

export interface WaitingEvents {
  events: number;
  /** Only the first events were read: there may be more. */
  orMore: boolean;
  /** Service time; null: none. */
  oldestAt: number | null;
}

export type WebhookWithWaiting = Webhook & { waiting: WaitingEvents };

const most = 10_000;

/** Reads at most `most` events of the types it may receive. */
export async function withWaiting(db: Queries, webhook: Webhook): Promise<WebhookWithWaiting> {
  const { campaignId, cursor: afterSeq, types } = webhook;
  const page = { afterSeq, limit: most + 1, types: sourceTypes(types) };
  const read = await (campaignId === null ? readAllEvents(db, afterSeq, page.limit, page.types) : readEvents(db, campaignId, page));
  const waiting = read.filter((event) => readFor(webhook, event) !== null);
  const oldestAt = waiting[0]?.at ?? null;
  return { ...webhook, waiting: { events: Math.min(most, waiting.length), orMore: read.length > most, oldestAt } };
}

export async function listWithWaiting(db: Queries): Promise<WebhookWithWaiting[]> {
  const listed: WebhookWithWaiting[] = [];
  for (const webhook of await listWebhooks(db)) listed.push(await withWaiting(db, webhook));
  return listed;
}
