import { sql } from 'kysely';
import { readRules, withAdjustments, type AdjustableRules, type CampaignRules } from '../../rules/campaign-rules.ts';
import type { GateMarks } from '../../rules/gates.ts';
import { underHouse } from '../../rules/house-rules.ts';
import type { ServiceApi } from '../../rules/service-api.ts';
import { campaignTransitions, type CampaignState, type DrainReason } from '../../rules/lifecycle.ts';
import { refillAt } from '../../rules/pacing/pacing.ts';
import { appendEvents } from '../events.ts';
import { lockedTransaction } from '../locks.ts';
import { prepared } from '../prepared.ts';
import type { At, Queries, Tx, Store } from '../tx.ts';
import { grantControlRequest, noteControlRequest, type ControlRequest } from '../control-requests.ts';
import { updateCampaign, updateRound } from '../updates.ts';
import type { Row } from '../schema.ts';

export interface Campaign {
  campaignId: string;
  name: string | null;
  fileHash: string;
  rules: CampaignRules;
  accountId: string;
  api: ServiceApi;
  state: CampaignState;
  /** Why it is paused, or null. Never holds the service's own words. */
  stateReason: string | null;
  createdAt: number;
  rowsTotal: number;
  rowsRejected: number;
  round: number;
  callerProven: boolean;
  recordShown: boolean;
  canaryFrom: number;
  draining: DrainReason | null;
  resumeAt: number | null;
  letQueued: boolean;
  dialsSince: number;
  /** `reached`: in this round, so that only promised callbacks are made. `passed`: in an earlier one: people are called again. */
  goal: 'missing' | 'reached' | 'passed';
  pilot: { sample: number; state: 'calling' | 'asked' | 'passed' } | null;
  gates: GateMarks;
}

function toCampaign(row: Row<'campaigns'> & { house: string | null }): Campaign {
  return {
    campaignId: row.campaign_id,
    name: row.name,
    fileHash: row.file_hash,
    rules: underHouse(adjusted(readRules(row.rules), row.adjustments), row.house),
    accountId: row.account_id,
    api: row.api,
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
    letQueued: row.let_queued === 1,
    dialsSince: row.dials_since,
    pilot: row.pilot_sample === null || row.pilot_state === null ? null : { sample: row.pilot_sample, state: row.pilot_state },
    gates: row.gates === null ? {} : (JSON.parse(row.gates) as GateMarks),
    goal: row.goal_round === null ? 'missing' : row.goal_round === row.round ? 'reached' : 'passed',
  };
}

/** The same object for the same text: what is worked out of hours is kept with them. */
const lastAdjusted = new WeakMap<CampaignRules, { adjustments: string; rules: CampaignRules }>();

/** The rules with what a person changed since; the threshold of a refill stays the same part of the lines that there are now. */
function adjusted(rules: CampaignRules, adjustments: string | null): CampaignRules {
  if (adjustments === null) return rules;
  const known = lastAdjusted.get(rules);
  if (known?.adjustments === adjustments) return known.rules;
  const changed = withAdjustments(rules, JSON.parse(adjustments) as Partial<AdjustableRules>);
  const { refillThreshold: before, maxConcurrentCalls: lines } = rules.pacing;
  const { maxConcurrentCalls: allowed, batchSize } = changed.pacing;
  const scaled = refillAt({ refillThreshold: before, lines, allowed });
  // A batch that is full need not wait for more lines.
  const refillThreshold = Math.min(scaled, Math.max(before, batchSize));
  const after = { ...changed, pacing: { ...changed.pacing, refillThreshold } };
  lastAdjusted.set(rules, { adjustments, rules: after });
  return after;
}

/** States in which somebody works for a campaign, or will: its calls may be on the line. */
export const goingStates: readonly CampaignState[] = ['scheduled', 'running', 'paused', 'draining'];

const houseNow = sql<string | null>`(select rules from house_rules order by version desc limit 1)`.as('house');

const everyCampaign = (db: Queries) => db.selectFrom('campaigns').selectAll().select(houseNow);

const selectCampaign = prepared((db: Queries, { campaignId }: { campaignId: string }) =>
  everyCampaign(db).where('campaign_id', '=', campaignId),
);

