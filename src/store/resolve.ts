import { appendEvents } from './events.ts';
import { lockCampaign, type Store } from './open-store.ts';
import { finishRecipients, takeBackOutcome } from './recipients.ts';

export interface Resolution {
  /** Recipients whose call may or may not have been placed, and about whom a person has now decided. */
  recipients: number;
  /** Batches that are still too young to decide about: something may yet be heard of them. */
  tooEarly: number;
  /** Service time from which the last of those may be decided. */
  decidableAt: number | null;
}

/**
 * A person's word on recipients that are `unresolved`: `redial` puts them back in line with the doubtful attempt uncounted,
 * `give_up` leaves the outcome as it is. Batches that something may still be heard of are left alone. Idempotent.
 */
export async function resolveUnresolved(
  store: Store,
  campaignId: string,
  decision: 'redial' | 'give_up',
  now: number,
): Promise<Resolution> {
  return store.transaction(async (tx) => {
    await lockCampaign(tx, store, campaignId);
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
    const recipients = await tx
      .selectFrom('recipients')
      .selectAll()
      .where('campaign_id', '=', campaignId)
      .where('state', '=', 'done')
      .where('outcome', '=', 'unresolved')
      .where((eb) => eb.or([eb('reason', 'is', null), eb('reason', '!=', 'given_up')]))
      .execute();
    for (const recipient of recipients) {
      if (decision === 'give_up') {
        const finish = { recipientId: recipient.recipient_id, outcome: 'unresolved' as const, reason: 'given_up' };
        await finishRecipients(tx, campaignId, [finish], now);
        continue;
      }
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
    const young = await tx
      .selectFrom('batches')
      .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.max('hold_after').as('until')])
      .where('campaign_id', '=', campaignId)
      .where('state', 'in', ['posting', 'unknown'])
      .executeTakeFirstOrThrow();
    return { recipients: recipients.length, tooEarly: young.count, decidableAt: young.until };
  });
}
