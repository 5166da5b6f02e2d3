import { expect, test } from 'vitest';
import { createActivities, type Activities } from '../../activities/index.ts';
import { pauseToTell } from '../../activities/pause-to-tell.ts';
import { changeCampaignState } from '../../src/ledger/rows/campaigns.ts';
import { readHookStanding } from '../../src/ledger/campaign/hook-standing.ts';
import { lookAgainUpdate, pauseUpdate, resumeUpdate } from '../../workflows/messages.ts';
import { sendJson, startHookServer } from '../hooks/hook-server.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { beginProven, noon } from '../ledger/scenario.ts';
import { until } from '../support/until.ts';
import { withCampaign } from './one-campaign.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';

test('the pause hook hears once of each pause that a campaign makes by itself, and of none that a person made', async () => {
  const hook = await startHookServer((response) => sendJson(response, {}));
  const scenario = await beginProven(await openCleanStore('sqlite'), { rules: { onPause: { url: hook.url } } });
  const { store } = scenario;
  const deps = buildDependencies({ store, hookSecret: 'a-secret-for-tests-only' });
  const own = createActivities(deps);
  let plans = 0;
  const activities: Partial<Activities> = {
    checkCallers: async () => ({ ok: true }),
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
    store.transaction((tx) => changeCampaignState(tx, 'spring', 'paused', 'the service refuses the key', at));
  const toldOf = async () => (await readHookStanding(store.db, await scenario.campaign())).pause;
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
