import { sql } from 'kysely';
import { sharedRoom, type CallerUser } from '../../rules/pacing/caller-share.ts';
import { leastLookMs, windowsOf } from '../../rules/caller-choice.ts';
import { listRunningWith, type Campaign } from '../rows/campaigns.ts';
import { countRows } from '../reads.ts';
import type { Queries } from '../tx.ts';
import { candidatesPerLook, dueRanks, dueRecipients } from './counters.ts';
import { hasFreeLine } from './line-limits.ts';
import { blockedUntil } from './safety.ts';

/** A call that counts against a number, or a callback for which it is to have room. */
export interface NumberUse {
  campaignId: string;
  caller: string | null;
  at: number;
}

export interface Share {
  /** Calls to people to whom nothing is promised; infinite: the others do not matter. */
  room: number;
  /** The campaign that calls most from the number, of the others; null: none does. */
  usedBy: string | null;
}

/** The running campaigns that use any of these numbers, where one of them limits its calls and another one uses the number; else none. */
export async function listSharers(
  db: Queries,
  { campaignId }: Pick<Campaign, 'campaignId'>,
  numbers: readonly string[],
): Promise<Campaign[]> {
  const users = await listRunningWith(db, numbers);
  const areLimited = users.some(({ rules }) => rules.callers.limits !== undefined);
  return areLimited && users.some((user) => user.campaignId !== campaignId) ? users : [];
}

/** The share of a campaign in each of the numbers. Campaigns that are stopped by the service keep nothing from the others. */
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
    const room = sharedRoom(asker, { users, rings: rings.map(({ at }) => at), now });
    shares.set(number, { room, usedBy: mostCalling(asker, users, rings, now) });
  }
  return shares;
}

/** The limits of all users matter to each of them, so the longest stretch of any says whose calls are looked at. */
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
 * Recipients that a number could call now; null: any number. Looks ahead as far as people are put off for a full number, or a campaign
 * would lose its share meanwhile.
 */
async function countDueFor(db: Queries, campaign: Campaign, { number, now }: { number: string | null; now: number }): Promise<number> {
  const soon = now + leastLookMs;
  const ranks = await dueRanks(db, campaign, soon);
  if (ranks.length === 0) return 0;
  const due = dueRecipients(db, campaign, { ranks, now: soon, limit: candidatesPerLook, wordsKept: false });
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
