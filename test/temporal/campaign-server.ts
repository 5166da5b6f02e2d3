import type { Client, WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { onTestFinished } from 'vitest';
import type { Activities } from '../../activities/index.ts';
import type { CampaignQueues } from '../../src/rules/ids.ts';
import { connectTemporal, connectTemporalNative } from '../../src/temporal/connection.ts';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.ts';
import type { campaign } from '../../workflows/campaign.ts';
import type { CampaignTimeouts } from '../../workflows/messages.ts';
import { sharedTemporal, startTemporalForTests } from '../support/temporal-for-tests.ts';

/** A Temporal server for the real workflows with fake activities. */
export interface CampaignServer {
  client: Client;
  /** Works with a worker that has these activities alone, on a queue of its own. */
  workWith<Result>(activities: Partial<Activities>, work: (queues: CampaignQueues) => Promise<Result>): Promise<Result>;
  stop(): Promise<void>;
}

export const timeouts: CampaignTimeouts = {
  heartbeatMs: 10_000,
  submitHeartbeatMs: 10_000,
  submitMs: 60_000,
  collectMs: 60_000,
  shortMs: 60_000,
};

/** The same for all files that share a process. */
let bundle: ReturnType<typeof bundleWorkflows> | undefined;

/** All of a file share a namespace, so that no name of a queue is used twice. */
let workers = 0;

/** `longAfter`: so many events make a history so long that its run is to continue as new; default: as many as the server's own. */
export async function startCampaignServer({ longAfter }: { longAfter?: number } = {}): Promise<CampaignServer> {
  const own = longAfter === undefined ? null : await startTemporalForTests({ longAfter });
  const target = own?.server ?? (await sharedTemporal());
  const config = { TEMPORAL_ADDRESS: undefined, TEMPORAL_NAMESPACE: undefined };
  const native = await connectTemporalNative(config, { target });
  const { connection, client } = await connectTemporal(config, { target });
  const workflowBundle = await (bundle ??= bundleWorkflows());
  return {
    client,
    workWith: async (activities, work) => {
      workers += 1;
      const taskQueue = `campaigns-${workers}`;
      const worker = await Worker.create({
        connection: native.connection,
        namespace: target.namespace,
        taskQueue,
        workflowBundle,
        activities,
      });
      return worker.runUntil(work({ campaign: taskQueue, submit: taskQueue, collect: taskQueue }));
    },
    stop: async () => {
      await connection.close();
      await native.connection.close();
      await own?.stop();
    },
  };
}

export const progress = { total: 6, done: 6, open: 0, waiting: 0, unresolved: 0 };

/** A campaign of `batches` confirmed batches, with no waits; `changes` overrides. */
export function fakeActivities(changes: Partial<Activities> = {}, batches = 1): Partial<Activities> {
  return {
    checkCallers: async () => ({ ok: true }),
    plan: async ({ batchNumber }) =>
      batchNumber <= batches ? { kind: 'batch', batchId: `spring/1/${batchNumber}`, size: 6 } : { kind: 'done' },
    submit: async ({ batchId }) => ({ kind: 'verdict', batchId, state: 'confirmed' }),
    collect: async () => ({ reason: 'nothing_outstanding', outstanding: false, state: 'running', progress }),
    closeRound: async () => ({ closed: true, progress, end: null }),
    changeState: async () => ({ changed: true }),
    ...changes,
  };
}

/** Runs the workflow of `spring` with these activities until `work` ends, on this server or one of its own. */
export async function withCampaign<Result>(
  activities: Partial<Activities>,
  work: (client: Client, handle: WorkflowHandle<typeof campaign>) => Promise<Result>,
  known?: CampaignServer,
): Promise<Result> {
  const server = known ?? (await startCampaignServer());
  if (known === undefined) onTestFinished(() => server.stop());
  return server.workWith(activities, async (queues) => {
    const options = { workflowId: `spring/${queues.campaign}`, taskQueue: queues.campaign };
    const input = { campaignId: 'spring', round: 1, queues, timeouts, submitted: 0, callersChecked: false };
    return work(server.client, await server.client.workflow.start<typeof campaign>('campaign', { ...options, args: [input] }));
  });
}
