import { readInParts } from '../parts.ts';
import { findRoundRow } from '../reads.ts';
import type { Queries } from '../tx.ts';

/** A stretch of service time, in epoch milliseconds. */
interface Stretch {
  from: number;
  to: number;
}

export interface TracedCall extends Stretch {
  attemptId: string;
  batchId: string;
  campaignId: string;
  round: number;
  disposition: string | null;
  conversationId: string | null;
}

export interface TracedBatch extends Stretch {
  batchId: string;
  campaignId: string;
  round: number;
  state: string;
  size: number;
  /** The service's own id; null where it gave none. */
  serviceBatchId: string | null;
}

/** Calls of these attempts, from their last request to their result. Those that were never requested, or have no result, are left out. */
export async function readTracedCalls(db: Queries, attemptIds: readonly string[]): Promise<TracedCall[]> {
  const rows = await readInParts(attemptIds, (ids) =>
    db
      .selectFrom('attempts')
      .innerJoin('batches', 'batches.batch_id', 'attempts.batch_id')
      .select(['attempts.attempt_id', 'attempts.batch_id', 'attempts.campaign_id', 'batches.round'])
      .select(['posted_at', 'settled_at', 'disposition', 'conversation_id'])
      .where('attempt_id', 'in', ids)
      .execute(),
  );
  return rows.flatMap(({ posted_at: from, settled_at: to, ...row }) => {
    if (from === null || to === null) return [];
    const { attempt_id: attemptId, batch_id: batchId, campaign_id: campaignId } = row;
    const { round, disposition, conversation_id: conversationId } = row;
    return [{ attemptId, batchId, campaignId, round, disposition, conversationId, from, to: Math.max(from, to) }];
  });
}

/** Batches from their first request to their verdict; `to` is the newest of both where there is none. */
export async function readTracedBatches(db: Queries, batchIds: readonly string[]): Promise<TracedBatch[]> {
  const rows = await readInParts(batchIds, (ids) => db.selectFrom('batches').selectAll().where('batch_id', 'in', ids).execute());
  return rows.map((row) => {
    const from = row.first_posted_at ?? row.planned_at;
    const { batch_id: batchId, campaign_id: campaignId, round, state, size, service_batch_id: serviceBatchId } = row;
    return {
      batchId,
      campaignId,
      round,
      state,
      size,
      serviceBatchId,
      from,
      to: Math.max(from, row.verdict_at ?? from),
    };
  });
}

export interface TracedRound extends Stretch {
  campaignId: string;
  round: number;
  workflowId: string;
}

/** The round, if it has ended. */
export async function readTracedRounds(db: Queries, campaignId: string, round: number): Promise<TracedRound[]> {
  const row = await findRoundRow(db, { campaignId, round });
  if (row?.ended_at == null) return [];
  return [{ campaignId, round, workflowId: row.workflow_id, from: row.started_at, to: row.ended_at }];
}
