import { findCampaign } from '../src/ledger/rows/campaigns.ts';
import { isOutstanding } from '../src/ledger/limits/counters.ts';
import { olderThanCampaign } from '../src/ledger/ledger-older.ts';
import type { Planned } from '../src/rules/pacing/next-step.ts';
import { planBatch } from '../src/ledger/plan/planning.ts';
import { lookAtCallers } from './callers.ts';
import { renderWith } from './campaign-templates.ts';
import { serviceNow, type ActivityDependencies } from './dependencies.ts';
import { requireOwnService } from './own-service.ts';
import { pauseToTell } from './notify.ts';

export interface PlanActivityInput {
  campaignId: string;
  round: number;
  /** From 1 in each round. */
  batchNumber: number;
}

export type PlanActivityResult = Planned & {
  /** A pause by the campaign itself, for its hook; absent when not paused. */
  pausedAt?: number | null;
};

/** The next batch of a round, or why there is none. Idempotent in `batchNumber`. */
export async function plan(deps: ActivityDependencies, input: PlanActivityInput): Promise<PlanActivityResult> {
  const clock = await deps.serviceClock();
  const { campaignId, round, batchNumber: n } = input;
  const campaign = await findCampaign(deps.store.db, campaignId);
  if (campaign === undefined) throw olderThanCampaign(campaignId);
  requireOwnService(deps, campaign);
  await lookAtCallers(deps, clock, campaign);
  const now = serviceNow(clock);
  const result = await planBatch(deps.store, { campaignId, round, n, now, render: renderWith(campaign.rules) });
  switch (result.kind) {
    case 'batch':
      return { kind: 'batch', batchId: result.batchId, size: result.size };
    case 'done':
      return result;
    case 'wait': {
      const inMs = result.until === null ? null : Math.max(1, Math.ceil(clock.toRealMs(result.until - now)));
      const { reason, onlyPromises } = result;
      const ownPause = reason === 'paused' ? { pausedAt: await pauseToTell(deps, campaignId) } : {};
      return {
        kind: 'wait',
        reason,
        inMs,
        outstanding: isOutstanding(result.outstanding),
        ...(onlyPromises && { onlyPromises }),
        ...ownPause,
      };
    }
  }
}
