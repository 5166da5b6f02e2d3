import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { CampaignInput } from '../../workflows/messages.ts';

/** The control of the replay test: plans before it verifies, which no recorded campaign did. */
export async function campaign(input: CampaignInput): Promise<void> {
  const { plan, verify } = proxyActivities<Activities>({
    taskQueue: input.queues.campaign,
    startToCloseTimeout: 60_000,
  });
  await plan({ campaignId: input.campaignId, round: input.round, n: 1 });
  await verify({ campaignId: input.campaignId });
}
