import { ApplicationFailure } from '@temporalio/common';
import { failureTypes } from '../src/rules/failure-types.ts';
import { isOwnService, otherServiceText } from '../src/rules/service-api.ts';
import { findCampaign, type Campaign } from '../src/ledger/rows/campaigns.ts';
import { campaignIdOf } from '../src/ledger/ledger-older.ts';
import { findOpenElsewhere } from '../src/ledger/campaign/service-move.ts';
import type { ActivityDependencies } from './dependencies.ts';

type Own = Pick<ActivityDependencies, 'store' | 'accountId' | 'api'>;

/** Throws, to be retried elsewhere, unless this worker uses the campaign's service: another has another clock and none of its calls. */
export function requireOwnService(deps: Omit<Own, 'store'>, campaign: Pick<Campaign, 'campaignId' | 'accountId' | 'api'>): void {
  if (!isOwnService(campaign, deps)) throw otherService(deps, campaign);
}

/** Like `requireOwnService`; a missing campaign is left to the ledger's own checks. */
export async function requireOwnBatch(deps: Own, batchId: string): Promise<void> {
  const campaign = await findCampaign(deps.store.db, campaignIdOf(batchId));
  if (campaign !== undefined) requireOwnService(deps, campaign);
}

/** Like `requireOwnService`, for every campaign whose calls a sweep of this agent's list would conclude about. */
export async function requireOwnAgent(deps: Own, agentId: string): Promise<void> {
  const campaign = await findOpenElsewhere(deps.store.db, agentId, deps);
  if (campaign !== undefined) throw otherService(deps, campaign);
}

function otherService(deps: Omit<Own, 'store'>, campaign: Pick<Campaign, 'campaignId' | 'accountId' | 'api'>): ApplicationFailure {
  const message = `${otherServiceText(campaign, deps)}, then restart this worker.`;
  return ApplicationFailure.create({ type: failureTypes.otherService, message });
}
