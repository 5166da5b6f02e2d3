import { sql } from 'kysely';
import { readRules, withAdjustments, type AdjustableRules, type CampaignRules } from '../../rules/campaign-rules.ts';
import type { GateMarks } from '../../rules/gates.ts';
import { underAccountRules } from '../../rules/house-rules.ts';
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
  /** Why it is paused, or null. Never holds the service's own text. */
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
  /** `reached`: in this round, so only callbacks are made. `passed`: in an earlier round; calls go on. */
  goal: 'missing' | 'reached' | 'passed';
  pilot: { sample: number; state: 'calling' | 'asked' | 'passed' } | null;
  gates: GateMarks;
}

function toCampaign(row: Row<'campaigns'> & { house: string | null }): Campaign {
  return {
    campaignId: row.campaign_id,
    name: row.name,
    fileHash: row.file_hash,
    rules: underAccountRules(adjusted(readRules(row.rules), row.adjustments), row.house),
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

/** Keeps the object for the same text: values derived from its hours are cached with it. */
const lastAdjusted = new WeakMap<CampaignRules, { adjustments: string; rules: CampaignRules }>();

/** The operator's changes; the refill threshold keeps its share of the lines. */
function adjusted(rules: CampaignRules, adjustments: string | null): CampaignRules {
  if (adjustments === null) return rules;
  const known = lastAdjusted.get(rules);
  if (known?.adjustments === adjustments) return known.rules;
  const changed = withAdjustments(rules, JSON.parse(adjustments) as Partial<AdjustableRules>);
  const { refillThreshold: before, maxConcurrentCalls: lines } = rules.pacing;
  const { maxConcurrentCalls: allowed, batchSize } = changed.pacing;
  const scaled = refillAt({ refillThreshold: before, lines, allowed });
  // A full batch need not wait for more lines.
  const refillThreshold = Math.min(scaled, Math.max(before, batchSize));
  const after = { ...changed, pacing: { ...changed.pacing, refillThreshold } };
  lastAdjusted.set(rules, { adjustments, rules: after });
  return after;
}

/** States in which a worker acts or will act: calls may be on the line. */
export const goingStates: readonly CampaignState[] = ['scheduled', 'running', 'paused', 'draining'];

const currentAccountRules = sql<string | null>`(select rules from house_rules order by version desc limit 1)`.as('house');

const everyCampaign = (db: Queries) => db.selectFrom('campaigns').selectAll().select(currentAccountRules);

const selectCampaign = prepared((db: Queries, { campaignId }: { campaignId: string }) =>
  everyCampaign(db).where('campaign_id', '=', campaignId),
);

/** Undefined: no such campaign, or its import never finished. */
export async function findCampaign(db: Queries, campaignId: string): Promise<Campaign | undefined> {
  const [row] = (await selectCampaign(db, { campaignId })).rows;
  return row === undefined || row.state === 'importing' ? undefined : toCampaign(row);
}

/** As `findCampaign`; throws when the campaign is missing. */
export async function requireCampaign(db: Queries, campaignId: string): Promise<Campaign> {
  const campaign = await findCampaign(db, campaignId);
  if (campaign === undefined) throw new Error(`Campaign ${campaignId} is not in this database`);
  return campaign;
}

export async function listRunningWith(db: Queries, numbers: readonly string[]): Promise<Campaign[]> {
  const rows = await everyCampaign(db)
    .where('state', '=', 'running')
    // Most campaigns use other numbers: parses only rules that may name one.
    .where((eb) => eb.or(numbers.map((id) => eb('rules', 'like', `%${JSON.stringify(id).replaceAll('\\\\', '_')}%`))))
    .execute();
  return rows.map(toCampaign).filter(({ rules }) => rules.callers.numbers.some((id) => numbers.includes(id)));
}

/** Imported ones, oldest first; of one account, or of all. */
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
  /** Of a pause: whether the operator requested it. */
  wished?: boolean;
  letQueued?: boolean;
}

/** Returns whether the campaign is in `to` afterwards; an illegal change does nothing. An automatic pause outranks an earlier request. */
export async function changeCampaignState(
  tx: Tx,
  { campaignId, now }: At,
  { to, reason = null, resumeAt = null, wished: isRequested = false, letQueued = false }: StateChange,
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
  if (to === 'paused' && !isRequested) await noteControlRequest(tx, { campaignId, now, change: 'pause' });
  return true;
}

/** No new calls: the planner finishes waiting rows, the collector open calls. */
export async function drainCampaign(
  tx: Tx,
  at: At,
  { why, reason = drainWords[why] }: { why: DrainReason; reason?: string | undefined },
): Promise<boolean> {
  if (!(await changeCampaignState(tx, at, { to: 'draining', reason }))) return false;
  const update = tx.updateTable('campaigns').set({ draining: why }).where('campaign_id', '=', at.campaignId);
  // A draining campaign keeps its first reason, unless the operator cancels it.
  await (why === 'cancelled' ? update : update.where('draining', 'is', null)).execute();
  return true;
}

const drainWords: Readonly<Record<DrainReason, string>> = {
  cancelled: 'cancelled by a person',
  drained: 'drained by a person',
  campaign_end: 'its end (ends_at) has come',
};

export async function startDialling(tx: Tx, at: At, { startsAt }: Pick<CampaignRules, 'startsAt'>): Promise<boolean> {
  return changeCampaignState(tx, at, { to: startsAt !== null && at.now < startsAt ? 'scheduled' : 'running' });
}

/**
 * Planned calls are given back, open ones collected. `letQueued`: calls waiting at the service may ring; the later of two pauses decides.
 * `round`: pauses only this round.
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
      // Cancels an automatic resume.
      await ofPaused.set({ state_reason: reason, resume_at: null }).where('resume_at', 'is not', null).execute();
      return changeCampaignState(tx, at, { to: 'paused', reason, wished: true, letQueued });
    }),
  );
}

/** Restarts the counts that stopped the campaign: the operator has reviewed them. `beside`: more work in that transaction. */
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

/** `cancelled` ends as cancelled, `drained` as completed with what it has. Open calls are still collected. */
export async function endCampaign(store: Store, at: At, { why, wish, reason }: End): Promise<boolean> {
  const change = why === 'cancelled' ? 'cancel' : 'drain';
  return lockedTransaction(store, at.campaignId, (tx) =>
    grantControlRequest(tx, { ...at, change, wish }, () => drainCampaign(tx, at, { why, reason })),
  );
}

/** The operator fixes the cause and starts it again. Does nothing for a missing campaign. */
export async function failCampaign(store: Store, { campaignId, now }: At, reason: string): Promise<void> {
  await lockedTransaction(store, campaignId, (tx) =>
    changeCampaignState(tx, { campaignId, now: Math.round(now) }, { to: 'failed', reason }),
  );
}

/** Does nothing unless the campaign has failed. */
export async function reviveCampaign(store: Store, at: At): Promise<void> {
  await lockedTransaction(store, at.campaignId, async (tx) => {
    const campaign = await findCampaign(tx, at.campaignId);
    if (campaign?.state === 'failed') await startDialling(tx, at, campaign.rules);
  });
}

/** Null: not stored. */
export async function readFileOf(db: Queries, campaignId: string): Promise<Record<string, unknown> | null> {
  const kept = await db.selectFrom('campaigns').select('file').where('campaign_id', '=', campaignId).executeTakeFirst();
  return kept?.file == null ? null : (JSON.parse(kept.file) as Record<string, unknown>);
}
