import type { Selectable } from 'kysely';
import { readRules, type CampaignRules } from '../../domain/campaign-rules.ts';
import { campaignTransitions, type CampaignState, type DrainReason } from '../../domain/lifecycle.ts';
import { refillAt } from '../../domain/pacing/pacing.ts';
import { appendEvents } from '../events.ts';
import { lockCampaign, type Queries, type Store } from '../open-ledger.ts';
import type { Database } from '../schema.ts';
import { grantWish, noteWish, type Wish } from '../wishes.ts';

export interface Campaign {
  campaignId: string;
  name: string | null;
  fileHash: string;
  rules: CampaignRules;
  accountId: string;
  state: CampaignState;
  /** Why it is paused, or null. Never holds the service's own words. */
  stateReason: string | null;
  createdAt: number;
  rowsTotal: number;
  rowsRejected: number;
  round: number;
  callerProven: boolean;
  /** Whether the service has shown one record of this campaign. */
  recordShown: boolean;
  canaryFrom: number;
  draining: DrainReason | null;
  /** A paused campaign goes on by itself at this instant. */
  resumeAt: number | null;
  /** When it last began to dial. */
  dialsSince: number;
}

/** Limits that may be changed while a campaign runs. */
export type PacingAdjustments = Partial<
  Pick<CampaignRules['pacing'], 'maxConcurrentCalls' | 'startsPerMinute' | 'batchSize' | 'priority'>
>;

export function toCampaign(row: Selectable<Database['campaigns']>): Campaign {
  return {
    campaignId: row.campaign_id,
    name: row.name,
    fileHash: row.file_hash,
    rules: adjusted(readRules(row.rules), row.adjustments),
    accountId: row.account_id,
    state: row.state,
    stateReason: row.state_reason,
    createdAt: row.created_at,
    rowsTotal: row.rows_total,
    rowsRejected: row.rows_rejected,
    round: row.round,
    callerProven: row.caller_proven === 1,
    recordShown: row.record_shown === 1,
    canaryFrom: row.canary_from,
    draining: row.draining,
    resumeAt: row.resume_at,
    dialsSince: row.dials_since,
  };
}

/** The rules with what a person changed since; the threshold of a refill stays the same part of the lines that there are now. */
function adjusted(rules: CampaignRules, adjustments: string | null): CampaignRules {
  if (adjustments === null) return rules;
  const pacing = { ...rules.pacing, ...(JSON.parse(adjustments) as PacingAdjustments) };
  const { refillThreshold: before, maxConcurrentCalls: lines } = rules.pacing;
  const scaled = refillAt({ refillThreshold: before, lines, allowed: pacing.maxConcurrentCalls });
  // A batch that is full need not wait for more lines.
  const refillThreshold = Math.min(scaled, Math.max(before, pacing.batchSize));
  return { ...rules, pacing: { ...pacing, refillThreshold } };
}

/** The campaign, or undefined when the database has none of that id or its import never finished. */
export async function findCampaign(db: Queries, campaignId: string): Promise<Campaign | undefined> {
  const row = await db.selectFrom('campaigns').selectAll().where('campaign_id', '=', campaignId).executeTakeFirst();
  return row === undefined || row.state === 'importing' ? undefined : toCampaign(row);
}

export async function listCampaigns(db: Queries): Promise<Campaign[]> {
  const rows = await db
    .selectFrom('campaigns')
    .selectAll()
    .where('state', '!=', 'importing')
    .orderBy('created_at')
    .orderBy('campaign_id')
    .execute();
  return rows.map(toCampaign);
}

/**
 * Changes a campaign's state in the caller's transaction and logs it. Answers whether the campaign is in `to` afterwards;
 * repeating a change is harmless, an illegal one changes nothing. A pause that nobody wished is not undone by a wish from before it, and
 * ends by itself at `resumeAt`, if that is given.
 */
export async function changeCampaignState(
  tx: Queries,
  campaignId: string,
  to: CampaignState,
  reason: string | null,
  now: number,
  resumeAt: number | null = null,
): Promise<boolean> {
  const { changed, moved } = await moveCampaign(tx, campaignId, to, reason, now, resumeAt);
  if (moved && to === 'paused') await noteWish(tx, { campaignId, change: 'pause', now });
  return changed;
}

async function moveCampaign(
  tx: Queries,
  campaignId: string,
  to: CampaignState,
  reason: string | null,
  now: number,
  resumeAt: number | null = null,
): Promise<{ changed: boolean; moved: boolean }> {
  const before = await tx
    .selectFrom('campaigns')
    .select(['state', 'state_reason'])
    .where('campaign_id', '=', campaignId)
    .executeTakeFirst();
  if (before === undefined) return { changed: false, moved: false };
  if (before.state === to) return { changed: true, moved: false };
  if (!campaignTransitions[before.state].includes(to)) return { changed: false, moved: false };
  await tx
    .updateTable('campaigns')
    .set({ state: to, state_reason: reason, resume_at: resumeAt, ...(to === 'running' ? { dials_since: now } : {}) })
    .where('campaign_id', '=', campaignId)
    .execute();
  const data = { from: before.state, to, reason, ...(resumeAt === null ? {} : { resumeAt }) };
  await appendEvents(tx, [{ at: now, campaignId, type: 'campaign.state', data }]);
  return { changed: true, moved: true };
}

