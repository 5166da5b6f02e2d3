import type { Selectable } from 'kysely';
import { acceptedLate } from '../../domain/disposition.ts';
import type { EventData } from '../../domain/events.ts';
import type { BatchState } from '../../domain/ledger.ts';
import { notePace } from '../limits/account-pace.ts';
import { changeCampaignState } from '../rows/campaigns.ts';
import { appendEvents } from '../events.ts';
import { findEvidenceFor } from './evidence.ts';
import { olderWhileSubmitting } from '../ledger-older.ts';
import { lockBatch, type Queries, type Store } from '../open-ledger.ts';
import { settlePost, type VerdictInput } from './posts.ts';
import { isAboutCalls, pauseForRefusal } from './refusal.ts';
import { releaseBatchAttempts } from '../rows/release.ts';
import { pauseUnwitnessed, unknownBackoffMs, unknownsBeforePause } from '../limits/safety.ts';
import { settleAttempts } from '../rows/settle.ts';
import type { Database } from '../schema.ts';

type BatchRow = Selectable<Database['batches']>;

/** The process that was to send the batch does not know what became of it, or is gone. */
export async function enterUnknown(tx: Queries, store: Store, batch: BatchRow, now: number): Promise<boolean> {
  return countAsUnknown(tx, store, batch, ['posting'], now);
}

/**
 * The batch may or may not have been queued: its attempts count as placed until evidence says more, and dialling backs off. `from`: the
 * states in which this may be said of it; a word of the service that it took nothing is only a claim.
 */
export async function countAsUnknown(
  tx: Queries,
  store: Store,
  batch: BatchRow,
  from: readonly BatchState[],
  now: number,
): Promise<boolean> {
  if (!(await store.compareAndSetBatch(tx, batch.batch_id, from, 'unknown'))) return false;
  await tx
    .updateTable('batches')
    .set({ unknown_since: now, progress_at: now, verdict_at: now })
    .where('batch_id', '=', batch.batch_id)
    .execute();
  await tx
    .updateTable('attempts')
    .set({ state: 'open', posted_at: batch.first_posted_at ?? now })
    .where('batch_id', '=', batch.batch_id)
    .where('state', 'in', ['planned', 'posting'])
    .execute();
  const round = await tx
    .selectFrom('rounds')
    .select('unknown_streak')
    .where('campaign_id', '=', batch.campaign_id)
    .where('round', '=', batch.round)
    .executeTakeFirstOrThrow();
  const streak = round.unknown_streak + 1;
  await tx
    .updateTable('rounds')
    .set({ unknown_streak: streak, blocked_until: now + unknownBackoffMs(streak) })
    .where('campaign_id', '=', batch.campaign_id)
    .where('round', '=', batch.round)
    .execute();
  await logState(tx, batch, { state: 'unknown' }, now);
  // A record may have been faster than a slow answer: then nothing is left to wait for, and nobody would come back to the batch.
  const seen = await tx
    .selectFrom('attempts')
    .select('attempt_id')
    .where('batch_id', '=', batch.batch_id)
    .where('conversation_id', 'is not', null)
    .executeTakeFirst();
  if (seen !== undefined) {
    await confirmBatch(tx, store, batch, { acceptedBy: 'evidence' }, now);
    return true;
  }
  if (streak >= unknownsBeforePause) {
    const reason = `${streak} batches in a row ended without a known answer. Check the service, then resume.`;
    await changeCampaignState(tx, batch.campaign_id, 'paused', reason, now);
  }
  return true;
}

async function logState(tx: Queries, batch: BatchRow, data: EventData['batch.state'], now: number): Promise<void> {
  await appendEvents(tx, [
    { at: now, campaignId: batch.campaign_id, type: 'batch.state', batchId: batch.batch_id, data },
  ]);
}

