import { campaignWorkflowId } from '../../rules/ids.ts';
import { changeCampaignState, findCampaign, requireCampaign, startDialling, type Campaign } from '../rows/campaigns.ts';
import { countOutstanding, isOutstanding, nextDueAt } from '../limits/counters.ts';
import { appendEvents } from '../events.ts';
import { lockedTransaction } from '../locks.ts';
import { findRoundRow } from '../reads.ts';
import type { At, Queries, Store } from '../tx.ts';
import { updateCampaign, updateRound } from '../updates.ts';
import { callsAmong } from '../../rules/disposition.ts';
import { readStatus } from './campaign-status.ts';

const noStreaks = { unknown_streak: 0, blocked_until: 0, refused_streak: 0 };

export interface Round {
  campaignId: string;
  round: number;
  workflowId: string;
  endedAt: number | null;
}

export async function findRound(db: Queries, campaignId: string, round: number): Promise<Round | undefined> {
  const row = await findRoundRow(db, { campaignId, round });
  return row === undefined ? undefined : { campaignId, round, workflowId: row.workflow_id, endedAt: row.ended_at };
}

/** The round that `openRound` would return; undefined: nothing to run, or no such campaign. */
export async function nextRound(db: Queries, campaignId: string): Promise<number | undefined> {
  const campaign = await findCampaign(db, campaignId);
  if (campaign === undefined) return undefined;
  if (campaign.round === 0) return 1;
  const current = await findRound(db, campaignId, campaign.round);
  if (current !== undefined && current.endedAt === null) return current.round;
  return (await nextDueAt(db, campaignId)) === null ? undefined : campaign.round + 1;
}

/** Opens the first or next round, or returns the running one; undefined: nothing to run. Idempotent. */
export async function openRound(store: Store, campaignId: string, now: number): Promise<Round | undefined> {
  return lockedTransaction(store, campaignId, async (tx) => {
    const campaign = await findCampaign(tx, campaignId);
    if (campaign === undefined) return undefined;
    const round = await nextRound(tx, campaignId);
    if (round === undefined) return undefined;
    if (round === campaign.round) return findRound(tx, campaignId, round);
    const workflowId = campaignWorkflowId(campaignId, round);
    await tx
      .insertInto('rounds')
      .values({ campaign_id: campaignId, round, workflow_id: workflowId, started_at: now, ...noStreaks })
      .execute();
    await updateCampaign(tx, campaignId, { round, canary_from: 0, draining: null });
    await startDialling(tx, { campaignId, now }, campaign.rules);
    await appendEvents(tx, [{ at: now, campaignId, type: 'round.started', data: { round } }]);
    return { campaignId, round, workflowId, endedAt: null };
  });
}

/** Closes a round whose recipients all have an outcome; false: not done yet. Idempotent. */
export async function closeRound(store: Store, { campaignId, now }: At, round: number): Promise<boolean> {
  return lockedTransaction(store, campaignId, async (tx) => {
    const stored = await findRound(tx, campaignId, round);
    if (stored === undefined || stored.endedAt !== null) return stored !== undefined;
    const campaign = await requireCampaign(tx, campaignId);
    if ((await nextDueAt(tx, campaignId)) !== null || isOutstanding(await countOutstanding(tx, campaignId))) return false;
    await updateRound(tx, { campaign_id: campaignId, round }, { ended_at: now });
    const end = campaign.state === 'draining' && campaign.draining === 'cancelled' ? 'cancelled' : 'completed';
    await changeCampaignState(tx, { campaignId, now }, { to: end });
    await appendEvents(tx, [{ at: now, campaignId, type: 'round.ended', data: { round } }]);
    return true;
  });
}

/** The service or a conversation proves the caller number; until then only a few calls are placed. */
export async function noteCallerProven(store: Store, campaignId: string): Promise<void> {
  await store.db.updateTable('campaigns').set({ caller_proven: 1 }).where('campaign_id', '=', campaignId).execute();
}

/** Counts only, no recipient data. Instants are service time. */
export interface RoundEnd {
  state: 'completed' | 'cancelled';
  rows: number;
  /** Rows by outcome, over all rounds. */
  outcomes: Record<string, number>;
  /** Calls by disposition, over all rounds. */
  calls: Record<string, number>;
  startedAt: number;
  endedAt: number;
}

export async function readRoundEnd(db: Queries, campaign: Campaign, round: number): Promise<RoundEnd> {
  const { campaignId, state } = campaign;
  const row = await findRoundRow(db, { campaignId, round });
  if (row === undefined) throw new Error('a round that has ended is not in the database');
  const { total, outcomes, dispositions } = await readStatus(db, campaign);
  return {
    state: state === 'cancelled' ? 'cancelled' : 'completed',
    rows: total,
    outcomes: withoutZeros(outcomes),
    calls: withoutZeros(callsAmong(dispositions)),
    startedAt: row.started_at,
    endedAt: row.ended_at ?? row.started_at,
  };
}

function withoutZeros(counts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
