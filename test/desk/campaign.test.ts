import { expect, test } from 'vitest';
import { readMarks } from '../../src/ledger/events.ts';
import { findCampaign } from '../../src/ledger/rows/campaigns.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { beginProven } from '../ledger/scenario.ts';
import { DeskWorld, hiddenFields } from './desk-world.ts';

async function openWorld() {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store, { rules: { pacing: { batchSize: 2 } } });
  return { store, scenario, desk: await DeskWorld.over(store) };
}

test('a button that is pressed twice acts once', async () => {
  const { store, desk } = await openWorld();
  const form = hiddenFields((await desk.get('/campaigns/spring/pause')).text);
  expect(form).toHaveProperty('key');
  const acted = async () => (await readMarks(store.db, 'spring')).filter(({ type }) => type === 'operator.acted');
  for (let times = 0; times < 2; times += 1)
    expect(await desk.post('/campaigns/spring/pause', form)).toMatchObject({
      status: 303,
      headers: { location: '/campaigns/spring' },
    });
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ state: 'paused' });
  expect(await acted()).toHaveLength(1);
});

test('whoever may only look sees no button, and is refused what they send all the same', async () => {
  const { store, desk } = await openWorld();
  expect((await desk.get('/campaigns/spring')).text).toContain('href="/campaigns/spring/pause"');
  expect((await desk.get('/campaigns/spring', 'read')).text).not.toContain('/pause"');
  expect(await desk.get('/campaigns/spring/pause', 'read')).toMatchObject({ status: 403 });
  expect(await desk.post('/campaigns/spring/pause', { key: 'k1' }, 'read')).toMatchObject({ status: 403 });
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ state: 'running' });
});