/** The service said it took the batch: by its reply, or by a conversation that could not exist otherwise. */
export async function confirmBatch(
  tx: Queries,
  store: Store,
  batch: BatchRow,
  by: { acceptedBy: 'reply'; serviceBatchId: string; callsInitiated: number } | { acceptedBy: 'evidence' },
  now: number,
): Promise<boolean> {
  const reply =
    by.acceptedBy === 'reply' ? { service_batch_id: by.serviceBatchId, calls_initiated: by.callsInitiated } : null;
  // A record of a call outranks the service's word that it took none.
  const denied: BatchState[] = ['refused', 'not_sent'];
  if (by.acceptedBy === 'evidence' && denied.includes(batch.state)) await countAsUnknown(tx, store, batch, denied, now);
  const doubtful: BatchState[] = ['unknown', 'held', 'redial', 'given_up'];
  const from = by.acceptedBy === 'reply' ? [...doubtful, 'posting' as const] : doubtful;
  const moved = await store.compareAndSetBatch(tx, batch.batch_id, from, 'confirmed');
  if (!moved) {
    // Evidence was faster than the reply: keep what only the reply tells.
    if (by.acceptedBy === 'reply' && batch.state === 'confirmed' && batch.service_batch_id === null) {
      await tx
        .updateTable('batches')
        .set({ ...reply, accepted_by: 'reply' })
        .where('batch_id', '=', batch.batch_id)
        .execute();
    }
    return false;
  }
  await tx
    .updateTable('batches')
    .set({ ...reply, accepted_by: by.acceptedBy, progress_at: now, verdict_at: now })
    .where('batch_id', '=', batch.batch_id)
    .execute();
  await tx
    .updateTable('attempts')
    .set({ state: 'open' })
    .where('batch_id', '=', batch.batch_id)
    .where('state', '=', 'posting')
    .execute();
  await tx
    .updateTable('rounds')
    .set(by.acceptedBy === 'reply' ? { unknown_streak: 0, refused_streak: 0 } : { unknown_streak: 0 })
    .where('campaign_id', '=', batch.campaign_id)
    .where('round', '=', batch.round)
    .execute();
  const told = reply === null ? { by: 'evidence' as const } : { by: 'reply' as const, ...reply };
  await logState(tx, batch, { state: 'confirmed', ...told }, now);
  if (batch.state === 'redial' || batch.state === 'held') await callOffRedial(tx, batch, now);
  return true;
}

/** People who were to be called again since nothing was known of the batch, and have been called: who was not dialled since is not. */
async function callOffRedial(tx: Queries, batch: BatchRow, now: number): Promise<void> {
  const waiting = await tx
    .selectFrom('attempts')
    .select('attempt_id')
    .where('batch_id', '=', batch.batch_id)
    .where('state', '=', 'settled')
    .where('disposition', '=', 'unknown')
    .where('conversation_id', 'is', null)
    // Of a batch that is held a person may have put single rows back in line.
    .$if(batch.state === 'held', (query) => query.where('reason', '=', 'redial'))
    .execute();
  await tx
    .updateTable('attempts')
    .set({ reason: null })
    .where('batch_id', '=', batch.batch_id)
    .where('reason', '=', 'redial')
    .execute();
  const result = { disposition: 'unknown' as const, detail: acceptedLate, counted: true };
  const settlements = waiting.map(({ attempt_id: attemptId }) => ({ attemptId, result }));
  await settleAttempts(tx, batch.campaign_id, settlements, now);
}

async function isSeen(tx: Queries, batch: BatchRow): Promise<boolean> {
  const open = await tx
    .selectFrom('attempts')
    .selectAll()
    .where('batch_id', '=', batch.batch_id)
    .where('state', '=', 'open')
    .execute();
  return findEvidenceFor(tx, batch, open);
}

