import { callingAttemptStates } from '../../rules/ledger.ts';
import { readInParts } from '../parts.ts';
import type { Campaign } from '../rows/campaigns.ts';
import type { Queries } from '../tx.ts';

/** A call that was requested and has no result yet. Instants are service time. */
export interface LiveCall {
  row: number;
  /** In the list's own id column. */
  externalId: string | null;
  /** Number of the attempt: the row's first call, second call and so on. */
  attempt: number;
  e164: string;
  /** When it was requested. */
  since: number;
  /**
   * `requested`: the service has not answered yet; `unknown`: nobody knows whether it was placed; `accepted`: the service has taken it on;
   * `over`: its record shows the end, and its results are still to come.
   */
  state: 'requested' | 'unknown' | 'accepted' | 'over';
}

/** The calls of a campaign that have no result at `now`, the longest first: at most `limit` of them. */
export async function readLiveCalls(
  db: Queries,
  { campaignId }: Pick<Campaign, 'campaignId'>,
  { limit, now }: { limit: number; now: number },
): Promise<LiveCall[]> {
  const rows = await db
    .selectFrom('attempts')
    .innerJoin('recipients', 'recipients.recipient_id', 'attempts.recipient_id')
    .innerJoin('batches', 'batches.batch_id', 'attempts.batch_id')
    .leftJoin('conversations', 'conversations.attempt_id', 'attempts.attempt_id')
    .select(['recipients.row_number as row', 'recipients.external_id as externalId', 'attempts.number as attempt', 'attempts.e164'])
    .select(['attempts.state', 'attempts.posted_at', 'attempts.planned_at', 'batches.state as batch_state', 'conversations.finished_at'])
    .where('attempts.campaign_id', '=', campaignId)
    .where('attempts.state', 'in', callingAttemptStates)
    .orderBy('attempts.posted_at')
    .orderBy('recipients.row_number')
    .limit(limit)
    .execute();
  return rows.map(({ posted_at: postedAt, planned_at: plannedAt, batch_state: batch, finished_at: finishedAt, state, ...call }) => ({
    ...call,
    since: postedAt ?? plannedAt,
    state:
      finishedAt !== null && finishedAt <= now ? 'over' : batch === 'unknown' ? 'unknown' : state === 'posting' ? 'requested' : 'accepted',
  }));
}

const going = ['scheduled', 'running', 'paused'] as const;

/** Counts what an entry of the do-not-call list for these numbers would stop, and what it would not. */
export async function countCallsTo(db: Queries, numbers: readonly string[]) {
  const waiting = await readInParts(numbers, (part) =>
    db
      .selectFrom('recipients')
      .innerJoin('campaigns', 'campaigns.campaign_id', 'recipients.campaign_id')
      .select('recipient_id')
      .where('e164', 'in', part)
      .where('recipients.state', '=', 'waiting')
      .where('campaigns.state', 'in', going)
      .execute(),
  );
  const calls = await readInParts(numbers, (part) =>
    db
      .selectFrom('attempts')
      .select('state')
      .where('e164', 'in', part)
      .where('state', 'in', ['planned', ...callingAttemptStates])
      .execute(),
  );
  const planned = calls.filter(({ state }) => state === 'planned').length;
  /** `waiting`: rows, in campaigns that have not ended; `planned`: calls that were not sent yet. */
  return { waiting: waiting.length, planned, open: calls.length - planned };
}
