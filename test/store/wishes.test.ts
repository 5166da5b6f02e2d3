import { expect, test } from 'vitest';
import { createActivities } from '../../activities/index.ts';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import type { ServiceClock } from '../../src/convai/service-clock.ts';
import type { WishOrder } from '../../src/store/wishes.ts';
import { openCleanStore } from './clean-store.ts';
import { beginProven, noon } from './scenario.ts';
import { dialects } from './test-stores.ts';

async function toldCampaign(dialect: (typeof dialects)[number]) {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store);
  const deps = { store, serviceClock: async () => ({ now: () => noon }) as ServiceClock } as ActivityDependencies;
  const { changeState } = createActivities(deps);
  const tell = async (change: 'pause' | 'resume' | 'drain' | 'cancel', order?: WishOrder) => {
    const { changed } = await changeState({ campaignId: 'spring', change, ...(order === undefined ? {} : { order }) });
    return [changed, (await scenario.campaign()).state];
  };
  return { scenario, tell };
}

const nth = (number: number, run = 'first'): WishOrder => ({ run, number });

test.for(dialects)('a resume that comes late does not undo a later pause: %s', async (dialect) => {
  const { scenario, tell } = await toldCampaign(dialect);
  expect(await tell('pause', nth(1))).toEqual([true, 'paused']);
  // The second wish, a resume, is being tried again while the third is granted.
  expect(await tell('pause', nth(3))).toEqual([true, 'paused']);
  expect(await tell('resume', nth(2))).toEqual([false, 'paused']);
  expect(await scenario.plan(1)).toMatchObject({ kind: 'wait', reason: 'paused' });
  // The answer of the third was lost on its way: it comes again.
  expect(await tell('pause', nth(3))).toEqual([true, 'paused']);
  expect(await tell('resume', nth(4))).toEqual([true, 'running']);
  expect(await tell('pause', nth(3))).toEqual([false, 'running']);
});

test.for(dialects)('another run of the workflow counts its wishes anew: %s', async (dialect) => {
  const { tell } = await toldCampaign(dialect);
  expect(await tell('pause', nth(7))).toEqual([true, 'paused']);
  expect(await tell('resume', nth(1, 'second'))).toEqual([true, 'running']);
  expect(await tell('pause', nth(2, 'second'))).toEqual([true, 'paused']);
  expect(await tell('resume', nth(1, 'second'))).toEqual([false, 'paused']);
  // As an earlier version of the workflow told it.
  expect(await tell('resume')).toEqual([true, 'running']);
});

test.for(dialects)('an end holds however late it comes: %s', async (dialect) => {
  const { scenario, tell } = await toldCampaign(dialect);
  expect(await tell('pause', nth(2))).toEqual([true, 'paused']);
  expect(await tell('cancel', nth(1))).toEqual([true, 'draining']);
  expect(await scenario.campaign()).toMatchObject({ draining: 'cancelled' });
  expect(await tell('resume', nth(3))).toEqual([false, 'draining']);
});
