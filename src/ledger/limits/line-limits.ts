import { fairShares, type Demand } from '../../rules/pacing/fair-share.ts';
import { atPace } from '../../rules/pacing/pace-control.ts';
import { refillAt, slotsToFill, warmUpLines } from '../../rules/pacing/pacing.ts';
import { linesOf, readAccount, type Account } from './account-pace.ts';
import { goingStates, listCampaigns, type Campaign } from '../rows/campaigns.ts';
import { countDialable, countOnLine, countStarts } from './counters.ts';
import { findRoundRow } from '../reads.ts';
import { callbackRank } from '../rows/row-terms.ts';
import type { Queries } from '../tx.ts';
import { blockedUntil, canaryAllowance } from './safety.ts';

export interface LineLimits {
  /** Current `pacing.max_concurrent_calls`. */
  own: number;
  /** `own`, limited by the warm-up. */
  warm: number;
  /** Thousandths of the limits, including the account's. */
  pace: number;
  cutAt: number;
  /** `warm` at the current pace, before the account's limit. */
  entitled: number;
  /** Null: the account has no limit. */
  account: { lines: number; free: number; share: number } | null;
  allowed: number;
  open: number;
  startsPerMinute: number | null;
  starts: { count: number; oldest: number | null };
}

type Own = Omit<LineLimits, 'account' | 'allowed'>;

/** What a campaign demands of its account; nothing new while it does not dial. */
interface DemandInput {
  now: number;
  /** Recipients dialable now, counted as far as it matters. */
  due: number;
  /** Calls that an unproven caller number or a near goal allows; null: no limit. */
  canary: number | null;
  /** Cache for many campaigns at once. */
  claims?: Claims | undefined;
}

export type Claims = Map<string, readonly Claim[]>;

interface Claim {
  campaignId: string;
  open: number;
  /** Null: dials nothing new. */
  demand: Demand | null;
}

async function readOwnLimits(db: Queries, campaign: Campaign, { account, now }: { account: Account; now: number }): Promise<Own> {
  const { pacing, agentId } = campaign.rules;
  const own = pacing.maxConcurrentCalls;
  const sinceMs = pacing.warmUpMs === 0 ? 0 : now - (await readBeginning(db, campaign));
  const warm = warmUpLines({ lines: own, warmUpMs: pacing.warmUpMs, sinceMs });
  return {
    own,
    warm,
    pace: account.pace,
    cutAt: account.cutAt,
    entitled: atPace(warm, account.pace),
    open: await countOnLine(db, { campaignId: campaign.campaignId, agentId, now }),
    startsPerMinute: pacing.startsPerMinute === null ? null : atPace(pacing.startsPerMinute, account.pace),
    starts: await countStarts(db, { campaignId: campaign.campaignId, now }),
  };
}

/** Whether the campaign's own limits leave a line; ignores the account's other campaigns. */
export async function hasFreeLine(db: Queries, campaign: Campaign, now: number): Promise<boolean> {
  const { open, entitled } = await readOwnLimits(db, campaign, { account: await readAccount(db, campaign.accountId), now });
  return open < entitled;
}

/** When the round began to dial, or will. */
async function readBeginning(db: Queries, campaign: Campaign): Promise<number> {
  const row = await findRoundRow(db, campaign);
  return Math.max(row?.started_at ?? 0, campaign.rules.startsAt ?? 0);
}

async function demandOf(db: Queries, campaign: Campaign, { own, due, canary }: DemandInput & { own: Own }): Promise<Demand> {
  const startsLeft = own.startsPerMinute === null ? Infinity : Math.max(0, own.startsPerMinute - own.starts.count);
  const lines = Math.min(own.entitled, own.open + Math.min(due, startsLeft, canary ?? Infinity));
  return {
    id: campaign.campaignId,
    weight: campaign.rules.pacing.priority,
    lines,
    tookAt: await lastPlanAt(db, campaign),
  };
}

