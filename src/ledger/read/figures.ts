import { sql } from 'kysely';
import { clockToleranceMs } from '../../rules/correlation/evidence.ts';
import { callsAmong } from '../../rules/disposition.ts';
import { callingAttemptStates } from '../../rules/ledger.ts';
import { hasEnded, pausedByPerson, type CampaignState } from '../../rules/lifecycle.ts';
import { isBreakersReason } from '../../rules/pacing/breaker.ts';
import { readStatus } from '../campaign/campaign-status.ts';
import { readAgent } from '../doubt/correlation-rows.ts';
import { goalsOf } from '../../rules/talk-results.ts';
import { readAggregates } from '../aggregates.ts';
import { readCallerRooms } from '../limits/caller-room.ts';
import { readLineLimits } from '../limits/line-limits.ts';
import { readIdleReason, type IdleReasonName } from './idle-reason.ts';
import { goingStates, type Campaign } from '../rows/campaigns.ts';
import { countPromises, type PromiseCounts } from '../rows/promises.ts';
import { sqlConsentFault } from '../migrations.ts';
import { findRoundRow } from '../reads.ts';
import type { Queries } from '../tx.ts';

/** Of one campaign, what an operator watches from outside. Times are milliseconds of service time, never negative. */
export interface CampaignFigures {
  campaignId: string;
  state: CampaignState;
  /** Calls that have ended, by disposition. */
  calls: Record<string, number>;
  /** Recipients that are done, by outcome. */
  outcomes: Record<string, number>;
  waiting: number;
  open: number;
  /** Calls that may be on the line now; 0 while nothing is dialled. */
  allowed: number;
  /** By state. */
  batches: Record<string, number>;
  /** Promises to call people back: `open`, of those `overdue`, and `unclear`. */
  callbacks: Record<string, number>;
  /** Talks by what they came to, where the campaign file names results. */
  results: Record<string, number>;
  /** Talks that came to the goal, and so many as end the dialling; null: nothing does. */
  goals: number;
  goalsWanted: number | null;
  /** Whether its pilot is called, waits for a decision (`asked`) or has passed; empty: it has none. */
  pilot: Record<string, number>;
  /** Calls that each of its caller numbers may begin now, where they are limited. */
  callerRooms: Record<string, number>;
  /** Recipients that are done for want of consent, by reason, where the campaign asks for consent. */
  unconsented: Record<string, number>;
  /** The version of the house rules that holds for it; 0: there are none. */
  houseVersion: number;
  /** What the planner would wait for; `ready`: it would plan a batch; null: the campaign has ended, or was not started. */
  reason: IdleReasonName | 'ready' | null;
  pausedByItself: boolean;
  breakerOpen: boolean;
  /** Since the oldest request began, or became doubtful, of which it is not known whether it was taken; 0: there is none. */
  oldestUnknownMs: number;
  /** For how long an open call has waited for a complete sweep; 0: no call is open. */
  sweepLagMs: number;
  /** Records of the agent since the round began, read to their end, that are no call's and may hold a talk; at most `mostRecords`. */
  unownedRecords: number;
  /** Since the service last accepted a batch of the round, or since the round began; 0 once the campaign has ended. */
  sinceAcceptedMs: number;
}

const mostRecords = 1000;

/** Ids of the campaigns for which somebody works, or should, and of those of which a round has ended after `endedSince`. */
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

/** Reads aggregates and the small ends of indexes: as cheap at a million rows as at ten. */
export async function readFigures(db: Queries, campaign: Campaign, now: number): Promise<CampaignFigures> {
  const { campaignId, state, stateReason } = campaign;
  const status = await readStatus(db, campaign);
  const paused = state === 'paused' ? stateReason : null;
  const ended = hasEnded(campaign);
  const since = (at: number | null): number => (at === null ? 0 : Math.max(0, now - at));
  return {
    campaignId,
    state,
    calls: callsAmong(status.dispositions),
    outcomes: status.outcomes,
    waiting: status.waiting,
    open: status.open,
    allowed: state === 'running' ? (await readLineLimits(db, campaign, { now })).allowed : 0,
    batches: status.batches,
    callbacks: callbacksOf(await countPromises(db, campaignId, now)),
    ...(await readTalks(db, campaign)),
    goalsWanted: campaign.rules.stopAt?.goal ?? null,
    pilot: campaign.pilot === null ? {} : { [campaign.pilot.state]: 1 },
    callerRooms: ended ? {} : await readRooms(db, campaign, now),
    unconsented: campaign.rules.consent === undefined ? {} : await countConsentFaults(db, campaignId),
    houseVersion: campaign.rules.house?.version ?? 0,
    reason:
      ended || campaign.round === 0
        ? null
        : ((await readIdleReason(db, campaign, { now: () => now, speed: 1 }, { withRule: false }))?.reason ?? 'ready'),
    pausedByItself: paused !== null && paused !== pausedByPerson,
    breakerOpen: paused !== null && isBreakersReason(paused),
    oldestUnknownMs: since(ended ? null : await readOldestUnknown(db, campaignId)),
    sweepLagMs: since(ended ? null : await readUnsweptSince(db, campaign)),
    unownedRecords: ended ? 0 : await countUnowned(db, campaign),
    sinceAcceptedMs: since(ended ? null : await readLastAccepted(db, campaign)),
  };
}

async function readTalks(db: Queries, { campaignId, rules }: Campaign): Promise<Pick<CampaignFigures, 'results' | 'goals'>> {
  const counts = rules.results === undefined ? [] : await readAggregates(db, campaignId, ['result']);
  const isGoal = goalsOf(rules.results);
  const goals = counts.reduce((sum, { value, count }) => sum + (isGoal.has(value) ? count : 0), 0);
  return { results: Object.fromEntries(counts.map(({ value, count }) => [value, count])), goals };
}

async function readRooms(db: Queries, { rules }: Campaign, now: number): Promise<Record<string, number>> {
  const rooms = await readCallerRooms(db, { ...rules.callers, limits: rules.callers.limits, now });
  return Object.fromEntries([...rooms].map(([id, { room }]) => [id, room]));
}

/** As cheap as they are few. */
async function countConsentFaults(db: Queries, campaignId: string): Promise<Record<string, number>> {
  const rows = await db
    .selectFrom('recipients')
    .select(['reason', (eb) => eb.fn.countAll<number>().as('count')])
    .where('campaign_id', '=', campaignId)
    .where(sql<boolean>`${sql.raw(sqlConsentFault)}`)
    .groupBy('reason')
    .execute();
  return Object.fromEntries(rows.map(({ reason, count }) => [String(reason), count]));
}

function callbacksOf(counts: PromiseCounts | null): Record<string, number> {
  const { open = 0, overdue = 0, unclear = 0 } = counts ?? {};
  return { open, overdue, unclear };
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

/** The end of the last complete sweep, or the oldest open call where that is younger; null: no call is open. */
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
