import { batchStateEvent, moveBatch, releaseBatchAttempts } from '../rows/release.ts';
import { compareAndSetBatch } from '../batch-state.ts';
import { acceptedLate } from '../../rules/disposition.ts';
import { unansweredAttemptStates, type BatchState, type PostVerdict } from '../../rules/ledger.ts';
import { unknownsBeforePause } from '../../rules/pacing/breaker.ts';
import { holdAccount, notePace } from '../limits/account-pace.ts';
import { changeCampaignState, requireCampaign } from '../rows/campaigns.ts';
import { appendEvents } from '../events.ts';
import type { EventData } from '../../rules/events.ts';
import { findEvidenceFor, hasRecord } from './evidence.ts';
import { olderWhileSubmitting } from '../ledger-older.ts';
import { lockBatch } from '../locks.ts';
import { attemptsOf, findBatch } from '../reads.ts';
import type { Store, Tx } from '../tx.ts';
import { isAboutCalls, pauseForRefusal } from './refusal.ts';
import { pauseUnwitnessed, unknownBackoffMs, unwitnessedWords } from '../limits/safety.ts';
import { settleAsUnknown } from '../rows/settle.ts';
import { updateAttemptsOf, updateBatch, updateRound } from '../updates.ts';
import type { BatchRow } from '../schema.ts';

/** The sending process is gone or does not know the result. */
export async function enterUnknown(tx: Tx, batch: BatchRow, now: number): Promise<boolean> {
  return countAsUnknown(tx, batch, { from: ['posting'], now });
}

/**
 * The batch may have been queued: its attempts count as placed until evidence says more. `from`: allowed states; a denial is only a claim.
 */
export async function countAsUnknown(
  tx: Tx,
  batch: BatchRow,
  { from, now }: { from: readonly BatchState[]; now: number },
): Promise<boolean> {
  const { campaign_id: campaignId, batch_id: batchId } = batch;
  const changes = { unknown_since: now, progress_at: now, verdict_at: now };
  if (!(await moveBatch(tx, batch, { from, event: { state: 'unknown' }, now, changes }))) return false;
  const unanswered = { batch_id: batchId, states: unansweredAttemptStates };
  await updateAttemptsOf(tx, unanswered, { state: 'open', posted_at: batch.first_posted_at ?? now });
  const round = await tx
    .selectFrom('rounds')
    .select('unknown_streak')
    .where('campaign_id', '=', campaignId)
    .where('round', '=', batch.round)
    .executeTakeFirstOrThrow();
  const streak = round.unknown_streak + 1;
  await updateRound(tx, batch, { unknown_streak: streak, blocked_until: now + unknownBackoffMs(streak) });
  // A record may be faster than a slow answer: confirm now, as no process returns to the batch.
  if (await hasRecord(tx, batchId)) await confirmBatch(tx, { ...batch, state: 'unknown' }, { acceptedBy: 'evidence', now });
  else if (streak >= unknownsBeforePause) {
    const reason = `${streak} batches in a row ended without a known answer. Check the service, then resume.`;
    await changeCampaignState(tx, { campaignId, now }, { to: 'paused', reason });
  }
  return true;
}

/** By its reply, its mark at the service, or a conversation that could not exist otherwise. */
type Acceptance =
  | { acceptedBy: 'reply'; serviceBatchId: string; callsInitiated: number | null }
  | { acceptedBy: 'look_up'; serviceBatchId: string }
  | { acceptedBy: 'evidence' };

function keptOf(by: Acceptance) {
  switch (by.acceptedBy) {
    case 'reply':
      return { service_batch_id: by.serviceBatchId, calls_initiated: by.callsInitiated };
    case 'look_up':
      return { service_batch_id: by.serviceBatchId };
    case 'evidence':
      return {};
  }
}

