import { moveBatch } from '../rows/batch-moves.ts';
import { sql } from 'kysely';
import { callingAttemptStates } from '../../rules/ledger.ts';
import { givenUp } from '../../rules/attempts/retry-schedule.ts';
import { lockedTransaction } from '../locks.ts';
import { decideAfterTalk, settleAsUnknown } from '../rows/settle.ts';
import { lastReadAt } from '../collect/sweeps.ts';
import type { At, Tx, Store } from '../tx.ts';

/** The service's list must not have been readable for this long (service time) before open calls may be given up. */
const unreadableForMs = 3_600_000;

export type GivenUpOpen =
  | { kind: 'given_up'; calls: number }
  /** The service told about its calls, or was given one, less than an hour ago: their results may come by themselves. */
  | { kind: 'still_read'; since: number };

/**
 * A person gives up open calls of an agent whose list can no longer be read: they end as `unknown` and are never redialled, or the campaign
 * could not end. Idempotent.
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

/** Calls that have ended, and of whose rows nothing was decided before their records were read to the end. */
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
