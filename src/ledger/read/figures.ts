import { sql } from 'kysely';
import { clockToleranceMs } from '../../rules/correlation/evidence.ts';
import { callsAmong } from '../../rules/disposition.ts';
import { callingAttemptStates } from '../../rules/ledger.ts';
import { hasEnded, pausedByOperator } from '../../rules/lifecycle.ts';
import { isBreakersReason } from '../../rules/pacing/breaker.ts';
import { readStatus } from '../campaign/campaign-status.ts';
import { readAgent } from '../doubt/correlation-rows.ts';
import { goalShare } from '../../rules/talk-results.ts';
import { readCallerCapacities } from '../limits/caller-room.ts';
import { readLineLimits } from '../limits/line-limits.ts';
import { readIdleReason } from './idle-reason.ts';
import { goingStates, type Campaign } from '../rows/campaigns.ts';
import { countCallbacks } from '../rows/promises.ts';
import { sqlConsentFault } from '../migrations.ts';
import { countBy, findRoundRow } from '../reads.ts';
import type { Queries } from '../tx.ts';

/** The metrics describe each figure. */
export type CampaignFigures = Awaited<ReturnType<typeof readFigures>>;

const mostRecords = 1000;

/** Campaigns that need a worker, and those with a round ended after `endedSince`. */
export async function listWatched(db: Queries, endedSince: number): Promise<string[]> {
  const rows = await db
    .selectFrom('campaigns')
    .select('campaign_id')
    .where((eb) =>
      eb.or([
        eb('state', 'in', [...goingStates, 'failed']),
        eb.exists(
          eb
            .selectFrom('rounds')
            .select('rounds.round')
            .whereRef('rounds.campaign_id', '=', 'campaigns.campaign_id')
            .where('rounds.ended_at', '>', endedSince),
        ),
      ]),
    )
    .execute();
  return rows.map((row) => row.campaign_id);
}

/** Times are ms of service time, never negative. Cheap at any number of rows. */
export async function readFigures(db: Queries, campaign: Campaign, now: number) {
  const { campaignId, state, stateReason, rules } = campaign;
  const { dispositions, outcomes, waiting, open, batches, results } = await readStatus(db, campaign);
  const { open: openCallbacks = 0, overdue = 0, unclear = 0 } = (await countCallbacks(db, campaignId, now)) ?? {};
  const paused = state === 'paused' ? stateReason : null;
  const ended = hasEnded(campaign);
  const since = (at: number | null): number => (at === null ? 0 : Math.max(0, now - at));
  const capacities = ended ? [] : await readCallerCapacities(db, { ...rules.callers, limits: rules.callers.limits, now });
  const clock = { now: () => now, speed: 1 };
  const ofCampaign = db.selectFrom('recipients').where('campaign_id', '=', campaignId);
  const unconsented = ofCampaign.where(sql<boolean>`${sql.raw(sqlConsentFault)}`);
  const idle = ended || campaign.round === 0 ? undefined : await readIdleReason(db, campaign, clock, { withRule: false });
  return {
    campaignId,
    state,
    calls: callsAmong(dispositions),
    outcomes: outcomes as Readonly<Record<string, number>>,
    waiting,
    open,
    allowed: state === 'running' ? (await readLineLimits(db, campaign, { now })).allowed : 0,
    batches,
    callbacks: { open: openCallbacks, overdue, unclear },
    results,
    goals: goalShare(rules.results, results)?.count ?? 0,
    goalsWanted: rules.stopAt?.goal ?? null,
    pilot: campaign.pilot === null ? {} : { [campaign.pilot.state]: 1 },
    callerRooms: Object.fromEntries([...capacities].map(([id, { room }]) => [id, room])),
    /** Cheap: such rows are few. */
    unconsented: rules.consent === undefined ? {} : await countBy(unconsented, 'reason'),
    houseVersion: rules.house?.version ?? 0,
    /** What the planner would wait for; null: ended, or not started. */
    reason: idle === undefined ? null : (idle?.reason ?? ('ready' as const)),
    pausedByItself: paused !== null && paused !== pausedByOperator,
    breakerOpen: paused !== null && isBreakersReason(paused),
    oldestUnknownMs: since(ended ? null : await readOldestUnknown(db, campaignId)),
    sweepLagMs: since(ended ? null : await readUnsweptSince(db, campaign)),
    /** At most `mostRecords`. */
    unownedRecords: ended ? 0 : await countUnowned(db, campaign),
    sinceAcceptedMs: since(ended ? null : await readLastAccepted(db, campaign)),
  };
}

async function readOldestUnknown(db: Queries, campaignId: string): Promise<number | null> {
  const row = await db
    .selectFrom('batches')
    .select((eb) => eb.fn.min(eb.fn.coalesce('unknown_since', 'first_posted_at')).as('at'))
    .where('campaign_id', '=', campaignId)
    .where('state', 'in', ['unknown', 'posting'])
    .executeTakeFirst();
  return row?.at ?? null;
}

/** End of the last complete sweep, or the oldest open call if that is later; null: no call is open. */
async function readUnsweptSince(db: Queries, { campaignId, rules }: Campaign): Promise<number | null> {
  const row = await db
    .selectFrom('attempts')
    .select((eb) => eb.fn.min('posted_at').as('at'))
    .where('campaign_id', '=', campaignId)
    .where('state', 'in', callingAttemptStates)
    .executeTakeFirst();
  if (row?.at == null) return null;
  return Math.max(row.at, (await readAgent(db, rules.agentId))?.complete_sweep_at ?? 0);
}

async function countUnowned(db: Queries, campaign: Campaign): Promise<number> {
  const from = (await readRoundStart(db, campaign)) - clockToleranceMs;
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (
      select conversation_id from conversations
      where agent_id = ${campaign.rules.agentId} and attempt_id is null and talk > 0 and started_at >= ${from} and caller is null
        and (final = 1 or gone = 1)
      limit ${sql.lit(mostRecords)}) unowned`.execute(db);
  return rows[0]?.count ?? 0;
}

async function readLastAccepted(db: Queries, campaign: Campaign): Promise<number> {
  const row = await db
    .selectFrom('batches')
    .select(['verdict_at', 'first_posted_at'])
    .where('campaign_id', '=', campaign.campaignId)
    .where('round', '=', campaign.round)
    .where('state', '=', 'confirmed')
    .orderBy('n', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.verdict_at ?? row?.first_posted_at ?? (await readRoundStart(db, campaign));
}

async function readRoundStart(db: Queries, campaign: Campaign): Promise<number> {
  return (await findRoundRow(db, campaign))?.started_at ?? campaign.createdAt;
}
