import { sql } from 'kysely';
import type { Queries } from './open-store.ts';

/** What still has to happen in a campaign. */
export interface Outstanding {
  /** Attempts that hold a slot: planned, being posted, or open. */
  open: number;
  /** Conversations of this campaign's attempts that are still to be read. */
  unread: number;
  /** Batches whose fate is not settled: posting or unknown. */
  undecided: number;
}

/** Attempts that hold a slot. Those of a held batch are settled and hold none. */
export async function countOpen(db: Queries, campaignId: string): Promise<number> {
  const row = await db
    .selectFrom('attempts')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('campaign_id', '=', campaignId)
    .where('state', 'in', ['planned', 'posting', 'open'])
    .executeTakeFirstOrThrow();
  return row.count;
}

export async function countOutstanding(db: Queries, campaignId: string): Promise<Outstanding> {
  const open = await countOpen(db, campaignId);
  const unread = await sql<{ count: number }>`
    select count(*) as count from attempts join conversations on conversations.attempt_id = attempts.attempt_id
    where attempts.campaign_id = ${campaignId} and conversations.final = 0`.execute(db);
  const undecided = await db
    .selectFrom('batches')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('campaign_id', '=', campaignId)
    .where('state', 'in', ['posting', 'not_sent', 'unknown'])
    .executeTakeFirstOrThrow();
  return { open, unread: unread.rows[0]?.count ?? 0, undecided: undecided.count };
}

/** Whether the collector still has something to find out. */
export function isOutstanding(counts: Outstanding): boolean {
  return counts.open + counts.unread + counts.undecided > 0;
}

/** Calls begun in the minute before `now`. */
export async function countStarts(
  db: Queries,
  campaignId: string,
  now: number,
): Promise<{ count: number; oldest: number | null }> {
  const row = await db
    .selectFrom('attempts')
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.min('posted_at').as('oldest')])
    .where('campaign_id', '=', campaignId)
    .where('state', 'in', ['posting', 'open', 'settled'])
    .where('posted_at', '>', now - 60_000)
    .executeTakeFirstOrThrow();
  return { count: row.count, oldest: row.oldest };
}

/** Earliest instant at which a waiting recipient is due, or null when none waits. */
export async function nextDueAt(db: Queries, campaignId: string): Promise<number | null> {
  let earliest: number | null = null;
  for (const tier of [0, 1]) {
    const row = await db
      .selectFrom('recipients')
      .select('due_at')
      .where('campaign_id', '=', campaignId)
      .where('state', '=', 'waiting')
      .where('tier', '=', tier)
      .orderBy('due_at')
      .orderBy('row_number')
      .limit(1)
      .executeTakeFirst();
    if (row !== undefined && (earliest === null || row.due_at < earliest)) earliest = row.due_at;
  }
  return earliest;
}
