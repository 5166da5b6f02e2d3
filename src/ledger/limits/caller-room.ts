import { sql } from 'kysely';
import { callerLookBackMs, roomOf, waitOf, type CallerLimits, type CallerRoom } from '../../rules/caller-choice.ts';
import { requestedAttemptStates } from '../../rules/ledger.ts';
import { isPostgres, type Queries, type Tx } from '../tx.ts';
import { groupBy } from '../../rules/collections.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { callbackRank } from '../rows/row-terms.ts';
import { readCallersOut } from './callers.ts';
import { ringsAt } from './placed-calls.ts';

/** A batch may be posted again for minutes, and its calls may ring for as long as a campaign lets them. */
const longestBatchMs = 24 * 3_600_000;

/** Names the locks of caller numbers, one for each; those that are named by one number alone are others. */
const callersLock = 1;

/**
 * How many calls these numbers may begin, by their ids; without limits none is in it. Calls of all campaigns of the database count from the
 * moment at which they may have been placed until they rang that long ago; those that were given back or never sent do not.
 */
export async function readCallerRooms(
  db: Queries,
  { numbers, limits, now }: { numbers: readonly string[]; limits: CallerLimits | undefined; now: number },
): Promise<Map<string, CallerRoom>> {
  if (limits === undefined || numbers.length === 0) return new Map();
  const since = now - callerLookBackMs;
  const calls = await db
    .selectFrom('batches')
    .innerJoin('attempts', 'attempts.batch_id', 'batches.batch_id')
    .select(['batches.caller', ringsAt.as('at')])
    .where('batches.caller', 'in', numbers)
    .where('batches.first_posted_at', '>', since - longestBatchMs)
    .where('attempts.state', 'in', requestedAttemptStates)
    .where(ringsAt, '>', since)
    .execute();
  const byCaller = groupBy(calls, ({ caller }) => caller);
  const promised = await readPromised(db, now);
  return new Map(
    numbers.map((id) => {
      const rings = (byCaller.get(id) ?? []).map(({ at }) => at);
      const dues = promised.flatMap(({ caller, dueAt }) => (caller === null || caller === id ? [dueAt] : []));
      return [id, roomOf(limits, rings, now, dues)];
    }),
  );
}

/** Call backs of all campaigns that are due before today's calls have left the longest stretch, and from which number; null: from any. */
async function readPromised(db: Queries, now: number): Promise<{ caller: string | null; dueAt: number }[]> {
  const rows = await db
    .selectFrom('promises')
    .innerJoin('recipients', 'recipients.promise_id', 'promises.promise_id')
    .select(['recipients.caller', 'promises.due_at'])
    .where('promises.state', '=', 'open')
    .where('promises.until', '>', now)
    .where('promises.due_at', '<=', now + callerLookBackMs)
    .execute();
  return rows.flatMap(({ caller, due_at: dueAt }) => (dueAt === null ? [] : [{ caller, dueAt }]));
}

/**
 * Until when none of these numbers may call, since each has made as many calls as it may, or keeps the rest for call backs and none is due;
 * null: one of them may. A call back whose time passes meanwhile is not left untold: then it is looked at, too.
 */
export async function fullUntil(
  db: Queries,
  { campaignId }: Pick<Campaign, 'campaignId'>,
  { rooms, numbers, now }: { rooms: ReadonlyMap<string, CallerRoom>; numbers: readonly string[]; now: number },
): Promise<number | null> {
  if (rooms.size === 0) return null;
  const promised = db.selectFrom('recipients').select('recipient_id').where('campaign_id', '=', campaignId).where('state', '=', 'waiting');
  const due = await promised.where('rank', '=', callbackRank).where('due_at', '<=', now).limit(1).executeTakeFirst();
  const waits = numbers.map((id) => waitOf(rooms.get(id), due !== undefined));
  if (waits.includes(null)) return null;
  const open = db.selectFrom('promises').where('campaign_id', '=', campaignId).where('state', '=', 'open').where('until', '>', now);
  const { until } = await open.select((eb) => eb.fn.min<number | null>('until').as('until')).executeTakeFirstOrThrow();
  return Math.min(until ?? Infinity, ...waits.map(Number));
}

/** The same for the numbers of a campaign that may call at all. */
export async function callersFullUntil(db: Queries, campaign: Pick<Campaign, 'campaignId' | 'rules'>, now: number): Promise<number | null> {
  const { limits, ...callers } = campaign.rules.callers;
  if (limits === undefined) return null;
  const out = await readCallersOut(db, campaign);
  const numbers = callers.numbers.filter((id) => !out.includes(id));
  if (numbers.length === 0) return null;
  return fullUntil(db, campaign, { rooms: await readCallerRooms(db, { numbers, limits, now }), numbers, now });
}

/** From here to the end of the dial transaction no other campaign places a call from this number that the limits have not seen. */
export async function lockCaller(tx: Tx, caller: string, limits: CallerLimits | undefined): Promise<void> {
  if (!isPostgres(tx)) return;
  // Who only places calls need not wait for others that do the same.
  const lock = limits === undefined ? sql`pg_advisory_xact_lock_shared` : sql`pg_advisory_xact_lock`;
  await sql`select ${lock}(${sql.lit(callersLock)}, hashtext(${caller}))`.execute(tx);
}