export async function lastPlanAt(db: Queries, { campaignId, round }: Campaign): Promise<number> {
  const row = await db
    .selectFrom('batches')
    .select('planned_at')
    .where('campaign_id', '=', campaignId)
    .where('round', '=', round)
    .orderBy('n', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.planned_at ?? 0;
}

async function readShare(
  db: Queries,
  campaign: Campaign,
  { own, account, asking }: { own: Own; account: Account; asking: DemandInput },
): Promise<LineLimits['account']> {
  const all = linesOf(account);
  if (all === null) return null;
  const lines = atPace(all, account.pace);
  const demands = [await demandOf(db, campaign, { own, ...asking })];
  let open = own.open;
  // Campaigns that dial nothing new keep their lines and get no share of the rest.
  let keptByOthers = 0;
  for (const claim of await readClaims(db, campaign, { account, asking })) {
    if (claim.campaignId === campaign.campaignId) continue;
    open += claim.open;
    if (claim.demand === null) keptByOthers += claim.open;
    else demands.push(claim.demand);
  }
  const share = fairShares(lines - keptByOthers, demands).get(campaign.campaignId) ?? 0;
  return { lines, free: Math.max(0, lines - open), share };
}

/** Lines and demand of the account's campaigns; of this one only when cached for others. */
async function readClaims(
  db: Queries,
  { campaignId, accountId }: Campaign,
  { account, asking: { now, claims } }: { account: Account; asking: DemandInput },
): Promise<readonly Claim[]> {
  const known = claims?.get(accountId);
  if (known !== undefined) return known;
  const read: Claim[] = [];
  for (const other of await listCampaigns(db, accountId)) {
    // No worker collects for a failed campaign, so it would keep its lines forever.
    if ((claims === undefined && other.campaignId === campaignId) || !goingStates.includes(other.state)) continue;
    const own = await readOwnLimits(db, other, { account, now });
    const isDialling = other.state === 'running' && (await blockedUntil(db, other, now)) === null;
    const demand = isDialling ? await demandOf(db, other, { own, ...(await readDemandInput(db, other, now)) }) : null;
    read.push({ campaignId: other.campaignId, open: own.open, demand });
  }
  claims?.set(accountId, read);
  return read;
}

async function readDemandInput(db: Queries, campaign: Campaign, now: number): Promise<DemandInput> {
  return { now, due: await countDialable(db, campaign, now), canary: await canaryAllowance(db, campaign) };
}

/** The planner passes its demand; otherwise it is read. */
export async function readLineLimits(db: Queries, campaign: Campaign, input: DemandInput | { now: number }): Promise<LineLimits> {
  const demandInput = 'due' in input ? input : await readDemandInput(db, campaign, input.now);
  const account = await readAccount(db, campaign.accountId);
  const own = await readOwnLimits(db, campaign, { account, now: demandInput.now });
  const shared = await readShare(db, campaign, { own, account, asking: demandInput });
  const allowed = shared === null ? own.entitled : Math.min(own.entitled, shared.share, own.open + shared.free);
  return { ...own, account: shared, allowed };
}

/** `open` of `lines`: calls on the line, and how many are allowed. */
export type Slots = { open: number; lines: number } & (
  | /** `limit`: what caps the lines when more rows are due than lines are free. */
    { count: number; wait: null; limit: 'share' | 'capacity' | null }
  | { count: 0; wait: { reason: 'pacing' | 'share' | 'capacity'; until: number | null } }
);

/**
 * Calls that may start now, or what the campaign waits for. The planner holds a shared account's lock; the collector learns whether
 * planning is worthwhile.
 */
export async function slotsNow(db: Queries, campaign: Campaign, demandInput: DemandInput): Promise<Slots> {
  const { pacing, timing } = campaign.rules;
  const limits = await readLineLimits(db, campaign, demandInput);
  const { own, entitled, account, open, starts, startsPerMinute } = limits;
  const fill = (maxConcurrentCalls: number, refillThreshold: number): number =>
    slotsToFill({
      open,
      maxConcurrentCalls,
      refillThreshold,
      batchSize: Math.min(pacing.batchSize, demandInput.canary ?? pacing.batchSize),
      startedInLastMinute: starts.count,
      startsPerMinute,
      due: demandInput.due,
      nothingElseComing: demandInput.due < pacing.refillThreshold,
    });
  const callbacks = await readDueCallbacks(db, campaign.campaignId, demandInput.now);
  // A due callback does not wait for a fuller batch.
  const refillThreshold = callbacks.due > 0 ? 1 : pacing.refillThreshold;
  const refill = (allowed: number): number => refillAt({ refillThreshold, lines: own, allowed });
  const share = account === null ? entitled : Math.min(entitled, account.share);
  // A call that ended after `now` still counts, though another process may have refilled its line.
  const calling = { open: Math.min(open, own), lines: share };
  // Lines of other campaigns come free one by one and are taken as they come.
  const contended = account !== null && account.free < share - open;
  const free = contended ? account.free : share - open;
  const filled = contended ? fill(open + account.free, 1) : fill(share, refill(share));
  const count = Math.min(filled, Math.max(callbacks.due, free - callbacks.soon));
  if (count <= 0 && filled > 0) return { ...calling, count: 0, wait: { reason: 'capacity', until: callbacks.next } };
  if (count > 0) {
    const limit = contended || share < entitled ? 'share' : 'capacity';
    return { ...calling, count, wait: null, limit: demandInput.due > free ? limit : null };
  }
  if (startsPerMinute !== null && starts.count >= startsPerMinute)
    return { ...calling, count: 0, wait: { reason: 'pacing', until: (starts.oldest ?? demandInput.now) + 60_000 } };
  // Without open calls the campaign has no collector to report a free line.
  const shared = account !== null && fill(entitled, refill(entitled)) > 0;
  const wait = shared ? { reason: 'share' as const, until: demandInput.now + timing.pollMs } : { reason: 'capacity' as const, until: null };
  return { ...calling, count: 0, wait };
}

/** A line is reserved this long before a callback: full lines would make every callback late. */
const keptFreeMs = 10 * 60_000;

/** Callbacks due, due soon, and the next of these. */
async function readDueCallbacks(db: Queries, campaignId: string, now: number): Promise<{ due: number; soon: number; next: number | null }> {
  const row = await db
    .selectFrom('recipients')
    .select((eb) => [
      eb.fn.count<number>(eb.case().when('due_at', '<=', now).then(1).end()).as('due'),
      eb.fn.count<number>(eb.case().when('due_at', '>', now).then(1).end()).as('soon'),
      eb.fn.min<number | null>(eb.case().when('due_at', '>', now).then(eb.ref('due_at')).end()).as('next'),
    ])
    .where('campaign_id', '=', campaignId)
    .where('state', '=', 'waiting')
    .where('rank', '=', callbackRank)
    .where('due_at', '<=', now + keptFreeMs)
    .executeTakeFirstOrThrow();
  return row;
}
