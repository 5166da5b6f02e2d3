import { Worker } from '@temporalio/worker';
import { expect, onTestFinished, test } from 'vitest';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import { createActivities, type Activities } from '../../activities/index.ts';
import type { ChangeStateInput } from '../../activities/account.ts';
import { readConfig } from '../../src/config.ts';
import type { ServiceClock } from '../../src/convai/service-clock.ts';
import { connectTemporal, connectTemporalNative } from '../../src/temporal/connection.ts';
import { startDevServer } from '../../src/temporal/dev-server.ts';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.ts';
import { cancelUpdate, pauseUpdate, resumeUpdate, type CampaignInput } from '../../workflows/messages.ts';
import { openCleanStore } from '../store/clean-store.ts';
import { beginProven, noon } from '../store/scenario.ts';

const taskQueue = 'wishes';

test('a resume that the database did not take at first does not undo the pause that came after it', async () => {
  const scenario = await beginProven(await openCleanStore('sqlite'));
  const clock = { now: () => noon } as ServiceClock;
  const own = createActivities({ store: scenario.store, serviceClock: async () => clock } as ActivityDependencies);
  const told: ChangeStateInput[] = [];
  let isPaused = false;
  const activities: Partial<Activities> = {
    verify: async () => ({ ok: true }),
    plan: async () => ({ kind: 'wait', reason: 'paused', inMs: null, outstanding: false }),
    changeState: async (input) => {
      told.push(input);
      if (input.change === 'resume' && !isPaused) throw new Error('the database is away');
      const result = await own.changeState(input);
      isPaused ||= input.change === 'pause';
      return result;
    },
  };
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
  await worker.runUntil(async () => {
    const handle = await client.workflow.start('campaign', { workflowId: 'spring', taskQueue, args: [input] });
    const late = await handle.startUpdate(resumeUpdate, { waitForStage: 'ACCEPTED' });
    expect(await handle.executeUpdate(pauseUpdate)).toBe(true);
    expect(await late.result()).toBe(false);
    expect(await scenario.campaign()).toMatchObject({ state: 'paused', stateReason: 'paused by a person' });
    expect(await handle.executeUpdate(resumeUpdate)).toBe(true);
    expect(await handle.executeUpdate(cancelUpdate)).toBe(true);
    const { runId: run } = await handle.describe();
    const wishes = new Map(told.map(({ change, wish }) => [wish?.number, { change, run: wish?.run }]));
    expect([...wishes].toSorted(([a = 0], [b = 0]) => a - b)).toEqual([
      [1, { change: 'resume', run }],
      [2, { change: 'pause', run }],
      [3, { change: 'resume', run }],
      [4, { change: 'cancel', run }],
    ]);
    await handle.terminate();
  });
  await connection.close();
  await native.connection.close();
});
