import { unsentStates } from '../../rules/ledger.ts';
import type { EventType } from '../../rules/events.ts';
import { earliest } from '../../rules/campaign-rules.ts';
import type { WaitReason } from '../../rules/pacing/next-step.ts';
import { hasEnded, rowsAwaitedUntil } from '../../rules/lifecycle.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { countDialable, countOpen, countOutstanding, isAnyoneDue, isOutstanding, nextDialableAt } from '../limits/counters.ts';
import { readAccount } from '../limits/account-pace.ts';
import { newestEvents } from '../events.ts';
import { callersFullUntil } from '../limits/caller-room.ts';
import { goalAllowance } from '../limits/gates.ts';
import { slotsNow, type Claims } from '../limits/line-limits.ts';
import type { Queries } from '../tx.ts';
import { blockedUntil, canaryAllowance, unwitnessedWords } from '../limits/safety.ts';
import { readNextRule } from './waiting.ts';

export type IdleReasonName =
  Exclude<WaitReason, 'blocked'> | 'draining' | 'planned' | 'not_sent' | 'not_witnessed' | 'rate_limited' | 'unknown';

/** Why a campaign places no call now. Instants are service time; null: unknown, or not fixed. */
export interface IdleReason {
  reason: IdleReasonName;
  since: number | null;
  until: number | null;
  /** Calls of the batch concerned; with `capacity`, calls on the line. */
  calls: number | null;
  /** Lines allowed; only with `capacity`. */
  lines: number | null;
  /** Rule that keeps the rows due next, as `readWaiting` names it; only with `due`; null: unknown. */
  rule: string | null;
  /** Campaign that also uses a caller number; only with `caller_limit`, and only if it is the cause. */
  usedBy?: string | undefined;
}

export interface Clock {
  now(): number;
  /** Service seconds per real second. */
  speed: number;
}

/**
 * Real ms for which a planned batch counts as on its way, and the next one as about to come: otherwise the reason would change at every
 * check.
 */
const onItsWayMs = 30_000;

interface Depth {
  /** False: skips the rule, which needs the log. */
  withRule?: boolean;
  /** Cache for many campaigns at the same moment. */
  claims?: Claims | undefined;
}

const nothingMore = { since: null, until: null, calls: null, lines: null, rule: null };

/**
 * What the planner waits for, in its own order, without a change; while calls are placed one after the other, what limits them. Null:
 * nothing, or the campaign is over.
 */
export async function readIdleReason(db: Queries, campaign: Campaign, clock: Clock, depth: Depth = {}): Promise<IdleReason | null> {
  if (hasEnded(campaign) || campaign.round === 0) return null;
  const now = Math.round(clock.now());
  const onItsWaySince = now - onItsWayMs * clock.speed;
  const { startsAt } = campaign.rules;
  const { state } = campaign;
  if (state === 'scheduled' && (startsAt === null || now >= startsAt)) return null;
  if (state === 'paused' || state === 'draining' || state === 'scheduled') {
    const since = await lastMoveAt(db, campaign, 'campaign.state');
    const until = { paused: campaign.resumeAt, draining: null, scheduled: startsAt }[state];
    return { ...nothingMore, reason: state, since, until };
  }
  const unsent = await readUnsentBatch(db, campaign, now);
  const isOnItsWay = unsent?.reason === 'planned' && (unsent.since ?? 0) > onItsWaySince;
  if (unsent !== null && !isOnItsWay) return unsent;
  const found = (await readBlock(db, campaign, now)) ?? (await readWait(db, campaign, { now, depth, onItsWaySince }));
  // Rows being called wait for nothing.
  return isOnItsWay && (found?.reason === 'due' || found?.reason === 'collecting') ? null : found;
}

export async function lastMoveAt(db: Queries, { campaignId }: Campaign, type?: EventType): Promise<number | null> {
  const row = await newestEvents(db, campaignId)
    .select('at')
    .$if(type !== undefined, (query) => query.where('type', '=', type ?? ''))
    .limit(1)
    .executeTakeFirst();
  return row?.at ?? null;
}

