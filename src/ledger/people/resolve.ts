import { moveBatch } from '../rows/batch-moves.ts';
import { updateRecipient } from '../updates.ts';
import { RefusedError } from '../ledger-error.ts';
import { notToldApart } from '../../rules/disposition.ts';
import { givenUp } from '../../rules/attempts/retry-schedule.ts';
import { requireCampaign, type Campaign } from '../rows/campaigns.ts';
import { appendEvents } from '../events.ts';
import { lockedTransaction } from '../locks.ts';
import { countRows } from '../reads.ts';
import type { At, Tx, Store } from '../tx.ts';
import { finishRecipients, takeBackOutcome } from '../rows/recipients.ts';
import type { RecipientRow } from '../schema.ts';

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

export function refuseIfNobodyIsDialled({ campaignId, state, rules }: Campaign, now: number): void {
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
 * A person's word on `unresolved` recipients: `redial` puts them back in line, `give_up` leaves the outcome. Batches that may still be
 * heard of are left alone. Idempotent. Throws RedialRefusedError.
 */
export async function resolveUnresolved(store: Store, { campaignId, now }: At, decision: 'redial' | 'give_up'): Promise<Resolution> {
  return lockedTransaction(store, campaignId, async (tx) => {
    if (decision === 'redial') refuseIfNobodyIsDialled(await requireCampaign(tx, campaignId), now);
    const ofCampaign = tx.selectFrom('batches').where('campaign_id', '=', campaignId);
    const state = decision === 'redial' ? 'redial' : 'given_up';
    for (const batch of await ofCampaign.select(['batch_id', 'campaign_id']).where('state', '=', 'held').execute())
      await moveBatch(tx, batch, { from: ['held'], event: { state, by: 'person' }, now });
    // Whose record cannot be told apart is decided about row by row, with the candidates in view.
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

/** Puts a recipient back in line by the word of a person: its calls of which nothing is known count as not made. */
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