async function applyNotSent(tx: Queries, store: Store, batch: BatchRow, input: VerdictInput): Promise<void> {
  const seen = batch.state === 'unknown' && (await isSeen(tx, batch));
  if (!seen && !(await store.compareAndSetBatch(tx, batch.batch_id, ['posting', 'unknown'], 'not_sent'))) return;
  if (input.notBefore != null) {
    const campaign = await tx
      .selectFrom('campaigns')
      .select('account_id')
      .where('campaign_id', '=', batch.campaign_id)
      .executeTakeFirstOrThrow();
    await holdAccount(tx, campaign.account_id, input.notBefore);
  }
  // A record that shows a call outranks the word that there was none: it stays unknown.
  if (seen) return;
  await tx.updateTable('batches').set({ verdict_at: input.now }).where('batch_id', '=', batch.batch_id).execute();
  await logState(tx, batch, { state: 'not_sent' }, input.now);
  if (batch.state === 'unknown') {
    // Nobody comes back for a batch that was given up as unknown: its recipients go back in line.
    await store.compareAndSetBatch(tx, batch.batch_id, ['not_sent'], 'released');
    await releaseBatchAttempts(tx, batch.campaign_id, batch.batch_id, 'not_sent', input.now);
    await logState(tx, batch, { state: 'released' }, input.now);
    return;
  }
  // The time of the POST stays: should a record of it turn up against the promise, it is read, and speaks before the next POST.
  await tx
    .updateTable('attempts')
    .set({ state: 'planned' })
    .where('batch_id', '=', batch.batch_id)
    .where('state', '=', 'posting')
    .execute();
}

/** From here on no POST of this account begins before that instant, unless a later one is set already. */
export async function holdAccount(tx: Queries, accountId: string, notBefore: number): Promise<void> {
  await tx
    .insertInto('accounts')
    .values({ account_id: accountId, not_before: notBefore, keep_free: 0, pace: 1000, pace_at: 0 })
    .onConflict((conflict) =>
      conflict.column('account_id').doUpdateSet({ not_before: notBefore }).where('accounts.not_before', '<', notBefore),
    )
    .execute();
}

/**
 * Writes what is known about a POST, from the process that made it, at whatever time: it outranks missing evidence. The first
 * verdict of a POST stays; repeating the call is harmless. Answers the batch's state afterwards. Throws `LedgerOlderError` when the
 * database has lost the batch, or that it was posted.
 */
export async function recordVerdict(store: Store, input: VerdictInput): Promise<BatchState> {
  return store.transaction(async (tx) => {
    const batch = await lockBatch(tx, store, input.batchId);
    if (!(await settlePost(tx, input))) {
      if (input.k > batch.posts && input.entry === undefined) throw olderWhileSubmitting(input.batchId, input.k);
      return batch.state;
    }
    const { campaign_id: campaignId, batch_id: batchId } = batch;
    const data = { k: input.k, verdict: input.verdict, status: input.status ?? null };
    await appendEvents(tx, [{ at: input.now, campaignId, type: 'post.verdict', batchId, data }]);
    await notePace(tx, store, batch, input);
    if (input.verdict === 'confirmed') {
      const by = {
        acceptedBy: 'reply' as const,
        serviceBatchId: input.serviceBatchId ?? '',
        callsInitiated: input.callsInitiated ?? 0,
      };
      await confirmBatch(tx, store, batch, by, input.now);
    } else if (input.verdict === 'not_sent') {
      await applyNotSent(tx, store, batch, input);
      if (input.unwitnessed === true) await pauseUnwitnessed(tx, batch, input.now);
    } else if (input.verdict === 'refused') {
      if (await store.compareAndSetBatch(tx, batchId, ['posting', 'unknown'], 'refused')) {
        await tx.updateTable('batches').set({ verdict_at: input.now }).where('batch_id', '=', batchId).execute();
        await logState(tx, batch, { state: 'refused', status: input.status ?? null }, input.now);
        const status = input.status ?? 0;
        if (isAboutCalls(status, input.wholeRequest ?? false)) {
          // The service's word is a claim: before anybody is called again, its list is to show nothing else (see `concludeSweep`).
          await tx
            .updateTable('attempts')
            .set({ state: 'open' })
            .where('batch_id', '=', batchId)
            .where('state', '=', 'posting')
            .execute();
        } else await pauseForRefusal(tx, batch, status, input.now);
      }
    } else {
      await enterUnknown(tx, store, batch, input.now);
    }
    const after = await tx
      .selectFrom('batches')
      .select('state')
      .where('batch_id', '=', batchId)
      .executeTakeFirstOrThrow();
    return after.state;
  });
}
