import { setImmediate } from 'node:timers/promises';
import { hasEnded } from '../../rules/lifecycle.ts';
import { countUndecided, countUnresolved } from '../../ledger/read/doubt-counts.ts';
import { lastMoveAt, readIdleReason, type Clock } from '../../ledger/read/idle-reason.ts';
import type { Claims } from '../../ledger/limits/line-limits.ts';
import type { Queries } from '../../ledger/tx.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import type { Why } from '../../presentation/words/why.ts';
import type { Control, OpenCampaign } from './control.ts';
import { readWorkflowStatus, readWorkflowStatuses } from './supervision.ts';

/**
 * Why a campaign places no calls now, from database, Temporal and service. `withinMs`: maximum wait for the latter two, whose answer a
 * later read shows. Default: unlimited.
 */
export async function readWhy({ campaign, ...control }: OpenCampaign, clock: Clock, withinMs?: number): Promise<Why> {
  const ask = async () => ({ look: await readWorkflowStatus({ ...control, campaign }) });
  const pending = withinMs === undefined ? ask() : control.cache.readWithin(withinMs, `soon ${campaign.campaignId}`, ask, 0);
  return { ...(await readKnown(control.store.db, campaign, clock)), look: (await pending)?.look };
}

/** Slow with many running campaigns, or without Temporal, which is not asked about paused and ended ones. */
export async function readWhys(control: Control, campaigns: readonly Campaign[], clock: Clock): Promise<ReadonlyMap<string, Why>> {
  const pendingStatuses = readWorkflowStatuses(
    control,
    campaigns.filter((campaign) => !isStill(campaign)),
  );
  const known: Why[] = [];
  const claims: Claims = new Map();
  for (const campaign of campaigns) {
    known.push(await readKnown(control.store.db, campaign, clock, claims));
    await setImmediate();
  }
  const statuses = await pendingStatuses;
  return new Map(known.map((why) => [why.campaign.campaignId, { ...why, look: statuses.get(why.campaign.campaignId) ?? null }]));
}

/** The database alone explains why no calls are placed. */
export function isStill(campaign: Campaign): boolean {
  return campaign.state === 'paused' || hasEnded(campaign);
}

async function readKnown(db: Queries, campaign: Campaign, clock: Clock, claims?: Claims): Promise<Why> {
  const nothing = { campaign, undecided: 0, idle: null, movedAt: null, look: null };
  if (!hasEnded(campaign))
    return {
      ...nothing,
      idle: await readIdleReason(db, campaign, clock, { claims }),
      movedAt: await lastMoveAt(db, campaign),
      look: undefined,
    };
  if (campaign.state === 'failed') return nothing;
  return { ...nothing, undecided: countUndecided(await countUnresolved(db, campaign.campaignId)) };
}
