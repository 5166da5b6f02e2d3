import { callingAttemptStates } from '../../rules/ledger.ts';
import { readInParts } from '../parts.ts';
import type { Campaign } from '../rows/campaigns.ts';
import type { Queries } from '../tx.ts';

/** Requested, without a result. Instants are service time. */
export interface LiveCall {
  row: number;
  /** From the list's id column. */
  externalId: string | null;
  /** Call number within the row, from 1. */
  attempt: number;
  e164: string;
  /** Time of the request. */
  since: number;
  /**
   * `requested`: no answer yet; `unknown`: it may have been placed; `accepted`: by the service; `over`: by its record, with results
   * pending.
   */
  state: 'requested' | 'unknown' | 'accepted' | 'over';
}

/** Calls without a result at `now`, longest first. */
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

/** What a do-not-call entry for these numbers would stop, and what not. */
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
  /** `waiting`: rows of campaigns that have not ended; `planned`: calls not sent yet. */
  return { waiting: waiting.length, planned, open: calls.length - planned };
}
