import type { Selectable } from 'kysely';
import { notToldApart } from '../../domain/disposition.ts';
import { givenUp } from '../../domain/attempts/retry-schedule.ts';
import { findCampaign, type Campaign } from '../rows/campaigns.ts';
import { appendEvents } from '../events.ts';
import { RefusedError } from '../ledger-error.ts';
import { lockCampaign, type Queries, type Store } from '../open-ledger.ts';
import { finishRecipients, takeBackOutcome } from '../rows/recipients.ts';
import type { Database } from '../schema.ts';

export interface Resolution {
  /** Recipients whose call may or may not have been placed, and about whom a person has now decided. */
  recipients: number;
  /** Rows that a redial leaves alone, since their records cannot be told apart. */
  apart: number;
  /** Batches that are still too young to decide about: something may yet be heard of them. */
  tooEarly: number;
  /** Service time from which the last of those may be decided. */
  decidableAt: number | null;
}

/** Thrown when nobody would be redialled any more: rows put back in line would end as `expired` or `cancelled`, as if never called. */
export class RedialRefusedError extends RefusedError {
  override readonly name = 'RedialRefusedError' as const;
}

export function refuseIfNobodyIsDialled(campaign: Campaign | undefined, now: number): void {
  if (campaign === undefined) return;
  const { campaignId, state, rules } = campaign;
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
 * A person's word on recipients that are `unresolved`: `redial` puts them back in line with the doubtful attempt uncounted,
 * `give_up` leaves the outcome as it is. Batches that something may still be heard of are left alone. Idempotent. Throws
 * RedialRefusedError when the campaign dials nobody any more.
 */
export async function resolveUnresolved(
  store: Store,
  campaignId: string,
  decision: 'redial' | 'give_up',
  now: number,
): Promise<Resolution> {
  return store.transaction(async (tx) => {
    await lockCampaign(tx, store, campaignId);
    if (decision === 'redial') refuseIfNobodyIsDialled(await findCampaign(tx, campaignId), now);
    const held = await tx
      .selectFrom('batches')
      .select('batch_id')
      .where('campaign_id', '=', campaignId)
      .where('state', '=', 'held')
      .execute();
    for (const { batch_id: batchId } of held) {
      const to = decision === 'redial' ? 'redial' : 'given_up';
      await store.compareAndSetBatch(tx, batchId, ['held'], to);
      await appendEvents(tx, [
        { at: now, campaignId, type: 'batch.state', batchId, data: { state: to, by: 'person' } },
      ]);
    }
    // Whose record cannot be told apart is decided about row by row, with the candidates in view.
    const left = decision === 'redial' ? [givenUp, notToldApart] : [givenUp];
    const recipients = await tx
      .selectFrom('recipients')
      .selectAll()
      .where('campaign_id', '=', campaignId)
      .where('state', '=', 'done')
      .where('outcome', '=', 'unresolved')
      .where((eb) => eb.or([eb('reason', 'is', null), eb('reason', 'not in', left)]))
      .execute();
    for (const recipient of recipients) {
      if (decision === 'give_up') {
        const finish = { recipientId: recipient.recipient_id, outcome: 'unresolved' as const, reason: givenUp };
        await finishRecipients(tx, campaignId, [finish], now);
        continue;
      }
      await redialRecipient(tx, campaignId, recipient, now);
    }
    const young = await tx
      .selectFrom('batches')
      .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.max('hold_after').as('until')])
      .where('campaign_id', '=', campaignId)
      .where('state', 'in', ['posting', 'unknown'])
      .executeTakeFirstOrThrow();
    const { apart } = await tx
      .selectFrom('recipients')
      .select((eb) => eb.fn.countAll<number>().as('apart'))
      .where('campaign_id', '=', campaignId)
      .where('state', '=', 'done')
      .where('outcome', '=', 'unresolved')
      .where('reason', '=', notToldApart)
      .executeTakeFirstOrThrow();
    return { recipients: recipients.length, apart, tooEarly: young.count, decidableAt: young.until };
  });
}

/** Puts a recipient back in line by the word of a person: its calls of which nothing is known count as not made. */
export async function redialRecipient(
  tx: Queries,
  campaignId: string,
  recipient: Selectable<Database['recipients']>,
  now: number,
): Promise<void> {
  const uncounted = await tx
    .updateTable('attempts')
    .set({ counted: 0, reason: 'redial' })
    .where('recipient_id', '=', recipient.recipient_id)
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
      recipientId: recipient.recipient_id,
      attemptId,
      batchId,
      data: { disposition: 'unknown', detail, counted: false, from: 'unknown', by: 'person' },
    })),
  );
  await tx
    .updateTable('recipients')
    .set((eb) => ({
      counted: eb
        .case()
        .when('counted', '>', 0)
        .then(eb('counted', '-', 1))
        .else(0)
        .end(),
    }))
    .where('recipient_id', '=', recipient.recipient_id)
    .execute();
  await takeBackOutcome(tx, campaignId, { ...recipient, posted: true }, now, now);
}
