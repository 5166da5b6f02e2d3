import { expect } from 'vitest';
import { createActivities } from '../../activities/index.ts';
import { changeCampaignState, pauseCampaign, resumeCampaign } from '../../src/ledger/rows/campaigns.ts';
import { countOwnPauses, type ControlChange } from '../../src/ledger/control-requests.ts';
import { asActivity } from '../support/activity-context.ts';
import { beginProven, noon, waits } from './scenario.ts';
import { dialects } from './test-stores.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import { test, openLedger } from './ledger-test.ts';

interface Told {
  run?: string;
  /** Default: the same in every run. */
  id?: string;
  /** Since it was first tried. */
  waitedMs?: number;
  pausesSeen?: number;
}

async function toldCampaign(dialect: (typeof dialects)[number]) {
  const store = await openLedger(dialect);
  const scenario = await beginProven(store);
  const { changeState } = createActivities(buildDependencies({ store }));
  const tell = async (change: ControlChange, number: number, { run = 'first', id, waitedMs = 0, ...known }: Told = {}) => {
    const wish = { ...known, id: id ?? `wish ${number}`, run, number };
    const info = {
      attempt: waitedMs === 0 ? 1 : 2,
      scheduledTimestampMs: 0,
      currentAttemptScheduledTimestampMs: waitedMs,
    };
    const { changed } = await asActivity(() => changeState({ campaignId: 'spring', change, wish }), { info });
    return [changed, (await scenario.campaign()).state];
  };
  /** As the breaker does it, say. */
  const pauseBySystem = (at: number) =>
    store.transaction((tx) =>
      changeCampaignState(tx, { campaignId: 'spring', now: at }, { to: 'paused', reason: 'the service refuses the key' }),
    );
  return { store, scenario, tell, pauseBySystem };
}

test.from(toldCampaign)('a resume that comes late does not undo a later pause', async ({ scenario, tell }) => {
  expect(await tell('pause', 1)).toEqual([true, 'paused']);
  // The second wish, a resume, comes again while the third is granted.
  expect(await tell('pause', 3)).toEqual([true, 'paused']);
  expect(await tell('resume', 2)).toEqual([false, 'paused']);
  expect(await scenario.plan(1)).toMatchObject(waits('paused'));
  expect(await tell('resume', 4)).toEqual([true, 'running']);
});

test.from(toldCampaign)('a wish that comes again is answered as before and changes nothing', async ({ tell, pauseBySystem }) => {
  expect(await tell('pause', 1)).toEqual([true, 'paused']);
  expect(await tell('resume', 2)).toEqual([true, 'running']);
  await pauseBySystem(noon + 1);
  // Its answer was lost; a reset tells another run, which continues as new.
  expect(await tell('resume', 2)).toEqual([true, 'paused']);
  expect(await tell('resume', 1, { run: 'second', id: 'wish 2' })).toEqual([true, 'paused']);
  expect(await tell('resume', 1, { run: 'third', id: 'wish 2', waitedMs: 5 })).toEqual([true, 'paused']);
  // So is one that came too late or that the state forbade.
  expect(await tell('cancel', 3)).toEqual([true, 'draining']);
  expect(await tell('resume', 4)).toEqual([false, 'draining']);
});

test.from(toldCampaign)('a resume that was refused is not granted by a reset', async ({ tell }) => {
  expect(await tell('pause', 2)).toEqual([true, 'paused']);
  expect(await tell('resume', 1)).toEqual([false, 'paused']);
  expect(await tell('resume', 3, { run: 'second', id: 'wish 1' })).toEqual([false, 'paused']);
});

test.from(toldCampaign)('another run of the workflow counts its wishes anew', async ({ tell }) => {
  expect(await tell('pause', 7)).toEqual([true, 'paused']);
  expect(await tell('resume', 1, { run: 'second', id: 'a' })).toEqual([true, 'running']);
  expect(await tell('pause', 3, { run: 'second', id: 'b' })).toEqual([true, 'paused']);
  expect(await tell('resume', 2, { run: 'second', id: 'c' })).toEqual([false, 'paused']);
  // Told to the first run before that, and tried again since.
  expect(await tell('resume', 8, { id: 'd', waitedMs: 1 })).toEqual([false, 'paused']);
});

test.from(toldCampaign)('a resume from before a pause that nobody wished does not undo it', async ({ store, tell, pauseBySystem }) => {
  await pauseBySystem(noon - 1_000);
  expect(await tell('resume', 1, { waitedMs: 2_000 })).toEqual([false, 'paused']);
  expect(await tell('resume', 2, { waitedMs: 500 })).toEqual([true, 'running']);
  // A pause made a moment ago by a worker whose clock is ahead.
  await pauseBySystem(noon + 60_000);
  expect(await tell('resume', 3)).toEqual([true, 'running']);
  // In the database alone.
  expect(await pauseCampaign(store, { campaignId: 'spring', now: noon }, { reason: 'the number is not verified' })).toBe(true);
  expect(await tell('resume', 4, { waitedMs: 500 })).toEqual([false, 'paused']);
  expect(await resumeCampaign(store, { campaignId: 'spring', now: noon })).toBe(true);
});

test('a resume that waited in Temporal for a worker does not undo a pause that a person made in the database since', async (dialect) => {
  const { store, tell } = await toldCampaign(dialect);
  expect(await tell('pause', 1)).toEqual([true, 'paused']);
  const pausesSeen = await countOwnPauses(store.db, 'spring');
  // The campaign is paused already, and stays so.
  expect(await pauseCampaign(store, { campaignId: 'spring', now: noon }, { reason: 'paused by a person' })).toBe(true);
  // Its first try: nothing has waited in the workflow.
  expect(await tell('resume', 2, { pausesSeen })).toEqual([false, 'paused']);
  const seenNow = await countOwnPauses(store.db, 'spring');
  expect(await tell('resume', 3, { pausesSeen: seenNow })).toEqual([true, 'running']);
});

test.from(toldCampaign)('an end holds however late it comes', async ({ scenario, tell }) => {
  expect(await tell('pause', 2)).toEqual([true, 'paused']);
  expect(await tell('cancel', 1)).toEqual([true, 'draining']);
  expect(await scenario.campaign()).toMatchObject({ draining: 'cancelled' });
  expect(await tell('resume', 3)).toEqual([false, 'draining']);
});
