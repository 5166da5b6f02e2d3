import type { Selectable } from 'kysely';
import type { CampaignRules } from '../domain/campaign-rules.ts';
import { appendEvents } from './events.ts';
import { lockCampaign, type Queries, type Store } from './open-store.ts';
import type { CampaignState, Database } from './schema.ts';

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
  canaryFrom: number;
}

export function toCampaign(row: Selectable<Database['campaigns']>): Campaign {
  return {
    campaignId: row.campaign_id,
    name: row.name,
    fileHash: row.file_hash,
    rules: JSON.parse(row.rules) as CampaignRules,
    accountId: row.account_id,
    state: row.state,
    stateReason: row.state_reason,
    createdAt: row.created_at,
    rowsTotal: row.rows_total,
    rowsRejected: row.rows_rejected,
    round: row.round,
    callerProven: row.caller_proven === 1,
    canaryFrom: row.canary_from,
  };
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
    .execute();
  return rows.map(toCampaign);
}

/** Which states a person or the program may lead a campaign from, per target. */
const stateChanges: Readonly<
  Record<'running' | 'paused' | 'cancelling' | 'completed' | 'cancelled', readonly CampaignState[]>
> = {
  running: ['ready', 'paused', 'running', 'completed', 'cancelled'],
  paused: ['running', 'paused'],
  cancelling: ['running', 'paused', 'cancelling'],
  completed: ['running', 'paused'],
  cancelled: ['cancelling'],
};

/**
 * Changes a campaign's state in the caller's transaction and logs it. Answers whether the campaign is in `to` afterwards;
 * repeating a change is harmless, an illegal one changes nothing.
 */
export async function changeCampaignState(
  tx: Queries,
  campaignId: string,
  to: keyof typeof stateChanges,
  reason: string | null,
  now: number,
): Promise<boolean> {
  const before = await tx
    .selectFrom('campaigns')
    .select(['state', 'state_reason'])
    .where('campaign_id', '=', campaignId)
    .executeTakeFirst();
  if (before === undefined || !stateChanges[to].includes(before.state)) return false;
  if (before.state === to) return true;
  await tx
    .updateTable('campaigns')
    .set({ state: to, state_reason: reason })
    .where('campaign_id', '=', campaignId)
    .execute();
  await appendEvents(tx, [{ at: now, campaignId, type: 'campaign.state', data: { from: before.state, to, reason } }]);
  return true;
}

/** Pauses dialling: what is planned is given back at its next look, what is open is still collected. */
export async function pauseCampaign(store: Store, campaignId: string, reason: string, now: number): Promise<boolean> {
  return store.transaction(async (tx) => {
    await lockCampaign(tx, store, campaignId);
    return changeCampaignState(tx, campaignId, 'paused', reason, now);
  });
}

/** Goes on dialling. A person has looked: what had stopped the campaign by itself starts to count anew. */
export async function resumeCampaign(store: Store, campaignId: string, now: number): Promise<boolean> {
  return store.transaction(async (tx) => {
    await lockCampaign(tx, store, campaignId);
    const campaign = await findCampaign(tx, campaignId);
    if (campaign === undefined || (campaign.state !== 'paused' && campaign.state !== 'running')) return false;
    if (campaign.state === 'running') return true;
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
    return changeCampaignState(tx, campaignId, 'running', null, now);
  });
}

/** No new dials from here on. Waiting recipients get their outcome from the planner, open calls from the collector. */
export async function cancelCampaign(store: Store, campaignId: string, now: number): Promise<boolean> {
  return store.transaction(async (tx) => {
    await lockCampaign(tx, store, campaignId);
    return changeCampaignState(tx, campaignId, 'cancelling', 'cancelled by a person', now);
  });
}
