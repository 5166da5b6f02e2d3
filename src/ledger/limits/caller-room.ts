import { sql } from 'kysely';
import {
  callerLookBackMs,
  minRecheckMs,
  capacityOf,
  waitOf,
  type CallerLimits,
  type CallerCapacity,
  windowsOf,
} from '../../rules/caller-choice.ts';
import { requestedAttemptStates } from '../../rules/ledger.ts';
import { isPostgres, type Queries, type Tx } from '../tx.ts';
import { groupBy } from '../../rules/collections.ts';
import { type Campaign, listRunningWith } from '../rows/campaigns.ts';
import { callbackRank } from '../rows/row-terms.ts';
import { readCallersOut } from './callers.ts';
import { ringsAt } from './placed-calls.ts';
import { sharedCapacity, type CallerUser } from '../../rules/pacing/caller-share.ts';
import { countRows } from '../reads.ts';
import { candidatesPerPass, dueRanks, dueRecipients } from './counters.ts';
import { hasFreeLine } from './line-limits.ts';
import { blockedUntil } from './safety.ts';

/** Reposts take minutes, and calls may ring as long as the campaign allows. */
const longestBatchMs = 24 * 3_600_000;

/** First of two advisory lock keys; one-key locks are separate. */
const callersLock = 1;

/**
 * Calls each number may start; empty without limits. Counts calls of all campaigns from when they may have been placed until the window
 * after their ring has passed, not those given back or never sent.
 */
export async function readCallerCapacities(
  db: Queries,
  { numbers, limits, now }: { numbers: readonly string[]; limits: CallerLimits | undefined; now: number },
): Promise<Map<string, CallerCapacity>> {
  if (limits === undefined || numbers.length === 0) return new Map();
  return capacitiesOf({ numbers, limits, now, calls: await readCalls(db, numbers, now), promised: await readOpenCallbacks(db, now) });
}

interface Use {
  numbers: readonly string[];
  calls: readonly NumberUse[];
  promised: readonly NumberUse[];
  now: number;
}

function capacitiesOf({ numbers, limits, calls, promised, now }: Use & { limits: CallerLimits }): Map<string, CallerCapacity> {
  const byCaller = groupBy(calls, ({ caller }) => caller);
  return new Map(
    numbers.map((id) => {
      const rings = (byCaller.get(id) ?? []).map(({ at }) => at);
      const dues = promised.flatMap(({ caller, at }) => (caller === null || caller === id ? [at] : []));
      return [id, capacityOf(limits, rings, now, dues)];
    }),
  );
}

function readCalls(db: Queries, numbers: readonly string[], now: number): Promise<NumberUse[]> {
  const since = now - callerLookBackMs;
  return db
    .selectFrom('batches')
    .innerJoin('attempts', 'attempts.batch_id', 'batches.batch_id')
    .select(['batches.campaign_id as campaignId', 'batches.caller', ringsAt.as('at')])
    .where('batches.caller', 'in', numbers)
    .where('batches.first_posted_at', '>', since - longestBatchMs)
    .where('attempts.state', 'in', requestedAttemptStates)
    .where(ringsAt, '>', since)
    .execute();
}

/** Open callbacks of all campaigns due within `callerLookBackMs`, with their number; null: any number. */
async function readOpenCallbacks(db: Queries, now: number): Promise<NumberUse[]> {
  const rows = await db
    .selectFrom('promises')
    .innerJoin('recipients', 'recipients.promise_id', 'promises.promise_id')
    .select(['recipients.campaign_id as campaignId', 'recipients.caller', 'promises.due_at as at'])
    .where('promises.state', '=', 'open')
    .where('promises.until', '>', now)
    .where('promises.due_at', '<=', now + callerLookBackMs)
    .execute();
  return rows.flatMap(({ at, ...use }) => (at === null ? [] : [{ ...use, at }]));
}

export interface CampaignCapacities {
  rooms: ReadonlyMap<string, CallerCapacity>;
  /** Latest instant to which a row waiting for a number is deferred. */
  looksAt: number;
  /** For numbers with capacity for this campaign alone: the campaign that uses each most. */
  usedBy: ReadonlyMap<string, string>;
}

