import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { CampaignInput } from '../../workflows/messages.ts';

/** The control of the replay test: plans before it checks agent and callers, unlike any recorded campaign. */
export async function campaign(input: CampaignInput): Promise<void> {
  const { plan, checkCallers } = proxyActivities<Activities>({
    taskQueue: input.queues.campaign,
    startToCloseTimeout: 60_000,
  });
  await plan({ campaignId: input.campaignId, round: input.round, batchNumber: 1 });
  await checkCallers({ campaignId: input.campaignId });
}

export { campaign as completionNotice, campaign as scheduledCampaign, campaign as webhook };
