import { callingAttemptStates } from '../../rules/ledger.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { countRows } from '../reads.ts';
import type { Queries } from '../tx.ts';

/** A call that was requested and has no result yet. Instants are service time. */
export interface LiveCall {
  row: number;
  /** In the list's own id column. */
  externalId: string | null;
  /** Number of the attempt: the row's first call, second call and so on. */
  attempt: number;
  e164: string;
  /** Number that calls; its id where the service has not shown the number. */
  caller: string;
  /** When it was requested. */
  since: number;
  /**
   * `requested`: the service has not answered yet; `unknown`: nobody knows whether it was placed; `accepted`: the service has taken it on;
   * `over`: its record shows the end, and its results are still to come.
   */
  state: 'requested' | 'unknown' | 'accepted' | 'over';
}

/** The calls of a campaign that have no result at `now`, the longest first: at most `limit` of them, and how many there are. */
export async function readLiveCalls(
  db: Queries,
  { campaignId }: Pick<Campaign, 'campaignId'>,
  { limit, now }: { limit: number; now: number },
): Promise<{ calls: LiveCall[]; total: number }> {
  const open = db.selectFrom('attempts').where('attempts.campaign_id', '=', campaignId).where('attempts.state', 'in', callingAttemptStates);
  const rows = await open
    .innerJoin('recipients', 'recipients.recipient_id', 'attempts.recipient_id')
    .innerJoin('batches', 'batches.batch_id', 'attempts.batch_id')
    .leftJoin('callers', (join) =>
      join.onRef('callers.campaign_id', '=', 'attempts.campaign_id').onRef('callers.phone_number_id', '=', 'batches.caller'),
    )
    .leftJoin('conversations', 'conversations.attempt_id', 'attempts.attempt_id')
    .select([
      'recipients.row_number as row',
      'recipients.external_id',
      'attempts.number as attempt',
      'attempts.e164',
      'attempts.state',
      'attempts.posted_at',
      'attempts.planned_at',
      'batches.state as batch_state',
      'batches.caller',
      'callers.e164 as caller_number',
      'conversations.finished_at',
    ])
    .orderBy('attempts.posted_at')
    .orderBy('recipients.row_number')
    .limit(limit)
    .execute();
  const calls = rows.map(({ row, external_id: externalId, attempt, e164, caller, caller_number: callerNumber, ...call }): LiveCall => ({
    row,
    externalId,
    attempt,
    e164,
    caller: callerNumber ?? caller,
    since: call.posted_at ?? call.planned_at,
    state:
      call.finished_at !== null && call.finished_at <= now
        ? 'over'
        : call.batch_state === 'unknown'
          ? 'unknown'
          : call.state === 'posting'
            ? 'requested'
            : 'accepted',
  }));
  return { calls, total: calls.length < limit ? calls.length : await countRows(open) };
}