export async function confirmBatch(tx: Tx, batch: BatchRow, by: Acceptance & { now: number }): Promise<boolean> {
  const { now } = by;
  const isReply = by.acceptedBy === 'reply';
  const kept = keptOf(by);
  const eventData = { by: by.acceptedBy, ...kept } as Pick<EventData['batch.state'] & { state: 'confirmed' }, 'by'>;
  // A record, or the request stored at the service, outranks its denial.
  const denied: BatchState[] = ['refused', 'not_sent'];
  if (!isReply && denied.includes(batch.state)) await countAsUnknown(tx, batch, { from: denied, now });
  const doubtful: BatchState[] = ['unknown', 'held', 'redial', 'given_up'];
  const from = isReply ? [...doubtful, 'posting' as const] : doubtful;
  const changes = { ...kept, accepted_by: by.acceptedBy, progress_at: now, verdict_at: now };
  if (!(await moveBatch(tx, batch, { from, event: { state: 'confirmed', ...eventData } as EventData['batch.state'], now, changes }))) {
    // Evidence was faster: keep what only the reply contains.
    if (by.acceptedBy !== 'evidence' && batch.state === 'confirmed' && batch.service_batch_id === null)
      await updateBatch(tx, batch.batch_id, { ...kept, accepted_by: by.acceptedBy });
    return false;
  }
  await updateAttemptsOf(tx, { batch_id: batch.batch_id, states: ['posting'] }, { state: 'open' });
  await updateRound(tx, batch, { unknown_streak: 0, ...(isReply ? { refused_streak: 0 } : {}) });
  if (batch.state === 'redial' || batch.state === 'held') await callOffRedial(tx, batch, now);
  return true;
}

/** An unknown batch was carried out: cancels its redials not placed yet. */
async function callOffRedial(tx: Tx, batch: BatchRow, now: number): Promise<void> {
  const waiting = await tx
    .selectFrom('attempts')
    .select('attempt_id')
    .where('batch_id', '=', batch.batch_id)
    .where('state', '=', 'settled')
    .where('disposition', '=', 'unknown')
    .where('conversation_id', 'is', null)
    // In a held batch an operator may have requeued single rows.
    .$if(batch.state === 'held', (query) => query.where('reason', '=', 'redial'))
    .execute();
  await tx.updateTable('attempts').set({ reason: null }).where('batch_id', '=', batch.batch_id).where('reason', '=', 'redial').execute();
  const attemptIds = waiting.map((attempt) => attempt.attempt_id);
  await settleAsUnknown(tx, { campaignId: batch.campaign_id, now }, { attemptIds, detail: acceptedLate });
}

async function applyNotSent(tx: Tx, batch: BatchRow, input: VerdictInput): Promise<void> {
  const { now, notBefore } = input;
  // A record of a call outranks the denial: it stays unknown.
  const seen = batch.state === 'unknown' && (await findEvidenceFor(tx, batch, await attemptsOf(tx, batch.batch_id, ['open']))) !== null;
  const move = { from: denialStates, now, changes: { verdict_at: now } };
  if (!seen && !(await moveBatch(tx, batch, { ...move, event: { state: 'not_sent' } }))) return;
  if (notBefore != null) {
    const { accountId } = await requireCampaign(tx, batch.campaign_id);
    await holdAccount(tx, accountId, notBefore);
  }
  if (seen) return;
  // No process returns to a batch given up as unknown.
  if (batch.state === 'unknown') return giveBackUnsent(tx, batch, { reason: 'not_sent', now });
  // Keeps the POST's time: a record against the denial is then read, and counts before the next POST.
  await updateAttemptsOf(tx, { batch_id: batch.batch_id, states: ['posting'] }, { state: 'planned' });
}

async function giveBackUnsent(tx: Tx, batch: BatchRow, { reason, now }: { reason: string; now: number }): Promise<void> {
  await compareAndSetBatch(tx, batch.batch_id, { from: ['not_sent'], to: 'released' });
  await releaseBatchAttempts(tx, batch, { reason, now });
  await appendEvents(tx, [batchStateEvent(batch, now, { state: 'released' })]);
}

/** Certainly not carried out: requeues the recipients, uncounted. */
export async function releaseAsAbsent(tx: Tx, batch: BatchRow, now: number): Promise<void> {
  const event = { state: 'not_sent', by: 'look_up' } as const;
  if (!(await moveBatch(tx, batch, { from: ['unknown'], event, now, changes: { verdict_at: now } }))) return;
  await giveBackUnsent(tx, batch, { reason: 'not_carried_out', now });
}

