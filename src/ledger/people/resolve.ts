import { moveBatch } from '../rows/release.ts';
import { updateRecipient } from '../updates.ts';
import { RefusedError } from '../ledger-error.ts';
import { notToldApart } from '../../rules/disposition.ts';
import { givenUp } from '../../rules/attempts/retry-schedule.ts';
import { requireCampaign, type Campaign } from '../rows/campaigns.ts';
import { appendEvents } from '../events.ts';
import { lockedTransaction } from '../locks.ts';
import { countRows } from '../reads.ts';
import type { At, Store, Tx } from '../tx.ts';
import { finishRecipients, takeBackOutcome } from '../rows/recipients.ts';
import type { RecipientRow } from '../schema.ts';
import { sql } from 'kysely';
import { callingAttemptStates } from '../../rules/ledger.ts';
import { decideAfterTalk, settleAsUnknown } from '../rows/settle.ts';
import { lastReadAt } from '../collect/sweeps.ts';

export interface Resolution {
  /** Decided now; their call may or may not have been placed. */
  recipients: number;
  /** Rows that a redial leaves alone because their records are ambiguous. */
  apart: number;
  /** Batches too young to decide: a result may still arrive. */
  tooEarly: number;
  /** Service time from which the last of those can be decided. */
  decidableAt: number | null;
}

/** Thrown when no redial could follow: requeued rows would end as `expired` or `cancelled`, as if never called. */
export class RedialRefusedError extends RefusedError {
  override readonly name = 'RedialRefusedError' as const;
}

export function refuseIfNotDialling({ campaignId, state, rules }: Campaign, now: number): void {
  if (rules.endsAt !== null && rules.endsAt <= now) {
    throw new RedialRefusedError(
      `Campaign ${campaignId} ended for good at ${new Date(rules.endsAt).toISOString()} (ends_at): nobody would be called, so its rows stay unresolved. ` +
        'Start a new campaign with them, or leave them as they are.',
      { kind: 'leave_unresolved', campaignId },
    );
  }
  if (state === 'draining') {
    throw new RedialRefusedError(
      `Campaign ${campaignId} is draining: nobody is dialled, so its rows stay unresolved. ` +
        'Repeat this when it has ended; it then starts the next round.',
      { kind: 'await_end', campaignId },
    );
  }
}

/**
 * `redial` requeues `unresolved` recipients, `give_up` keeps the outcome. Skips batches whose result may still arrive. Idempotent. Throws
 * RedialRefusedError.
 */
export async function resolveUnresolved(store: Store, { campaignId, now }: At, decision: 'redial' | 'give_up'): Promise<Resolution> {
  return lockedTransaction(store, campaignId, async (tx) => {
    if (decision === 'redial') refuseIfNotDialling(await requireCampaign(tx, campaignId), now);
    const ofCampaign = tx.selectFrom('batches').where('campaign_id', '=', campaignId);
    const state = decision === 'redial' ? 'redial' : 'given_up';
    for (const batch of await ofCampaign.select(['batch_id', 'campaign_id']).where('state', '=', 'held').execute())
      await moveBatch(tx, batch, { from: ['held'], event: { state, by: 'person' }, now });
    // Rows with ambiguous records are decided one by one, with the candidates in view.
    const left = decision === 'redial' ? [givenUp, notToldApart] : [givenUp];
    const unresolved = tx
      .selectFrom('recipients')
      .where('campaign_id', '=', campaignId)
      .where('state', '=', 'done')
      .where('outcome', '=', 'unresolved');
    const recipients = await unresolved
      .selectAll()
      .where((eb) => eb.or([eb('reason', 'is', null), eb('reason', 'not in', left)]))
      .execute();
    if (decision === 'redial') for (const recipient of recipients) await redialRecipient(tx, recipient, now);
    else {
      const end = { outcome: 'unresolved', reason: givenUp } as const;
      const finishes = recipients.map((row) => ({ recipientId: row.recipient_id, ...end }));
      await finishRecipients(tx, { campaignId, now }, finishes);
    }
    const young = await ofCampaign
      .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.max('hold_after').as('until')])
      .where('state', 'in', ['posting', 'unknown'])
      .executeTakeFirstOrThrow();
    const apart = await countRows(unresolved.where('reason', '=', notToldApart));
    return { recipients: recipients.length, apart, tooEarly: young.count, decidableAt: young.until };
  });
}