/** Like `readCallerCapacities`, but calls other than callbacks leave the other campaigns their share. */
export async function readCampaignCapacities(db: Queries, campaign: Campaign, now: number): Promise<CampaignCapacities> {
  const { numbers, limits = { perHour: null, perDay: null } } = campaign.rules.callers;
  const sharers = await listSharers(db, campaign, numbers);
  if (sharers.length === 0) {
    const rooms = await readCallerCapacities(db, { numbers, limits: campaign.rules.callers.limits, now });
    return { rooms, looksAt: Infinity, usedBy: new Map() };
  }
  const use = { numbers, calls: await readCalls(db, numbers, now), promised: await readOpenCallbacks(db, now), now };
  const shares = await readShares(db, campaign, { ...use, sharers });
  const isOwn = ({ campaignId }: NumberUse): boolean => campaignId === campaign.campaignId;
  const withoutOthers = capacitiesOf({ ...use, limits, calls: use.calls.filter(isOwn), promised: use.promised.filter(isOwn) });
  const rooms = new Map<string, CallerCapacity>();
  const usedBy = new Map<string, string>();
  for (const [id, capacity] of capacitiesOf({ ...use, limits })) {
    const share = shares.get(id) ?? { room: Infinity, usedBy: null };
    const isCut = share.room < capacity.free;
    // The other campaigns need less once their recipients are called or wait for something else.
    const looksAt = isCut && share.room === 0 ? now + campaign.rules.timing.pollMs : capacity.looksAt;
    rooms.set(id, { ...capacity, free: Math.min(capacity.free, share.room), looksAt });
    if (share.usedBy !== null && withoutOthers.get(id)?.free !== 0) usedBy.set(id, share.usedBy);
  }
  return { rooms, looksAt: now + minRecheckMs, usedBy };
}

/**
 * When one of these numbers may call again (used up, or reserved for later callbacks), at most until an open callback expires; null: one
 * may now.
 */
export async function fullUntil(
  db: Queries,
  { campaignId }: Pick<Campaign, 'campaignId'>,
  { rooms, numbers, now }: { rooms: ReadonlyMap<string, CallerCapacity>; numbers: readonly string[]; now: number },
): Promise<number | null> {
  if (rooms.size === 0) return null;
  const waiting = db.selectFrom('recipients').select('recipient_id').where('campaign_id', '=', campaignId).where('state', '=', 'waiting');
  const due = await waiting.where('rank', '=', callbackRank).where('due_at', '<=', now).limit(1).executeTakeFirst();
  const waits = numbers.map((id) => waitOf(rooms.get(id), due !== undefined));
  if (waits.includes(null)) return null;
  const open = db.selectFrom('promises').where('campaign_id', '=', campaignId).where('state', '=', 'open').where('until', '>', now);
  const { until } = await open.select((eb) => eb.fn.min<number | null>('until').as('until')).executeTakeFirstOrThrow();
  return Math.min(until ?? Infinity, ...waits.map(Number));
}

/** The same for the campaign's usable numbers. `usedBy`: the other campaign that causes it. */
export async function callersFullUntil(
  db: Queries,
  campaign: Campaign,
  now: number,
): Promise<{ until: number; usedBy: string | undefined } | null> {
  const { rooms, usedBy } = await readCampaignCapacities(db, campaign, now);
  if (rooms.size === 0) return null;
  const out = await readCallersOut(db, campaign);
  const numbers = campaign.rules.callers.numbers.filter((id) => !out.includes(id));
  if (numbers.length === 0) return null;
  const until = await fullUntil(db, campaign, { rooms, numbers, now });
  return until === null ? null : { until, usedBy: numbers.flatMap((id) => usedBy.get(id) ?? [])[0] };
}

/** Until the dial transaction ends, no other campaign places an uncounted call from this number. */
export async function lockCaller(tx: Tx, caller: string, limits: CallerLimits | undefined): Promise<void> {
  if (!isPostgres(tx)) return;
  // Campaigns without limits need not wait for each other.
  const lock = limits === undefined ? sql`pg_advisory_xact_lock_shared` : sql`pg_advisory_xact_lock`;
  await sql`select ${lock}(${sql.lit(callersLock)}, hashtext(${caller}))`.execute(tx);
}

/** A call that counts against a number, or a callback it must reserve capacity for. */
export interface NumberUse {
  campaignId: string;
  caller: string | null;
  at: number;
}

export interface Share {
  /** Calls that are not callbacks; infinite: other campaigns do not matter. */
  room: number;
  /** The other campaign that calls most from the number; null: none. */
  usedBy: string | null;
}