/** The campaign, or undefined when the database has none of that id or its import never finished. */
export async function findCampaign(db: Queries, campaignId: string): Promise<Campaign | undefined> {
  const [row] = (await selectCampaign(db, { campaignId })).rows;
  return row === undefined || row.state === 'importing' ? undefined : toCampaign(row);
}

/** As `findCampaign`, where something of the campaign is in the database; throws when the campaign is not. */
export async function requireCampaign(db: Queries, campaignId: string): Promise<Campaign> {
  const campaign = await findCampaign(db, campaignId);
  if (campaign === undefined) throw new Error(`Campaign ${campaignId} is not in this database`);
  return campaign;
}

export async function listRunningWith(db: Queries, numbers: readonly string[]): Promise<Campaign[]> {
  const rows = await everyCampaign(db)
    .where('state', '=', 'running')
    // Most have others: only what may name one of them is parsed.
    .where((eb) => eb.or(numbers.map((id) => eb('rules', 'like', `%${JSON.stringify(id).replaceAll('\\\\', '_')}%`))))
    .execute();
  return rows.map(toCampaign).filter(({ rules }) => rules.callers.numbers.some((id) => numbers.includes(id)));
}

/** The campaigns whose import has finished, oldest first; of one account, or of all. */
export async function listCampaigns(db: Queries, accountId?: string): Promise<Campaign[]> {
  const rows = await everyCampaign(db)
    .where('state', '!=', 'importing')
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
    .orderBy('created_at')
    .orderBy('campaign_id')
    .execute();
  return rows.map(toCampaign);
}

interface StateChange {
  to: CampaignState;
  reason?: string | null;
  resumeAt?: number | null;
  /** Of a pause: whether a person wished it. */
  wished?: boolean;
  letQueued?: boolean;
}

/**
 * Changes and logs a campaign's state. Answers whether it is in `to` afterwards; an illegal change does nothing. A pause that nobody wished
 * is not undone by an earlier wish.
 */
export async function changeCampaignState(
  tx: Tx,
  { campaignId, now }: At,
  { to, reason = null, resumeAt = null, wished = false, letQueued = false }: StateChange,
): Promise<boolean> {
  const query = tx.selectFrom('campaigns').select('state').where('campaign_id', '=', campaignId);
  const before = await query.executeTakeFirst();
  if (before === undefined) return false;
  if (before.state === to) return true;
  if (!campaignTransitions[before.state].includes(to)) return false;
  const begins = to === 'running' ? { dials_since: now } : {};
  const change = { state: to, state_reason: reason, resume_at: resumeAt, let_queued: letQueued ? 1 : 0 } as const;
  await updateCampaign(tx, campaignId, { ...change, ...begins });
  const data = { from: before.state, to, reason, ...(resumeAt === null ? {} : { resumeAt }), ...(letQueued && { letQueued }) };
  await appendEvents(tx, [{ at: now, campaignId, type: 'campaign.state', data }]);
  if (to === 'paused' && !wished) await noteControlRequest(tx, { campaignId, now, change: 'pause' });
  return true;
}

/** From here on nobody new is dialled. Those who wait get their outcome from the planner, open calls from the collector. */
export async function drainCampaign(
  tx: Tx,
  at: At,
  { why, reason = drainWords[why] }: { why: DrainReason; reason?: string | undefined },
): Promise<boolean> {
  if (!(await changeCampaignState(tx, at, { to: 'draining', reason }))) return false;
  const update = tx.updateTable('campaigns').set({ draining: why }).where('campaign_id', '=', at.campaignId);
  // One that drains already goes on doing so for its first reason, unless a person cancels it.
  await (why === 'cancelled' ? update : update.where('draining', 'is', null)).execute();
  return true;
}

const drainWords: Readonly<Record<DrainReason, string>> = {
  cancelled: 'cancelled by a person',
  drained: 'drained by a person',
  campaign_end: 'its end (ends_at) has come',
};

/** Brings a campaign into the state in which it dials: it waits for its start time until that has come. */
export async function startDialling(tx: Tx, at: At, { startsAt }: Pick<CampaignRules, 'startsAt'>): Promise<boolean> {
  return changeCampaignState(tx, at, { to: startsAt !== null && at.now < startsAt ? 'scheduled' : 'running' });
}

/**
 * Pauses dialling: planned calls are given back, open ones collected. `letQueued`: what waits at the service may ring; of two pauses the
 * later decides. `round`: another one goes on.
 */
