import { expect, test } from 'vitest';
import { createActivities, type Activities } from '../../activities/index.ts';
import type { ChangeStateInput } from '../../activities/change-state.ts';
import { pauseCampaign } from '../../src/ledger/rows/campaigns.ts';
import { countOwnPauses } from '../../src/ledger/wishes.ts';
import { cancelUpdate, knownResumeUpdate, pauseUpdate, resumeUpdate } from '../../workflows/messages.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { beginProven, noon } from '../ledger/scenario.ts';
import { withCampaign } from './one-campaign.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';

test('a resume that the database did not take at first does not undo the pause that came after it', async () => {
  const scenario = await beginProven(await openCleanStore('sqlite'));
  const own = createActivities(buildDependencies({ store: scenario.store }));
  const told: ChangeStateInput[] = [];
  let isPaused = false;
  const activities: Partial<Activities> = {
    checkCallers: async () => ({ ok: true }),
    plan: async () => ({ kind: 'wait', reason: 'paused', inMs: null, outstanding: false }),
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
  const activities: Partial<Activities> = {
    checkCallers: async () => ({ ok: true }),
    plan: async () => ({ kind: 'wait', reason: 'paused', inMs: null, outstanding: false }),
    changeState: own.changeState,
  };
  await withCampaign(activities, async (_client, handle) => {
    expect(await pauseCampaign(store, 'spring', 'paused by a person', noon)).toBe(true);
    const known = { pausesSeen: await countOwnPauses(store.db, 'spring') };
    // The person changes their mind while nobody works: the later wish needs the database alone.
    expect(await pauseCampaign(store, 'spring', 'paused by a person', noon)).toBe(true);
    expect(await handle.executeUpdate(knownResumeUpdate, { args: [known] })).toBe(false);
    expect(await scenario.campaign()).toMatchObject({ state: 'paused' });
    // One by hand, from Temporal's own tools, knows nothing of the database.
    expect(await handle.executeUpdate(resumeUpdate)).toBe(true);
    expect(await scenario.campaign()).toMatchObject({ state: 'running' });
    await handle.terminate();
  });
});