/** Running campaigns with any of these numbers; empty unless one limits its calls and another uses the number. */
export async function listSharers(
  db: Queries,
  { campaignId }: Pick<Campaign, 'campaignId'>,
  numbers: readonly string[],
): Promise<Campaign[]> {
  const users = await listRunningWith(db, numbers);
  const areLimited = users.some(({ rules }) => rules.callers.limits !== undefined);
  return areLimited && users.some((user) => user.campaignId !== campaignId) ? users : [];
}

/** Campaigns blocked by the service keep nothing from the others. */
export async function readShares(
  db: Queries,
  campaign: Pick<Campaign, 'campaignId'>,
  known: {
    sharers: readonly Campaign[];
    numbers: readonly string[];
    calls: readonly NumberUse[];
    promised: readonly NumberUse[];
    now: number;
  },
): Promise<Map<string, Share>> {
  const { sharers, numbers, calls, promised, now } = known;
  const dialling: Campaign[] = [];
  for (const user of sharers)
    if (user.campaignId === campaign.campaignId || (await blockedUntil(db, user, now)) === null) dialling.push(user);
  const shares = new Map<string, Share>();
  for (const number of numbers) {
    const rings = calls.filter(({ caller }) => caller === number);
    const users: CallerUser[] = [];
    for (const user of dialling.filter(({ rules }) => rules.callers.numbers.includes(number))) {
      const { campaignId: id, rules } = user;
      const isAsker = id === campaign.campaignId;
      if (!isAsker && (await isOut(db, id, number))) continue;
      const ofUser = ({ campaignId, caller }: NumberUse): boolean => campaignId === id && (caller === null || caller === number);
      users.push({
        id,
        weight: rules.pacing.priority,
        limits: rules.callers.limits,
        due: await countDueFor(db, user, { number: isAsker ? null : number, now }),
        planned: await countPlannedFrom(db, id, number),
        rings: rings.filter(ofUser).map(({ at }) => at),
        promised: promised.filter(ofUser).map(({ at }) => at),
        isFree: isAsker || (await hasFreeLine(db, user, now)),
      });
    }
    const asker = users.find(({ id }) => id === campaign.campaignId);
    if (asker === undefined || users.length < 2) continue;
    const room = sharedCapacity(asker, { users, rings: rings.map(({ at }) => at), now });
    shares.set(number, { room, usedBy: mostCalling(asker, users, rings, now) });
  }
  return shares;
}

/** Each user's limits affect all, so calls count over the longest window of any. */
function mostCalling(asker: CallerUser, users: readonly CallerUser[], rings: readonly NumberUse[], now: number): string | null {
  const longestMs = Math.max(...users.flatMap(({ limits }) => (limits === undefined ? [] : windowsOf(limits).map(({ ms }) => ms))));
  const counts = new Map<string, number>();
  for (const { id, due } of users) if (due > 0) counts.set(id, 0);
  for (const { campaignId, at } of rings) if (at > now - longestMs) counts.set(campaignId, (counts.get(campaignId) ?? 0) + 1);
  counts.delete(asker.id);
  return [...counts].toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))[0]?.[0] ?? null;
}

async function isOut(db: Queries, campaignId: string, number: string): Promise<boolean> {
  const query = db.selectFrom('callers').where('campaign_id', '=', campaignId).where('phone_number_id', '=', number);
  return (await countRows(query.where('out', '=', 1))) > 0;
}

/**
 * Recipients a number could call now; null: any number. Looks ahead as far as rows are deferred for a full number, or the campaign would
 * lose its share.
 */
async function countDueFor(db: Queries, campaign: Campaign, { number, now }: { number: string | null; now: number }): Promise<number> {
  const soon = now + minRecheckMs;
  const ranks = await dueRanks(db, campaign, soon);
  if (ranks.length === 0) return 0;
  const due = dueRecipients(db, campaign, { ranks, now: soon, limit: candidatesPerPass, wordsKept: false });
  const own = number === null ? due : due.where(sql<boolean>`(caller is null or caller = ${number})`);
  const counted = db.selectFrom(own.select('recipient_id').as('due')).select((eb) => eb.fn.countAll<number>().as('count'));
  return (await counted.executeTakeFirstOrThrow()).count;
}

function countPlannedFrom(db: Queries, campaignId: string, number: string): Promise<number> {
  const planned = db.selectFrom('attempts').innerJoin('batches', 'batches.batch_id', 'attempts.batch_id');
  return countRows(
    planned.where('attempts.campaign_id', '=', campaignId).where('attempts.state', '=', 'planned').where('batches.caller', '=', number),
  );
}
