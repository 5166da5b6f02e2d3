import type { Client, WorkflowHandle } from '@temporalio/client';
import { onTestFinished } from 'vitest';
import type { Activities } from '../../activities/index.ts';
import type { campaign } from '../../workflows/campaign.ts';
import { startCampaignServer, timeouts, type CampaignServer } from './campaign-server.ts';

/** Runs the workflow of the campaign `spring` with these activities, for as long as the work takes, on this server or one of its own. */
export async function withCampaign(
  activities: Partial<Activities>,
  work: (client: Client, handle: WorkflowHandle<typeof campaign>) => Promise<void>,
  known?: CampaignServer,
): Promise<void> {
  const server = known ?? (await startCampaignServer());
  if (known === undefined) onTestFinished(() => server.stop());
  await server.workWith(activities, async (queues) => {
    const options = { workflowId: `spring/${queues.campaign}`, taskQueue: queues.campaign };
    const input = { campaignId: 'spring', round: 1, queues, timeouts, submitted: 0, callersChecked: false };
    await work(server.client, await server.client.workflow.start<typeof campaign>('campaign', { ...options, args: [input] }));
  });
}
