import type { Selectable } from 'kysely';
import { unsentStates } from '../domain/ledger.ts';
import { appendEvents } from './events.ts';
import { findEvidenceFor } from './evidence.ts';
import type { Queries, Store } from './open-store.ts';
import { releaseAttempts } from './release.ts';
import type { Database } from './schema.ts';
import { settleAttempts } from './settle.ts';
import { enterUnknown } from './verdicts.ts';

/**
 * An answer promised that nothing of the batch was queued, and yet a stored record shows a call to one of its people: the promise is worth
 * neither a second POST nor giving the people back to the planner. The batch counts as placed and becomes `unknown`, for records to
 * settle. Ask before a batch that was posted is sent again or given back. Answers whether it counts as placed now.
 */
export async function countAsPlacedIfSeen(
  tx: Queries,
  store: Store,
  batch: Selectable<Database['batches']>,
  now: number,
): Promise<boolean> {
  if (batch.posts === 0 || batch.state !== 'not_sent') return false;
  const { batch_id: batchId, campaign_id: campaignId } = batch;
  const attempts = await tx
    .selectFrom('attempts')
    .selectAll()
    .where('batch_id', '=', batchId)
    .where('state', '=', 'planned')
    .execute();
  if (!(await findEvidenceFor(tx, batch, attempts))) return false;
  if (!(await store.compareAndSetBatch(tx, batchId, ['not_sent'], 'posting'))) return false;
  const data = { state: 'posting', by: 'evidence' };
  await appendEvents(tx, [{ at: now, campaignId, type: 'batch.state', batchId, data }]);
  return enterUnknown(tx, store, batch, now);
}

/** Attempts of batches that were given back after a POST which was said to have queued nothing, for these recipients. */
async function findDenied(tx: Queries, recipientIds: readonly string[]) {
  return tx
    .selectFrom('attempts')
    .innerJoin('batches', 'batches.batch_id', 'attempts.batch_id')
    .select(['attempts.attempt_id', 'attempts.recipient_id', 'attempts.batch_id'])
    .where('attempts.recipient_id', 'in', recipientIds)
    .where('attempts.state', '=', 'released')
    .where('attempts.posted_at', 'is not', null)
    .where('batches.state', '=', 'released')
    .orderBy('attempts.number')
    .execute();
}

/** Which of these batches a stored record shows to have been carried out. */
async function findCarriedOut(tx: Queries, batchIds: ReadonlySet<string>): Promise<Set<string>> {
  const carriedOut = new Set<string>();
  for (const batchId of batchIds) {
    const batch = await tx.selectFrom('batches').selectAll().where('batch_id', '=', batchId).executeTakeFirstOrThrow();
    const attempts = await tx
      .selectFrom('attempts')
      .selectAll()
      .where('batch_id', '=', batchId)
      .where('posted_at', 'is not', null)
      .execute();
    if (await findEvidenceFor(tx, batch, attempts)) carriedOut.add(batchId);
  }
  return carriedOut;
}

/**
 * As `countAsPlacedIfSeen`, for people of a batch that was given back before the record of its calls came: they are about to be dialled
 * in another batch. Their first call counts as placed, and is `unknown` until its record settles it; the new one is released.
 */
export async function settleDeniedCalls(
  tx: Queries,
  batch: Selectable<Database['batches']>,
  now: number,
): Promise<void> {
  if (!unsentStates.includes(batch.state)) return;
  const { batch_id: batchId, campaign_id: campaignId } = batch;
  const planned = await tx
    .selectFrom('attempts')
    .select(['attempt_id', 'recipient_id'])
    .where('batch_id', '=', batchId)
    .where('state', '=', 'planned')
    .execute();
  if (planned.length === 0) return;
  const denied = await findDenied(
    tx,
    planned.map((attempt) => attempt.recipient_id),
  );
  if (denied.length === 0) return;
  const carriedOut = await findCarriedOut(tx, new Set(denied.map((attempt) => attempt.batch_id)));
  const placed = new Map(
    denied.filter((attempt) => carriedOut.has(attempt.batch_id)).map((attempt) => [attempt.recipient_id, attempt]),
  );
  for (const { attempt_id: attemptId, recipient_id: recipientId } of planned) {
    const first = placed.get(recipientId);
    if (first === undefined) continue;
    const next = { kind: 'requeue' as const, dueAt: now };
    const release = { attemptId, recipientId, reason: 'called_before', next };
    await releaseAttempts(tx, campaignId, batchId, [release], now);
    await tx
      .updateTable('attempts')
      .set({ state: 'open', reason: null })
      .where('attempt_id', '=', first.attempt_id)
      .execute();
    const result = { disposition: 'unknown' as const, detail: 'denied', counted: true };
    await settleAttempts(tx, campaignId, [{ attemptId: first.attempt_id, result }], now);
  }
}
