import { expect, test } from 'vitest';
import { createActivities, type Activities } from '../../activities/index.ts';
import type { ChangeStateInput } from '../../activities/change-state.ts';
import { pauseCampaign, changeCampaignState } from '../../src/ledger/rows/campaigns.ts';
import { countOwnPauses } from '../../src/ledger/control-requests.ts';
import { cancelUpdate, knownResumeUpdate, pauseUpdate, resumeUpdate, lookAgainUpdate } from '../../workflows/messages.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { beginProven, noon } from '../ledger/scenario.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import { until } from '../support/until.ts';
import { pauseToTell } from '../../activities/notify.ts';
import { readHookStatus } from '../../src/ledger/campaign/hook-standing.ts';
import { sendJson, startHookServer } from '../shared/hooks/hook-server.ts';
import { withCampaign } from './campaign-server.ts';

/** A campaign that is paused whenever it is planned. */
const waits: Partial<Activities> = {
  checkCallers: async () => ({ ok: true }),
  plan: async () => ({ kind: 'wait', reason: 'paused', inMs: null, outstanding: false }),
};

test('a resume that the database did not take at first does not undo the pause that came after it', async () => {
  const scenario = await beginProven(await openCleanStore('sqlite'));
  const own = createActivities(buildDependencies({ store: scenario.store }));
  const told: ChangeStateInput[] = [];
  let isPaused = false;
  const activities: Partial<Activities> = {
    ...waits,
    changeState: async (input) => {
      told.push(input);
      if (input.change === 'resume' && !isPaused) throw new Error('the database is away');
      const result = await own.changeState(input);
      isPaused ||= input.change === 'pause';
      return result;
    },
  };
  await withCampaign(activities, async (_client, handle) => {
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
});

test('a resume that waited in Temporal for a worker does not undo a pause made in the database since', async () => {
  const scenario = await beginProven(await openCleanStore('sqlite'));
  const { store } = scenario;
  const own = createActivities(buildDependencies({ store }));
  await withCampaign({ ...waits, changeState: own.changeState }, async (_client, handle) => {
    expect(await pauseCampaign(store, { campaignId: 'spring', now: noon }, { reason: 'paused by a person' })).toBe(true);
    const known = { pausesSeen: await countOwnPauses(store.db, 'spring') };
    // The person changes their mind while nobody works: the later wish needs the database alone.
    expect(await pauseCampaign(store, { campaignId: 'spring', now: noon }, { reason: 'paused by a person' })).toBe(true);
    expect(await handle.executeUpdate(knownResumeUpdate, { args: [known] })).toBe(false);
    expect(await scenario.campaign()).toMatchObject({ state: 'paused' });
    // One by hand, from Temporal's own tools, knows nothing of the database.
    expect(await handle.executeUpdate(resumeUpdate)).toBe(true);
    expect(await scenario.campaign()).toMatchObject({ state: 'running' });
    await handle.terminate();
  });
});

test('a reset of the workflow does not grant an old resume again and undo a pause of the system', async () => {
  const scenario = await beginProven(await openCleanStore('sqlite'));
  const { store } = scenario;
  const own = createActivities(buildDependencies({ store }));
  const told: ChangeStateInput[] = [];
  const activities: Partial<Activities> = {
    ...waits,
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
    await store.transaction((tx) => changeCampaignState(tx, { campaignId: 'spring', now: noon }, { to: 'paused', reason }));
    const paused = { state: 'paused', stateReason: reason };
    const { events } = await handle.fetchHistory();
    const first = events?.find((event) => event.workflowTaskCompletedEventAttributes != null);
    const reset: { runId: string } = await client.workflow.workflowService.resetWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId: handle.workflowId },
      workflowTaskFinishEventId: first?.eventId ?? null,
      requestId: 'reset-once',
      reason: 'an operator tries it',
    });
    await until('the new run was told both wishes', () => told.length === 4);
    const runs = new Set(told.map(({ wish }) => wish?.run));
    expect(runs.size).toBe(2);
    expect(runs).toContain(reset.runId);
    expect(await scenario.campaign()).toMatchObject(paused);
    const again = client.workflow.getHandle(handle.workflowId);
    expect(await again.executeUpdate(resumeUpdate)).toBe(true);
    expect(await scenario.campaign()).toMatchObject({ state: 'running' });
    await again.terminate();
  });
});

test('the pause hook hears once of each pause that a campaign makes by itself, and of none that a person made', async () => {
  const hook = await startHookServer((response) => sendJson(response, {}));
  const scenario = await beginProven(await openCleanStore('sqlite'), { rules: { onPause: { url: hook.url } } });
  const { store } = scenario;
  const deps = buildDependencies({ store, hookSecret: 'a-secret-for-tests-only' });
  const own = createActivities(deps);
  let plans = 0;
  const activities: Partial<Activities> = {
    ...waits,
    plan: async () => {
      plans += 1;
      const pausedAt = await pauseToTell(deps, 'spring');
      return { kind: 'wait', reason: 'paused', inMs: null, outstanding: false, pausedAt };
    },
    changeState: own.changeState,
    notifyPause: own.notifyPause,
    noteUndelivered: own.noteUndelivered,
  };
  const pauseItself = (at: number) =>
    store.transaction((tx) =>
      changeCampaignState(tx, { campaignId: 'spring', now: at }, { to: 'paused', reason: 'the service refuses the key' }),
    );
  const toldOf = async () => (await readHookStatus(store.db, await scenario.campaign())).pause;
  await withCampaign(activities, async (_client, handle) => {
    /** The workflow has asked the planner again, and heard the answer. */
    const look = async () => {
      const before = plans;
      await handle.executeUpdate(lookAgainUpdate);
      await until('the planner was asked again', () => plans > before);
    };
    expect(await handle.executeUpdate(pauseUpdate)).toBe(true);
    await look();
    expect(await handle.executeUpdate(resumeUpdate)).toBe(true);
    for (const at of [noon + 1, noon + 2]) {
      await pauseItself(at);
      await look();
      await until('the hook was told', async () => (await toldOf()) === 'delivered');
      await look();
      await look();
      expect(await handle.executeUpdate(resumeUpdate)).toBe(true);
    }
    await handle.terminate();
  });
  expect(hook.calls.map(({ headers }) => headers['webhook-id'])).toEqual([
    'spring/1/paused/2030-01-15T12:00:00.001Z',
    'spring/1/paused/2030-01-15T12:00:00.002Z',
  ]);
});
