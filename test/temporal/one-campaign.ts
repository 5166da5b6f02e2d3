import type { Client, WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { onTestFinished } from 'vitest';
import type { Activities } from '../../activities/index.ts';
import { readConfig } from '../../src/config.ts';
import { connectTemporal, connectTemporalNative } from '../../src/temporal/connection.ts';
import { startDevServer } from '../../src/temporal/dev-server.ts';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.ts';
import type { CampaignInput } from '../../workflows/messages.ts';

const taskQueue = 'campaigns';

/** Runs the workflow of the campaign `spring` on a server of its own, with these activities, for as long as the work takes. */
export async function withCampaign(
  activities: Partial<Activities>,
  work: (client: Client, handle: WorkflowHandle) => Promise<void>,
): Promise<void> {
  const target = await startDevServer({ config: readConfig(), ui: false });
  onTestFinished(() => target.stop());
  const config = { TEMPORAL_ADDRESS: undefined, TEMPORAL_NAMESPACE: undefined };
  const native = await connectTemporalNative(config, { target });
  const { connection, client } = await connectTemporal(config, { target });
  const workflowBundle = await bundleWorkflows();
  const worker = await Worker.create({ connection: native.connection, taskQueue, workflowBundle, activities });
  const input: CampaignInput = {
    campaignId: 'spring',
    round: 1,
    queues: { campaign: taskQueue, submit: taskQueue, collect: taskQueue },
    timeouts: { heartbeatMs: 10_000, submitHeartbeatMs: 10_000, submitMs: 60_000, collectMs: 60_000, shortMs: 60_000 },
    submitted: 0,
    callersChecked: false,
  };
  await worker.runUntil(async () =>
    work(client, await client.workflow.start('campaign', { workflowId: 'spring', taskQueue, args: [input] })),
  );
  await connection.close();
  await native.connection.close();
}