/** From here on nobody new is dialled. Those who wait get their outcome from the planner, open calls from the collector. */
export async function drainCampaign(
  tx: Queries,
  campaignId: string,
  why: DrainReason,
  now: number,
  reason = drainWords[why],
): Promise<boolean> {
  if (!(await changeCampaignState(tx, campaignId, 'draining', reason, now))) return false;
  const update = tx.updateTable('campaigns').set({ draining: why }).where('campaign_id', '=', campaignId);
  // One that drains already goes on doing so for its first reason, unless a person cancels it.
  await (why === 'cancelled' ? update : update.where('draining', 'is', null)).execute();
  return true;
}

const drainWords: Readonly<Record<DrainReason, string>> = {
  cancelled: 'cancelled by a person',
  drained: 'drained by a person',
  campaign_end: 'its end (ends_at) has come',
};

/** The state of a campaign that dials: it waits for its start time until that has come. */
export function dialledState(rules: CampaignRules, now: number): 'scheduled' | 'running' {
  return rules.startsAt !== null && now < rules.startsAt ? 'scheduled' : 'running';
}

/** Pauses dialling: what is planned is given back at its next look, what is open is still collected. */
export async function pauseCampaign(
  store: Store,
  campaignId: string,
  reason: string,
  now: number,
  wish?: Wish,
): Promise<boolean> {
  return store.transaction(async (tx) => {
    await lockCampaign(tx, store, campaignId);
    return grantWish(tx, { campaignId, change: 'pause', now }, wish, async () => {
      // One that would go on by itself stays paused from here on.
      await tx
        .updateTable('campaigns')
        .set({ state_reason: reason, resume_at: null })
        .where('campaign_id', '=', campaignId)
        .where('state', '=', 'paused')
        .where('resume_at', 'is not', null)
        .execute();
      return (await moveCampaign(tx, campaignId, 'paused', reason, now)).changed;
    });
  });
}

/** Goes on dialling. A person has looked: what had stopped the campaign by itself starts to count anew. */
export async function resumeCampaign(store: Store, campaignId: string, now: number, wish?: Wish): Promise<boolean> {
  return store.transaction(async (tx) => {
    await lockCampaign(tx, store, campaignId);
    return grantWish(tx, { campaignId, change: 'resume', now }, wish, () => goOn(tx, campaignId, now));
  });
}

async function goOn(tx: Queries, campaignId: string, now: number): Promise<boolean> {
  const campaign = await findCampaign(tx, campaignId);
  if (campaign?.state === 'running' || campaign?.state === 'scheduled') return true;
  if (campaign?.state !== 'paused') return false;
  await tx
    .updateTable('rounds')
    .set({ unknown_streak: 0, refused_streak: 0 })
    .where('campaign_id', '=', campaignId)
    .where('round', '=', campaign.round)
    .execute();
  const last = await tx
    .selectFrom('batches')
    .select((eb) => eb.fn.max('n').as('n'))
    .where('campaign_id', '=', campaignId)
    .where('round', '=', campaign.round)
    .executeTakeFirst();
  await tx
    .updateTable('campaigns')
    .set({ canary_from: last?.n ?? 0 })
    .where('campaign_id', '=', campaignId)
    .execute();
  return changeCampaignState(tx, campaignId, dialledState(campaign.rules, now), null, now);
}

/** Ends a campaign: `cancelled` as cancelled, `drained` as completed with what it has. Open calls are still collected. */
export async function endCampaign(
  store: Store,
  campaignId: string,
  why: Extract<DrainReason, 'cancelled' | 'drained'>,
  now: number,
  wish?: Wish,
  reason?: string,
): Promise<boolean> {
  const change = why === 'cancelled' ? 'cancel' : 'drain';
  return store.transaction(async (tx) => {
    await lockCampaign(tx, store, campaignId);
    return grantWish(tx, { campaignId, change, now }, wish, () => drainCampaign(tx, campaignId, why, now, reason));
  });
}

/**
 * Notes that a campaign cannot go on, and why; a person mends it and starts it again. Does nothing when the database has no such campaign.
 */
export async function failCampaign(store: Store, campaignId: string, reason: string, now: number): Promise<void> {
  await store.transaction(async (tx) => {
    await lockCampaign(tx, store, campaignId);
    await changeCampaignState(tx, campaignId, 'failed', reason, Math.round(now));
  });
}

/** A campaign that failed, and is started again, goes on where it was. */
export async function reviveCampaign(store: Store, campaignId: string, now: number): Promise<void> {
  await store.transaction(async (tx) => {
    await lockCampaign(tx, store, campaignId);
    const campaign = await findCampaign(tx, campaignId);
    if (campaign?.state === 'failed')
      await changeCampaignState(tx, campaignId, dialledState(campaign.rules, now), null, now);
  });
}
