import { compareAndSetBatch } from '../batch-state.ts';
import { openAttemptStates, unsentStates, type BatchState } from '../../rules/ledger.ts';
import { withdrawnReason } from '../../rules/attempts/eligibility.ts';
import type { EventData, NewEvent } from '../../rules/events.ts';
import { endsRow } from '../../rules/talk-results.ts';
import { appendEvents } from '../events.ts';
import { attemptsOf } from '../reads.ts';
import type { At, Tx } from '../tx.ts';
import { finishRecipients, requeueRecipient, requireRecipient, type Finish } from './recipients.ts';
import type { Outcome } from '../../rules/outcome.ts';
import { updateAttempt, updateBatch } from '../updates.ts';
import type { BatchRow } from '../schema.ts';

/** Refused together with others, and resent in halves. */
export const refusedInBatch = 'refused_in_batch';

/** An earlier call reached the row while a later one was planned. */
export const reachedEarlier = 'reached_by_earlier_attempt';

export interface Release {
  attemptId: string;
  recipientId: string;
  /** Why no call was made, or none is counted. */
  reason: string;
  /** According to the service's report. */
  by?: 'report';
  next: { kind: 'requeue'; dueAt: number } | { kind: 'finish'; outcome: Outcome; reason: string };
}

/** Takes back attempts that were not dialled. They keep their number and never count. */
export async function releaseAttempts(
  tx: Tx,
  { campaignId, batchId, now }: At & { batchId: string },
  releases: readonly Release[],
): Promise<void> {
  const events: NewEvent[] = [];
  for (const { attemptId, recipientId, reason, by, next } of releases) {
    await updateAttempt(tx, attemptId, { state: 'released', settled_at: now, reason, counted: 0, evidence: by });
    const ids = { campaignId, recipientId, attemptId, batchId };
    events.push({ at: now, ...ids, type: 'attempt.released', data: { reason, ...(by === undefined ? {} : { by }) } });
    const finish = (end: Omit<Finish, 'recipientId'>) => finishRecipients(tx, { campaignId, now }, [{ recipientId, ...end }]);
    if (next.kind === 'finish') {
      await finish({ outcome: next.outcome, reason: next.reason });
      continue;
    }
    const recipient = await requireRecipient(tx, recipientId);
    if (recipient.state !== 'open') continue;
    // An earlier call reached the recipient meanwhile: no further call is placed.
    const talk = (await findTalks(tx, [recipientId])).get(recipientId);
    if (talk !== undefined) await finish({ outcome: talk, reason: reachedEarlier });
    else if (recipient.taken_out_at !== null) await finish({ outcome: 'cancelled', reason: withdrawnReason });
    else {
      const dueAt = Math.max(next.dueAt, recipient.due_at);
      await requeueRecipient(tx, { campaignId, now }, { ...recipient, dueAt });
    }
  }
  await appendEvents(tx, events);
}

/** By recipient, if a call has ended the row. */
export async function findTalks(tx: Tx, recipientIds: readonly string[]): Promise<Map<string, 'completed' | 'opted_out'>> {
  const rows = await tx
    .selectFrom('attempts')
    .select(['recipient_id', 'disposition', 'asks'])
    .where('recipient_id', 'in', recipientIds)
    .where('disposition', 'in', ['answered', 'opted_out'])
    // An opt-out comes last and wins.
    .orderBy('disposition')
    .execute();
  const talks = rows.filter(endsRow);
  return new Map(talks.map((row) => [row.recipient_id, row.disposition === 'opted_out' ? 'opted_out' : 'completed']));
}

/** Releases the batch's attempts that hold a slot; recipients are requeued at once. */
export async function releaseBatchAttempts(
  tx: Tx,
  { campaign_id: campaignId, batch_id: batchId }: BatchRow,
  { reason, now }: { reason: string; now: number },
): Promise<void> {
  const attempts = await attemptsOf(tx, batchId, openAttemptStates);
  const releases = attempts.map((attempt) => ({
    attemptId: attempt.attempt_id,
    recipientId: attempt.recipient_id,
    reason,
    next: { kind: 'requeue' as const, dueAt: now },
  }));
  await releaseAttempts(tx, { campaignId, batchId, now }, releases);
}

/** Gives an unsent batch back; recipients are requeued at once. False: it is past that. */
export async function releaseBatch(tx: Tx, batch: BatchRow, { reason, now }: { reason: string; now: number }): Promise<boolean> {
  if (!(await compareAndSetBatch(tx, batch.batch_id, { from: unsentStates, to: 'released' }))) return false;
  await updateBatch(tx, batch.batch_id, { reason, verdict_at: now });
  await releaseBatchAttempts(tx, batch, { reason, now });
  await appendEvents(tx, [batchStateEvent(batch, now, { state: 'released', reason })]);
  return true;
}

export function batchStateEvent(batch: { campaign_id: string; batch_id: string }, at: number, data: EventData['batch.state']): NewEvent {
  return { at, campaignId: batch.campaign_id, type: 'batch.state', batchId: batch.batch_id, data };
}

interface BatchMove {
  from: readonly BatchState[];
  event: EventData['batch.state'];
  now: number;
  changes?: Parameters<typeof updateBatch>[2];
}

/** As `compareAndSetBatch`, and logs it. */
export async function moveBatch(
  tx: Tx,
  batch: { campaign_id: string; batch_id: string },
  { from, event, now, changes }: BatchMove,
): Promise<boolean> {
  if (!(await compareAndSetBatch(tx, batch.batch_id, { from, to: event.state }))) return false;
  if (changes !== undefined) await updateBatch(tx, batch.batch_id, changes);
  await appendEvents(tx, [batchStateEvent(batch, now, event)]);
  return true;
}
