import { changeCampaignState, dialledState, findCampaign, type Campaign } from '../rows/campaigns.ts';
import { countOutstanding, isOutstanding, nextDueAt } from '../limits/counters.ts';
import { appendEvents } from '../events.ts';
import { lockCampaign, type Queries, type Store } from '../open-ledger.ts';

export interface Round {
  campaignId: string;
  round: number;
  workflowId: string;
  endedAt: number | null;
}

export async function findRound(db: Queries, campaignId: string, round: number): Promise<Round | undefined> {
  const row = await db
    .selectFrom('rounds')
    .select(['workflow_id', 'ended_at'])
    .where('campaign_id', '=', campaignId)
    .where('round', '=', round)
    .executeTakeFirst();
  return row === undefined ? undefined : { campaignId, round, workflowId: row.workflow_id, endedAt: row.ended_at };
}

/** The number of the round that `openRound` would answer with; undefined when nothing is left to run, or there is no such campaign. */
export async function nextRound(db: Queries, campaignId: string): Promise<number | undefined> {
  const campaign = await findCampaign(db, campaignId);
  if (campaign === undefined) return undefined;
  if (campaign.round === 0) return 1;
  const current = await findRound(db, campaignId, campaign.round);
  if (current !== undefined && current.endedAt === null) return current.round;
  return (await nextDueAt(db, campaignId)) === null ? undefined : campaign.round + 1;
}

/**
 * Opens the round that a campaign is to run now: its first, the one that is still running, or, when the last one has ended and
 * recipients wait again, the next. Idempotent. Answers undefined when there is nothing left to run.
 */
export async function openRound(
  store: Store,
  campaignId: string,
  workflowIdOf: (campaignId: string, round: number) => string,
  now: number,
): Promise<Round | undefined> {
  return store.transaction(async (tx) => {
    await lockCampaign(tx, store, campaignId);
    const campaign = await findCampaign(tx, campaignId);
    if (campaign === undefined) return undefined;
    const round = await nextRound(tx, campaignId);
    if (round === undefined) return undefined;
    if (round === campaign.round) return findRound(tx, campaignId, round);
    const workflowId = workflowIdOf(campaignId, round);
    await tx
      .insertInto('rounds')
      .values({
        campaign_id: campaignId,
        round,
        workflow_id: workflowId,
        started_at: now,
        ended_at: null,
        unknown_streak: 0,
        blocked_until: 0,
        refused_streak: 0,
      })
      .execute();
    await tx
      .updateTable('campaigns')
      .set({ round, canary_from: 0, draining: null })
      .where('campaign_id', '=', campaignId)
      .execute();
    await changeCampaignState(tx, campaignId, dialledState(campaign.rules, now), null, now);
    await appendEvents(tx, [{ at: now, campaignId, type: 'round.started', data: { round } }]);
    return { campaignId, round, workflowId, endedAt: null };
  });
}

/** Closes a round whose recipients all have an outcome. Idempotent; answers false when something is still to be done. */
export async function closeRound(store: Store, campaignId: string, round: number, now: number): Promise<boolean> {
  return store.transaction(async (tx) => {
    await lockCampaign(tx, store, campaignId);
    const stored = await findRound(tx, campaignId, round);
    if (stored === undefined || stored.endedAt !== null) return stored !== undefined;
    const campaign = (await findCampaign(tx, campaignId)) as Campaign;
    if ((await nextDueAt(tx, campaignId)) !== null || isOutstanding(await countOutstanding(tx, campaignId)))
      return false;
    await tx
      .updateTable('rounds')
      .set({ ended_at: now })
      .where('campaign_id', '=', campaignId)
      .where('round', '=', round)
      .execute();
    const end = campaign.state === 'draining' && campaign.draining === 'cancelled' ? 'cancelled' : 'completed';
    await changeCampaignState(tx, campaignId, end, null, now);
    await appendEvents(tx, [{ at: now, campaignId, type: 'round.ended', data: { round } }]);
    return true;
  });
}

/** Whether the service or a conversation vouches for the caller number: without that, only a few calls are made at first. */
export async function noteCallerProven(store: Store, campaignId: string): Promise<void> {
  await store.db.updateTable('campaigns').set({ caller_proven: 1 }).where('campaign_id', '=', campaignId).execute();
}