/** Calls with an unknown result count as not made. */
export async function redialRecipient(tx: Tx, recipient: RecipientRow, now: number): Promise<void> {
  const { recipient_id: recipientId, campaign_id: campaignId, counted } = recipient;
  const uncounted = await tx
    .updateTable('attempts')
    .set({ counted: 0, reason: 'redial' })
    .where('recipient_id', '=', recipientId)
    .where('state', '=', 'settled')
    .where('disposition', '=', 'unknown')
    .where('counted', '=', 1)
    .returning(['attempt_id', 'batch_id', 'detail'])
    .execute();
  await appendEvents(
    tx,
    uncounted.map(({ attempt_id: attemptId, batch_id: batchId, detail }) => ({
      at: now,
      campaignId,
      type: 'attempt.corrected' as const,
      recipientId,
      attemptId,
      batchId,
      data: { disposition: 'unknown', detail, counted: false, from: 'unknown', by: 'person' },
    })),
  );
  await updateRecipient(tx, recipientId, { counted: Math.max(0, counted - 1) });
  await takeBackOutcome(tx, { campaignId, now }, { ...recipient, dueAt: now });
}

/** The service's list must be unreadable for this long before open calls are given up (service time). */
const unreadableForMs = 3_600_000;

export type GivenUpOpen =
  | { kind: 'given_up'; calls: number }
  /** The list was read, or a call requested, less than an hour ago: results may still arrive. */
  | { kind: 'still_read'; since: number };

/**
 * For an agent whose list is unreadable: open calls end as `unknown` and are never redialled, or the campaign could not end. Idempotent.
 */
export async function giveUpOpen(store: Store, { campaignId, now }: At, agentId: string): Promise<GivenUpOpen> {
  return lockedTransaction(store, campaignId, async (tx) => {
    const newest = await tx
      .selectFrom('attempts')
      .select((eb) => eb.fn.max('posted_at').as('postedAt'))
      .where('campaign_id', '=', campaignId)
      .where('state', 'in', callingAttemptStates)
      .executeTakeFirst();
    const since = Math.max((await lastReadAt(tx, agentId)) ?? 0, newest?.postedAt ?? 0);
    if (since > now - unreadableForMs) return { kind: 'still_read', since };
    const undecided = await tx
      .selectFrom('batches')
      .select('batch_id')
      .where('campaign_id', '=', campaignId)
      .where('state', '=', 'unknown')
      .where('hold_after', '<', now)
      .execute();
    for (const { batch_id: batchId } of undecided) {
      const batch = { campaign_id: campaignId, batch_id: batchId };
      await moveBatch(tx, batch, { from: ['unknown'], event: { state: 'held', by: 'person' }, now });
    }
    const open = await tx
      .selectFrom('attempts')
      .innerJoin('batches', 'batches.batch_id', 'attempts.batch_id')
      .select('attempts.attempt_id')
      .where('attempts.campaign_id', '=', campaignId)
      .where('attempts.state', '=', 'open')
      .where('batches.state', 'in', ['confirmed', 'held'])
      .execute();
    const attemptIds = open.map((attempt) => attempt.attempt_id);
    await settleAsUnknown(tx, { campaignId, now }, { attemptIds, detail: givenUp });
    await sql`
      update conversations set final = 1
      where final = 0 and attempt_id in (select attempt_id from attempts where campaign_id = ${campaignId})`.execute(tx);
    for (const attemptId of await findAwaited(tx, campaignId)) await decideAfterTalk(tx, { campaignId, now }, attemptId);
    return { kind: 'given_up', calls: attemptIds.length };
  });
}

/** Ended calls whose rows wait until the records are read to the end. */
async function findAwaited(tx: Tx, campaignId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('recipients')
    .innerJoin('attempts', 'attempts.attempt_id', 'recipients.last_attempt_id')
    .select('attempts.attempt_id')
    .where('recipients.campaign_id', '=', campaignId)
    .where('recipients.state', '=', 'open')
    .where('attempts.state', '=', 'settled')
    .execute();
  return rows.map((row) => row.attempt_id);
}