/** Planned and not sent, or come back unsent; the planner waits for its verdict. */
async function readUnsentBatch(db: Queries, campaign: Campaign, now: number): Promise<IdleReason | null> {
  const batch = await db
    .selectFrom('batches')
    .select(['batch_id', 'state', 'size', 'planned_at'])
    .where('campaign_id', '=', campaign.campaignId)
    .where('state', 'in', unsentStates)
    .orderBy('planned_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (batch === undefined) return null;
  // A pause requested by the service applies to all campaigns of the account.
  const { notBefore } = await readAccount(db, campaign.accountId);
  const until = notBefore > now ? notBefore : null;
  const { size: calls, planned_at: since } = batch;
  if (batch.state === 'intent') return { ...nothingMore, reason: until === null ? 'planned' : 'rate_limited', since, until, calls };
  const posts = await db
    .selectFrom('posts')
    .select(['status', 'message', 'verdict_at'])
    .where('batch_id', '=', batch.batch_id)
    .where('verdict', '=', 'not_sent')
    .orderBy('k')
    .execute();
  const last = posts.at(-1);
  const reason = last?.status === 429 ? 'rate_limited' : last?.message === unwitnessedWords ? 'not_witnessed' : 'not_sent';
  return { ...nothingMore, reason, since: posts[0]?.verdict_at ?? since, until, calls };
}

async function readBlock(db: Queries, campaign: Campaign, now: number): Promise<IdleReason | null> {
  const blocked = await blockedUntil(db, campaign, now);
  if (blocked === null) return null;
  const unknown = await db
    .selectFrom('batches')
    .select((eb) => [eb.fn.min('unknown_since').as('since'), eb.fn.sum<number>('size').as('calls')])
    .where('campaign_id', '=', campaign.campaignId)
    .where('state', '=', 'unknown')
    .executeTakeFirst();
  if (unknown?.since != null) return { ...nothingMore, reason: 'unknown', since: unknown.since, until: blocked, calls: unknown.calls };
  const since = await lastPost(db, campaign);
  return { ...nothingMore, reason: 'rate_limited', since, until: blocked };
}

async function readWait(
  db: Queries,
  campaign: Campaign,
  { now, depth, onItsWaySince }: { now: number; depth: Depth; onItsWaySince: number },
): Promise<IdleReason | null> {
  const { campaignId, rules } = campaign;
  const posted = await lastPost(db, campaign);
  const wait = { ...nothingMore, since: posted ?? (campaign.dialsSince === 0 ? null : campaign.dialsSince) };
  const canary = await canaryAllowance(db, campaign);
  if (canary !== null && canary <= 0) return { ...wait, reason: 'canary' };
  const toGoal = await goalAllowance(db, campaign);
  if (toGoal === 0) return { ...wait, reason: 'goal' };
  const due = await countDialable(db, campaign, now);
  const full = due === 0 ? null : await callersFullUntil(db, campaign, now);
  if (full !== null) return { ...wait, reason: 'caller_limit', ...full };
  if (due > 0) {
    const slots = await slotsNow(db, campaign, { now, due, canary: earliest(canary, toGoal), claims: depth.claims });
    const isCalling = (posted ?? 0) > onItsWaySince || (await countOpen(db, campaignId)) > 0;
    const reason = slots.wait !== null ? slots.wait.reason : isCalling ? slots.limit : null;
    if (reason === null) return null;
    const lines = reason === 'capacity' ? { calls: slots.open, lines: slots.lines } : {};
    return { ...wait, reason, until: slots.wait?.until ?? null, ...lines };
  }
  if (await isAnyoneDue(db, campaign, now)) return { ...wait, reason: 'words' };
  const next = await nextDialableAt(db, campaign);
  if (next === null && campaign.pilot !== null && campaign.pilot.state !== 'passed') return { ...wait, reason: 'pilot' };
  if (next !== null) {
    const until = Math.min(next, rules.endsAt ?? next);
    const rule = depth.withRule === false ? null : await readNextRule(db, campaign, { now, next });
    return { ...wait, reason: 'due', until, rule };
  }
  if (isOutstanding(await countOutstanding(db, campaignId))) return { ...wait, reason: 'collecting' };
  return rowsAwaitedUntil(campaign, now) === null ? null : { ...wait, reason: 'rows' };
}

async function lastPost(db: Queries, { campaignId }: Campaign): Promise<number | null> {
  const row = await db
    .selectFrom('batches')
    .select((eb) => eb.fn.max('first_posted_at').as('at'))
    .where('campaign_id', '=', campaignId)
    .executeTakeFirst();
  return row?.at ?? null;
}
