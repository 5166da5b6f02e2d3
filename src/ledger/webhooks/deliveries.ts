import { randomUUID } from 'node:crypto';
import { failingAfterMs } from '../../rules/webhooks/pace.ts';
import type { Tx, Store } from '../tx.ts';
import { deliveringStates, findWebhook, logChange, updateWebhook, type Webhook } from './registry.ts';

/** The right to deliver to a webhook, until another process takes it. */
export interface Claim {
  webhookId: string;
  deliverer: string;
}

const self = 'carillon';

/** A process cut off earlier moves no cursor any more. Null: nothing to deliver. */
export async function claimDeliveries(store: Store, webhookId: string): Promise<{ claim: Claim; webhook: Webhook } | null> {
  const deliverer = randomUUID();
  return store.transaction(async (tx) => {
    const { numUpdatedRows: taken } = await tx
      .updateTable('webhooks')
      .set({ deliverer })
      .where('webhook_id', '=', webhookId)
      .where('state', 'in', deliveringStates)
      .executeTakeFirstOrThrow();
    const webhook = await findWebhook(tx, webhookId);
    return taken === 0n || webhook === undefined ? null : { claim: { webhookId, deliverer }, webhook };
  });
}

/** `lost`: another process delivers; `over`: nothing more is delivered. */
export type ClaimState = 'held' | 'lost' | 'over';

export async function readClaim({ db }: Pick<Store, 'db'>, { webhookId, deliverer }: Claim): Promise<ClaimState> {
  const row = await db.selectFrom('webhooks').select(['deliverer', 'state']).where('webhook_id', '=', webhookId).executeTakeFirst();
  if (row === undefined || !deliveringStates.some((state) => state === row.state)) return 'over';
  return row.deliverer === deliverer ? 'held' : 'lost';
}

/** Everything up to `cursor` is confirmed, or not for this webhook. Returns whether the claim was still held. */
export async function moveCursor(store: Store, { webhookId, deliverer }: Claim, cursor: number): Promise<boolean> {
  return store.transaction(async (tx) => {
    const { numUpdatedRows: moved } = await tx
      .updateTable('webhooks')
      .set({ cursor })
      .where('webhook_id', '=', webhookId)
      .where('deliverer', '=', deliverer)
      .executeTakeFirstOrThrow();
    return moved === 1n;
  });
}

interface Now {
  now: number;
  nowReal: number;
}

/** As `moveCursor`, after the receiver has confirmed this event. */
export async function noteDelivered(store: Store, claim: Claim, { cursor, now, nowReal }: Now & { cursor: number }): Promise<boolean> {
  return store.transaction(async (tx) => {
    const webhook = await findOwn(tx, claim);
    if (webhook === null) return false;
    await updateWebhook(tx, claim.webhookId, {
      cursor,
      failures: 0,
      failing_since_real: null,
      succeeded_real: nowReal,
      ...(webhook.state === 'failing' ? { state: 'active', since_real: nowReal } : {}),
    });
    if (webhook.state === 'failing') await logChange(tx, { ...webhook, by: self, now, change: 'recovered' });
    return true;
  });
}

/**
 * Returns the failures in a row, or null: claim lost. After days of failures the webhook is marked as failing, once; `isFinal` disables it.
 */
export async function noteFailed(
  store: Store,
  claim: Claim,
  { fault, status, isFinal, now, nowReal }: Now & { fault: string; status: number | null; isFinal: boolean },
): Promise<number | null> {
  return store.transaction(async (tx) => {
    const webhook = await findOwn(tx, claim);
    if (webhook === null) return null;
    const { failures, failingSinceReal, state } = webhook;
    const since = failingSinceReal ?? nowReal;
    const change = isFinal ? 'disabled' : state === 'active' && nowReal - since >= failingAfterMs ? 'failing' : null;
    await updateWebhook(tx, claim.webhookId, {
      failures: failures + 1,
      failing_since_real: since,
      failed_real: nowReal,
      fault,
      status,
      ...(change === null ? {} : { state: change, since_real: nowReal }),
      ...(isFinal ? { reason: 'its receiver answered 410: it wants nothing more' } : {}),
    });
    if (change !== null) await logChange(tx, { ...webhook, by: self, now, change });
    return failures + 1;
  });
}

/** An answer still counts if the webhook was paused meanwhile. */
async function findOwn(tx: Tx, { webhookId, deliverer }: Claim): Promise<Webhook | null> {
  const own = await tx
    .selectFrom('webhooks')
    .select('webhook_id')
    .where('webhook_id', '=', webhookId)
    .where('deliverer', '=', deliverer)
    .executeTakeFirst();
  return own === undefined ? null : ((await findWebhook(tx, webhookId)) ?? null);
}