/** States in which a denial counts. */
const denialStates: readonly BatchState[] = ['posting', 'unknown'];

/**
 * Records what the poster knows, at any time: it outranks missing evidence, and the first verdict stays. Returns the batch's state. Throws
 * `LedgerOlderError`.
 */
export async function recordVerdict(store: Store, input: VerdictInput): Promise<BatchState> {
  return store.transaction(async (tx) => {
    const batch = await lockBatch(tx, input.batchId);
    if (!(await settlePost(tx, input))) {
      if (input.k > batch.posts && input.entry === undefined) throw olderWhileSubmitting(input.batchId, input.k);
      return batch.state;
    }
    const { campaign_id: campaignId, batch_id: batchId } = batch;
    const { now, k, verdict, status = null } = input;
    await appendEvents(tx, [{ at: now, campaignId, type: 'post.verdict', batchId, data: { k, verdict, status } }]);
    await notePace(tx, batch, input);
    if (verdict === 'confirmed') {
      const { serviceBatchId = '', callsInitiated = null } = input;
      await confirmBatch(tx, batch, { acceptedBy: 'reply', serviceBatchId, callsInitiated, now });
    } else if (verdict === 'not_sent') {
      await applyNotSent(tx, batch, input);
      if (input.unwitnessed === true) await pauseUnwitnessed(tx, batch, now);
    } else if (verdict === 'refused') await applyRefused(tx, batch, input);
    else await enterUnknown(tx, batch, now);
    return (await findBatch(tx, batchId))?.state ?? batch.state;
  });
}

async function applyRefused(tx: Tx, batch: BatchRow, { now, status, wholeRequest }: VerdictInput): Promise<void> {
  const event = { state: 'refused', status: status ?? null } as const;
  if (!(await moveBatch(tx, batch, { from: denialStates, event, now, changes: { verdict_at: now } }))) return;
  if (isAboutCalls(status ?? 0, wholeRequest ?? false)) {
    // A claim: before any redial the list must show nothing else (see `concludeSweep`).
    await updateAttemptsOf(tx, { batch_id: batch.batch_id, states: ['posting'] }, { state: 'open' });
  } else await pauseForRefusal(tx, batch, { status: status ?? 0, now });
}

export interface VerdictInput {
  batchId: string;
  k: number;
  /** From a process that never learnt whether its entry was committed: applies to it alone. */
  entry?: string;
  verdict: PostVerdict;
  now: number;
  status?: number | null;
  serviceRequestId?: string | null;
  /** The service's own text; for the database only. */
  message?: string | null;
  /** The answer's `Date`, epoch ms of the service's clock; null or absent: none. */
  serviceDate?: number | null;
  serviceBatchId?: string;
  /** Absent: not reported. */
  callsInitiated?: number;
  /** For `not_sent` by 429: no POST of this account before this instant (service time). */
  notBefore?: number | null;
  /** For `not_sent`: the POST never began, since Temporal did not record it. */
  unwitnessed?: boolean;
  /** For 400 and 422: something outside the calls was refused, so smaller batches cannot help. */
  wholeRequest?: boolean;
}

/** False: the POST has a verdict, or another entry. */
export async function settlePost(tx: Tx, input: VerdictInput): Promise<boolean> {
  const serviceTo = input.serviceDate ?? null;
  const { entry } = input;
  const result = await tx
    .updateTable('posts')
    .set((eb) => ({
      // Before the last Date: the clock was set back unseen, and the POST came after both.
      ...(serviceTo === null
        ? {}
        : {
            service_from: eb.case().when('service_from', '>', serviceTo).then(serviceTo).else(eb.ref('service_from')).end(),
          }),
      service_to: serviceTo,
      verdict: input.verdict,
      verdict_at: input.now,
      status: input.status ?? null,
      service_request_id: input.serviceRequestId ?? null,
      message: input.unwitnessed === true ? unwitnessedWords : (input.message ?? null),
    }))
    .where('batch_id', '=', input.batchId)
    .where('k', '=', input.k)
    .where('verdict', 'is', null)
    .$if(entry !== undefined, (query) => query.where('entry', '=', entry ?? ''))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}
