import type { WebhookChange } from '../../rules/events.ts';
import type { WebhookEventType } from '../../rules/webhooks/messages.ts';
import { appendEvents } from '../events.ts';
import type { Row } from '../schema.ts';
import type { Queries, Tx, Store } from '../tx.ts';
import type { WebhookState } from '../service-tables.ts';

export const deliveringStates = ['active', 'failing'] as const satisfies WebhookState[];

export interface Webhook {
  webhookId: string;
  /** As written. The path may be a secret: show `hookPlace` instead. */
  url: string;
  campaignId: string | null;
  /** Null: all. */
  types: readonly WebhookEventType[] | null;
  madeBy: string;
  madeReal: number;
  state: WebhookState;
  reason: string | null;
  sinceReal: number;
  cursor: number;
  /** In a row. */
  failures: number;
  failingSinceReal: number | null;
  succeededReal: number | null;
  failedReal: number | null;
  fault: string | null;
  status: number | null;
}

export interface ChangeOfWebhook {
  webhookId: string;
  by: string;
  now: number;
  nowReal: number;
}

export interface NewWebhook extends ChangeOfWebhook {
  url: string;
  campaignId: string | null;
  types: readonly WebhookEventType[] | null;
  /** Events after this number are delivered. */
  cursor: number;
}

export function toWebhook(row: Row<'webhooks'>): Webhook {
  return {
    webhookId: row.webhook_id,
    url: row.url,
    campaignId: row.campaign_id,
    types: row.types === null ? null : (JSON.parse(row.types) as WebhookEventType[]),
    madeBy: row.made_by,
    madeReal: row.made_real,
    state: row.state,
    reason: row.reason,
    sinceReal: row.since_real,
    cursor: row.cursor,
    failures: row.failures,
    failingSinceReal: row.failing_since_real,
    succeededReal: row.succeeded_real,
    failedReal: row.failed_real,
    fault: row.fault,
    status: row.status,
  };
}

/** A known id stays as it is. */
export async function insertWebhook(store: Store, added: NewWebhook): Promise<Webhook> {
  const { webhookId, url, campaignId, types, by, nowReal, cursor } = added;
  return store.transaction(async (tx) => {
    const { numInsertedOrUpdatedRows: inserted } = await tx
      .insertInto('webhooks')
      .values({
        webhook_id: webhookId,
        url,
        campaign_id: campaignId,
        types: types === null ? null : JSON.stringify(types),
        made_by: by,
        made_real: nowReal,
        state: 'active',
        since_real: nowReal,
        cursor,
      })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    if (inserted === 1n) await logChange(tx, { ...added, change: 'added' });
    return (await findWebhook(tx, webhookId)) as Webhook;
  });
}

export async function findWebhook(db: Queries, webhookId: string): Promise<Webhook | undefined> {
  const row = await db.selectFrom('webhooks').selectAll().where('webhook_id', '=', webhookId).executeTakeFirst();
  return row === undefined ? undefined : toWebhook(row);
}

export async function listWebhooks(db: Queries): Promise<Webhook[]> {
  const rows = await db.selectFrom('webhooks').selectAll().orderBy('made_real').orderBy('webhook_id').execute();
  return rows.map(toWebhook);
}

/** Ends deliveries, except a request under way. Returns whether the id existed. */
export async function deleteWebhook(store: Store, change: ChangeOfWebhook): Promise<boolean> {
  return store.transaction(async (tx) => {
    const known = await findWebhook(tx, change.webhookId);
    if (known === undefined) return false;
    await tx.deleteFrom('webhooks').where('webhook_id', '=', change.webhookId).execute();
    await logChange(tx, { ...change, campaignId: known.campaignId, change: 'removed' });
    return true;
  });
}

/** Resuming continues from the cursor, at once also after failures. Idempotent. */
export async function steerWebhook(store: Store, command: 'pause' | 'resume', change: ChangeOfWebhook): Promise<void> {
  await store.transaction(async (tx) => {
    const known = await findWebhook(tx, change.webhookId);
    if (known === undefined) return;
    const isDelivering = deliveringStates.some((state) => state === known.state);
    const { campaignId } = known;
    const state = { reason: null, since_real: change.nowReal };
    if (command === 'pause' && isDelivering) {
      await updateWebhook(tx, change.webhookId, { ...state, state: 'paused' });
      await logChange(tx, { ...change, campaignId, change: 'paused' });
    }
    if (command !== 'resume') return;
    const afresh = { failures: 0, ...(isDelivering ? {} : { ...state, state: 'active', failing_since_real: null }) };
    await updateWebhook(tx, change.webhookId, afresh as Partial<Row<'webhooks'>>);
    if (!isDelivering) await logChange(tx, { ...change, campaignId, change: 'resumed' });
  });
}

export async function updateWebhook(tx: Tx, webhookId: string, changes: Partial<Row<'webhooks'>>): Promise<void> {
  await tx.updateTable('webhooks').set(changes).where('webhook_id', '=', webhookId).execute();
}

/** Into the log of its campaign, or of the account. */
export async function logChange(
  tx: Tx,
  details: { webhookId: string; campaignId: string | null; by: string; now: number; change: WebhookChange },
): Promise<void> {
  const { webhookId: webhook, campaignId, by, now, change } = details;
  const data = { webhook, change, by };
  await appendEvents(tx, [{ at: now, campaignId: campaignId ?? 'account', type: 'webhook.changed', data }]);
}
