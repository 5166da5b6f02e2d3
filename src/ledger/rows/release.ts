import type { Selectable } from 'kysely';
import { openAttemptStates, unsentStates } from '../../domain/ledger.ts';
import type { NewEvent } from '../../domain/events.ts';
import { appendEvents } from '../events.ts';
import type { Queries, Store } from '../open-ledger.ts';
import { finishRecipients, requeueRecipient } from './recipients.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { Database } from '../schema.ts';

/** Reason of attempts that the service refused together with others, and that are sent again in halves. */
export const refusedInBatch = 'refused_in_batch';

export interface Release {
  attemptId: string;
  recipientId: string;
  /** Why no call was made, or that none is counted. */
  reason: string;
  /** What becomes of the recipient: back in line from that instant, or done. */
  next: { kind: 'requeue'; dueAt: number } | { kind: 'finish'; outcome: Outcome; reason: string };
}

/** Takes attempts back that were not dialled. They keep their number and never count. */
export async function releaseAttempts(
  tx: Queries,
  campaignId: string,
  batchId: string,
  releases: readonly Release[],
  now: number,
): Promise<void> {
  const events: NewEvent[] = [];
  for (const release of releases) {
    await tx
      .updateTable('attempts')
      .set({ state: 'released', settled_at: now, reason: release.reason, counted: 0 })
      .where('attempt_id', '=', release.attemptId)
      .execute();
    events.push({
      at: now,
      campaignId,
      type: 'attempt.released',
      recipientId: release.recipientId,
      attemptId: release.attemptId,
      batchId,
      data: { reason: release.reason },
    });
    if (release.next.kind === 'finish') {
      const { outcome, reason } = release.next;
      await finishRecipients(tx, campaignId, [{ recipientId: release.recipientId, outcome, reason }], now);
    } else {
      const recipient = await tx
        .selectFrom('recipients')
        .select(['recipient_id', 'outcome', 'counted', 'uncounted_in_row', 'state'])
        .where('recipient_id', '=', release.recipientId)
        .executeTakeFirstOrThrow();
      if (recipient.state !== 'open') continue;
      // What came of an earlier call while this one was open: nobody is to be called again.
      const talk = await findTalk(tx, release.recipientId);
      if (talk !== null) {
        const reached = { outcome: talk, reason: 'reached_by_earlier_attempt' };
        await finishRecipients(tx, campaignId, [{ recipientId: release.recipientId, ...reached }], now);
        continue;
      }
      const posted = recipient.counted + recipient.uncounted_in_row > 0;
      await requeueRecipient(tx, campaignId, { ...recipient, posted }, release.next.dueAt, now);
    }
  }
  await appendEvents(tx, events);
}

/** The outcome of somebody who was reached in a call; null: nobody has been. */
async function findTalk(tx: Queries, recipientId: string): Promise<'completed' | 'opted_out' | null> {
  const rows = await tx
    .selectFrom('attempts')
    .select('disposition')
    .where('recipient_id', '=', recipientId)
    .where('disposition', 'in', ['answered', 'opted_out'])
    .execute();
  if (rows.length === 0) return null;
  return rows.some(({ disposition }) => disposition === 'opted_out') ? 'opted_out' : 'completed';
}

/** Releases every attempt of a batch that holds a slot; the recipients go back in line at once. */
export async function releaseBatchAttempts(
  tx: Queries,
  campaignId: string,
  batchId: string,
  reason: string,
  now: number,
): Promise<void> {
  const attempts = await tx
    .selectFrom('attempts')
    .select(['attempt_id', 'recipient_id'])
    .where('batch_id', '=', batchId)
    .where('state', 'in', openAttemptStates)
    .orderBy('position')
    .execute();
  const releases = attempts.map((attempt) => ({
    attemptId: attempt.attempt_id,
    recipientId: attempt.recipient_id,
    reason,
    next: { kind: 'requeue' as const, dueAt: now },
  }));
  await releaseAttempts(tx, campaignId, batchId, releases, now);
}

/** Gives a batch back of which nothing was sent; its recipients go back in line at once. Answers false when it is past that. */
export async function releaseBatch(
  tx: Queries,
  store: Store,
  batch: Selectable<Database['batches']>,
  reason: string,
  now: number,
): Promise<boolean> {
  if (!(await store.compareAndSetBatch(tx, batch.batch_id, unsentStates, 'released'))) return false;
  await tx.updateTable('batches').set({ reason, verdict_at: now }).where('batch_id', '=', batch.batch_id).execute();
  await releaseBatchAttempts(tx, batch.campaign_id, batch.batch_id, reason, now);
  const data = { state: 'released', reason } as const;
  await appendEvents(tx, [
    { at: now, campaignId: batch.campaign_id, type: 'batch.state', batchId: batch.batch_id, data },
  ]);
  return true;
}
