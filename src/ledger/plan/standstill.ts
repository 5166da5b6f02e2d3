import { unsentStates } from '../../domain/ledger.ts';
import type { WaitReason } from '../../domain/next-step.ts';
import { hasEnded } from '../../domain/lifecycle.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { countOutstanding, isOutstanding, nextDueAt, candidatesPerLook, countDue } from '../limits/counters.ts';
import { lastEventSeq } from '../events.ts';
import { slotsNow } from '../limits/line-limits.ts';
import type { Queries } from '../open-ledger.ts';
import { blockedUntil, canaryAllowance, unwitnessedWords } from '../limits/safety.ts';
import { readWordsKept } from '../doubt/shared-words.ts';

export type StandstillReason =
  Exclude<WaitReason, 'blocked'> | 'draining' | 'planned' | 'not_sent' | 'not_witnessed' | 'rate_limited' | 'unknown';

/** Why a campaign dials nobody now. Instants are service time; null: not known, or not fixed. */
export interface Standstill {
  reason: StandstillReason;
  since: number | null;
  until: number | null;
  /** Calls of the batch that is spoken of. */
  calls: number | null;
  /** What the rules said of those who wait, such as `outside_hours`; only with `due`. */
  rule: string | null;
}

/** Events in which the reason of a wait is looked for, and how many deferrals of these. */
const lookBack = 50_000;
const deferralsRead = 200;
const nothingMore = { since: null, until: null, calls: null, rule: null };

/**
 * What the planner would wait for if it were asked now, looked up without a change, in its own order. Null: it would plan a batch, or the
 * campaign is over.
 */
export async function readStandstill(db: Queries, campaign: Campaign, now: number): Promise<Standstill | null> {
  if (hasEnded(campaign) || campaign.round === 0) return null;
  const { rules, state } = campaign;
  if (state === 'paused') {
    const since = await lastChange(db, campaign);
    return { ...nothingMore, reason: 'paused', since, until: campaign.resumeAt };
  }
  if (state === 'draining') return { ...nothingMore, reason: 'draining', since: await lastChange(db, campaign) };
  if (state === 'scheduled') {
    if (rules.startsAt === null || now >= rules.startsAt) return null;
    return { ...nothingMore, reason: 'scheduled', since: await lastChange(db, campaign), until: rules.startsAt };
  }
  return (
    (await readUnsentBatch(db, campaign, now)) ??
    (await readBlock(db, campaign, now)) ??
    (await readWait(db, campaign, now))
  );
}

/** When anything last happened in the campaign. */
export async function lastMoveAt(db: Queries, { campaignId }: Campaign): Promise<number | null> {
  const row = await db
    .selectFrom('events')
    .select('at')
    .where('campaign_id', '=', campaignId)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.at ?? null;
}

/** When the campaign came into its state. */
async function lastChange(db: Queries, { campaignId }: Campaign): Promise<number | null> {
  const row = await db
    .selectFrom('events')
    .select('at')
    .where('campaign_id', '=', campaignId)
    .where('type', '=', 'campaign.state')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.at ?? null;
}

/** A batch that is planned and was not sent, or came back unsent; the planner is not asked before it has a verdict. */
async function readUnsentBatch(db: Queries, campaign: Campaign, now: number): Promise<Standstill | null> {
  const batch = await db
    .selectFrom('batches')
    .select(['batch_id', 'state', 'size', 'planned_at'])
    .where('campaign_id', '=', campaign.campaignId)
    .where('state', 'in', unsentStates)
    .orderBy('planned_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (batch === undefined) return null;
  const until = await heldUntil(db, campaign, now);
  const { size: calls, planned_at: since } = batch;
  if (batch.state === 'intent')
    return { ...nothingMore, reason: until === null ? 'planned' : 'rate_limited', since, until, calls };
  const posts = await db
    .selectFrom('posts')
    .select(['status', 'message', 'verdict_at'])
    .where('batch_id', '=', batch.batch_id)
    .where('verdict', '=', 'not_sent')
    .orderBy('k')
    .execute();
  const last = posts.at(-1);
  const reason =
    last?.status === 429 ? 'rate_limited' : last?.message === unwitnessedWords ? 'not_witnessed' : 'not_sent';
  return { ...nothingMore, reason, since: posts[0]?.verdict_at ?? since, until, calls };
}

/** The end of a pause that the service has asked for, which holds for all campaigns of the account. */
async function heldUntil(db: Queries, { accountId }: Campaign, now: number): Promise<number | null> {
  const row = await db
    .selectFrom('accounts')
    .select('not_before')
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row !== undefined && row.not_before > now ? row.not_before : null;
}

async function readBlock(db: Queries, campaign: Campaign, now: number): Promise<Standstill | null> {
  const blocked = await blockedUntil(db, campaign, now);
  if (blocked === null) return null;
  const unknown = await db
    .selectFrom('batches')
    .select((eb) => [eb.fn.min('unknown_since').as('since'), eb.fn.sum<number>('size').as('calls')])
    .where('campaign_id', '=', campaign.campaignId)
    .where('state', '=', 'unknown')
    .executeTakeFirst();
  if (unknown?.since != null)
    return { ...nothingMore, reason: 'unknown', since: unknown.since, until: blocked, calls: unknown.calls };
  const since = await lastPost(db, campaign);
  return { ...nothingMore, reason: 'rate_limited', since, until: blocked };
}

async function readWait(db: Queries, campaign: Campaign, now: number): Promise<Standstill | null> {
  const { campaignId, rules } = campaign;
  const since = await lastPost(db, campaign);
  const canary = await canaryAllowance(db, campaign);
  if (canary !== null && canary <= 0) return { ...nothingMore, reason: 'canary', since };
  const wordsKept = await readWordsKept(db, rules);
  const due = await countDue(db, campaign, now, candidatesPerLook, wordsKept);
  if (due > 0) {
    const { wait } = await slotsNow(db, campaign, { now, due, canary });
    return wait === null ? null : { ...nothingMore, reason: wait.reason, since, until: wait.until };
  }
  if ((await countDue(db, campaign, now, 1, false)) > 0) return { ...nothingMore, reason: 'words', since };
  const next = await nextDueAt(db, campaignId);
  if (next !== null) {
    const until = Math.min(next, rules.endsAt ?? next);
    return { ...nothingMore, reason: 'due', since, until, rule: await ruleOf(db, campaignId, next) };
  }
  const outstanding = await countOutstanding(db, campaignId);
  return isOutstanding(outstanding) ? { ...nothingMore, reason: 'collecting', since } : null;
}

/** When the campaign last began to send a batch. */
async function lastPost(db: Queries, { campaignId, dialsSince }: Campaign): Promise<number | null> {
  const row = await db
    .selectFrom('batches')
    .select((eb) => eb.fn.max('first_posted_at').as('at'))
    .where('campaign_id', '=', campaignId)
    .executeTakeFirst();
  return row?.at ?? (dialsSince === 0 ? null : dialsSince);
}

/** Why those who are due next were put off until then; null where it is the delay of a retry. */
async function ruleOf(db: Queries, campaignId: string, until: number): Promise<string | null> {
  const rows = await db
    .selectFrom('events')
    .select('data')
    .where('campaign_id', '=', campaignId)
    .where('type', '=', 'recipient.deferred')
    .where('seq', '>', (await lastEventSeq(db, campaignId)) - lookBack)
    .orderBy('seq', 'desc')
    .limit(deferralsRead)
    .execute();
  for (const { data } of rows) {
    const said = JSON.parse(data ?? '{}') as { until?: number; reason?: string };
    if (said.until === until) return said.reason ?? null;
  }
  return null;
}
