import type { Client, WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { expect, onTestFinished, test } from 'vitest';
import type { ChangeStateInput } from '../../activities/account.ts';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import { createActivities, type Activities } from '../../activities/index.ts';
import { readConfig } from '../../src/config.ts';
import type { ServiceClock } from '../../src/convai/service-clock.ts';
import { changeCampaignState } from '../../src/store/campaigns.ts';
import { connectTemporal, connectTemporalNative } from '../../src/temporal/connection.ts';
import { startDevServer } from '../../src/temporal/dev-server.ts';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.ts';
import { pauseUpdate, resumeUpdate, type CampaignInput } from '../../workflows/messages.ts';
import { openCleanStore } from '../store/clean-store.ts';
import { beginProven, noon } from '../store/scenario.ts';
import { until } from '../support/until.ts';

const taskQueue = 'reset';
/** Runs the campaign's workflow on a server of its own, with these activities, for as long as the work takes. */
async function withCampaign(
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
    verified: true,
  };
  await worker.runUntil(async () =>
    work(client, await client.workflow.start('campaign', { workflowId: 'spring', taskQueue, args: [input] })),
  );
  await connection.close();
  await native.connection.close();
}

test('a reset of the workflow does not grant an old resume again and undo a pause of the system', async () => {
  const scenario = await beginProven(await openCleanStore('sqlite'));
  const { store } = scenario;
  const clock = { now: () => noon, speed: 1 } as ServiceClock;
  const own = createActivities({ store, serviceClock: async () => clock } as ActivityDependencies);
  const told: ChangeStateInput[] = [];
  const activities: Partial<Activities> = {
    verify: async () => ({ ok: true }),
    plan: async () => ({ kind: 'wait', reason: 'paused', inMs: null, outstanding: false }),
    changeState: async (input) => {
      const result = await own.changeState(input);
      told.push(input);
      return result;
    },
  };
  await withCampaign(activities, async (client, handle) => {
    expect(await handle.executeUpdate(pauseUpdate)).toBe(true);
    expect(await handle.executeUpdate(resumeUpdate)).toBe(true);
    const reason = 'the service refuses the key';
    await store.transaction((tx) => changeCampaignState(tx, 'spring', 'paused', reason, noon));
    const paused = { state: 'paused', stateReason: reason };
    const { events } = await handle.fetchHistory();
    const first = events?.find((event) => event.workflowTaskCompletedEventAttributes != null);
    const reset: { runId: string } = await client.workflow.workflowService.resetWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId: 'spring' },
      workflowTaskFinishEventId: first?.eventId ?? null,
      requestId: 'reset-once',
      reason: 'an operator tries it',
    });
    await until('the new run was told both wishes', () => told.length === 4);
    const runs = new Set(told.map(({ wish }) => wish?.run));
    expect(runs.size).toBe(2);
    expect(runs).toContain(reset.runId);
    expect(await scenario.campaign()).toMatchObject(paused);
    const again = client.workflow.getHandle('spring');
    expect(await again.executeUpdate(resumeUpdate)).toBe(true);
    expect(await scenario.campaign()).toMatchObject({ state: 'running' });
    await again.terminate();
  });
});

test('a submit whose word the database took late is made again when nothing was sent', async () => {
  const states = ['intent', 'not_sent', 'posting', 'confirmed'] as const;
  let submits = 0;
  const verdict = { batchId: 'spring/1/1', k: 1, verdict: 'not_sent', now: noon } as const;
  const activities: Partial<Activities> = {
    plan: async ({ n }) => (n === 1 ? { kind: 'batch', batchId: 'spring/1/1', size: 6 } : { kind: 'done' }),
    submit: async () => ({ kind: 'unrecorded', verdict }),
    recordPostVerdict: async () => {
      submits += 1;
      return { state: states[submits - 1] ?? 'confirmed' };
    },
    collect: async () => ({
      reason: 'nothing_outstanding',
      outstanding: false,
      state: 'running',
      progress: { total: 6, done: 6, open: 0, waiting: 0, unresolved: 0 },
    }),
    account: async () => ({
      closed: true,
      progress: { total: 6, done: 6, open: 0, waiting: 0, unresolved: 0 },
      end: null,
    }),
  };
  await withCampaign(activities, async (_client, handle) => {
    await handle.result();
  });
  expect(submits).toBe(states.length);
});