export async function pauseCampaign(
  store: Store,
  at: At,
  { reason, wish, round, letQueued = false }: { reason: string; wish?: ControlRequest | undefined; round?: number; letQueued?: boolean },
): Promise<boolean> {
  return lockedTransaction(store, at.campaignId, (tx) =>
    grantControlRequest(tx, { ...at, change: 'pause', wish }, async () => {
      if (round !== undefined && (await findCampaign(tx, at.campaignId))?.round !== round) return false;
      const ofPaused = tx.updateTable('campaigns').where('campaign_id', '=', at.campaignId).where('state', '=', 'paused');
      await ofPaused.set({ let_queued: letQueued ? 1 : 0 }).execute();
      // One that would go on by itself stays paused from here on.
      await ofPaused.set({ state_reason: reason, resume_at: null }).where('resume_at', 'is not', null).execute();
      return changeCampaignState(tx, at, { to: 'paused', reason, wished: true, letQueued });
    }),
  );
}

/**
 * Goes on dialling. A person has looked, so that what stopped the campaign counts anew. `beside`: what else is done in that transaction.
 */
export async function resumeCampaign(
  store: Store,
  at: At,
  { wish, beside }: { wish?: ControlRequest | undefined; beside?: (tx: Tx, campaign: Campaign) => Promise<void> } = {},
): Promise<boolean> {
  return lockedTransaction(store, at.campaignId, (tx) =>
    grantControlRequest(tx, { ...at, change: 'resume', wish }, () => goOn(tx, at, beside)),
  );
}

async function goOn(tx: Tx, at: At, beside: (tx: Tx, campaign: Campaign) => Promise<void> = async () => {}): Promise<boolean> {
  const { campaignId } = at;
  const campaign = await findCampaign(tx, campaignId);
  if (campaign?.state === 'running' || campaign?.state === 'scheduled') return true;
  if (campaign?.state !== 'paused') return false;
  await beside(tx, campaign);
  const round = { campaign_id: campaignId, round: campaign.round };
  await updateRound(tx, round, { unknown_streak: 0, refused_streak: 0 });
  await updateCampaign(tx, campaignId, { canary_from: await lastBatchNumber(tx, round) });
  return startDialling(tx, at, campaign.rules);
}

export async function lastBatchNumber(db: Queries, of: { campaign_id: string; round: number }): Promise<number> {
  const { n } = await db
    .selectFrom('batches')
    .select((eb) => eb.fn.max('n').as('n'))
    .where('campaign_id', '=', of.campaign_id)
    .where('round', '=', of.round)
    .executeTakeFirstOrThrow();
  return n ?? 0;
}

interface End {
  why: Extract<DrainReason, 'cancelled' | 'drained'>;
  wish?: ControlRequest | undefined;
  reason?: string | undefined;
}

/** Ends a campaign: `cancelled` as cancelled, `drained` as completed with what it has. Open calls are still collected. */
export async function endCampaign(store: Store, at: At, { why, wish, reason }: End): Promise<boolean> {
  const change = why === 'cancelled' ? 'cancel' : 'drain';
  return lockedTransaction(store, at.campaignId, (tx) =>
    grantControlRequest(tx, { ...at, change, wish }, () => drainCampaign(tx, at, { why, reason })),
  );
}

/** Notes that a campaign cannot go on, and why; a person mends it and starts it again. Does nothing without such a campaign. */
export async function failCampaign(store: Store, { campaignId, now }: At, reason: string): Promise<void> {
  await lockedTransaction(store, campaignId, (tx) =>
    changeCampaignState(tx, { campaignId, now: Math.round(now) }, { to: 'failed', reason }),
  );
}

/** A campaign that failed, and is started again, goes on where it was. */
export async function reviveCampaign(store: Store, at: At): Promise<void> {
  await lockedTransaction(store, at.campaignId, async (tx) => {
    const campaign = await findCampaign(tx, at.campaignId);
    if (campaign?.state === 'failed') await startDialling(tx, at, campaign.rules);
  });
}

/** What the file of a campaign says, as it was written; null where it is not kept. */
export async function readFileOf(db: Queries, campaignId: string): Promise<Record<string, unknown> | null> {
  const kept = await db.selectFrom('campaigns').select('file').where('campaign_id', '=', campaignId).executeTakeFirst();
  return kept?.file == null ? null : (JSON.parse(kept.file) as Record<string, unknown>);
}
