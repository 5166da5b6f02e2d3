import { expect, test } from 'vitest';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import { createActivities, type Activities } from '../../activities/index.ts';
import type { ChangeStateInput } from '../../activities/account.ts';
import type { ServiceClock } from '../../src/convai/service-clock.ts';
import { cancelUpdate, pauseUpdate, resumeUpdate } from '../../workflows/messages.ts';
import { openCleanStore } from '../store/clean-store.ts';
import { beginProven, noon } from '../store/scenario.ts';
import { withCampaign } from './one-campaign.ts';

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
