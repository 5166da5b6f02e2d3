import { expect, test } from 'vitest';
import { changeCampaignState, listCampaigns } from '../../src/ledger/rows/campaigns.ts';
import { findGoingFiring, firingCampaigns, lastFiring } from '../../src/ledger/campaign/schedules.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { noon } from '../ledger/scenario.ts';
import { dialects } from '../ledger/test-stores.ts';
import { daily, schedule } from './daily-schedule.ts';

const first = 'daily-2030-01-15t1200';
const skipped = (state: string) =>
  `for good: Skipped: campaign ${first} of an earlier run is ${state}. If it does not progress, continue it from the schedule.`;

test.for(dialects)(
  'a firing is skipped while the campaign of an earlier one has not ended, whatever its workflow says: %s',
  async (dialect) => {
    const store = await openCleanStore(dialect);
    const fire = await daily(store);
    expect(await fire(0)).toBe(first);
    // The same firing, tried again.
    expect(await fire(0)).toBe(first);
    expect(await fire(1)).toBe(skipped('running'));
    await store.transaction((tx) =>
      changeCampaignState(tx, { campaignId: first, now: noon }, { to: 'paused', reason: 'paused by a person' }),
    );
    // The last firing that the log tells of has no campaign by now.
    expect(await lastFiring(store.db, 'daily', schedule.scheduleId)).toMatchObject({
      campaignId: 'daily-2030-01-16t1200',
      failure: skipped('running').replace('for good: ', ''),
    });
    for (let day = 2; day < 30; day += 1) expect(await fire(day)).toBe(skipped('paused'));
    await store.transaction((tx) =>
      changeCampaignState(tx, { campaignId: first, now: noon }, { to: 'draining', reason: null }),
    );
    expect(await fire(30)).toBe(skipped('draining'));
    expect((await listCampaigns(store.db)).map(({ campaignId }) => campaignId)).toEqual([first]);

    await store.transaction((tx) =>
      changeCampaignState(tx, { campaignId: first, now: noon }, { to: 'completed', reason: null }),
    );
    expect(await findGoingFiring(store.db, schedule)).toBeUndefined();
    const second = 'daily-2030-02-15t1200';
    expect(await fire(31)).toBe(second);
    expect((await firingCampaigns(store.db, schedule)).map(({ campaignId }) => campaignId)).toEqual([second, first]);

    // An earlier one is retried while the last one has ended.
    await store.transaction((tx) =>
      changeCampaignState(tx, { campaignId: second, now: noon }, { to: 'failed', reason: null }),
    );
    await store.transaction((tx) =>
      changeCampaignState(tx, { campaignId: first, now: noon }, { to: 'running', reason: null }),
    );
    expect(await fire(32)).toBe(skipped('running'));
  },
);

test.for(dialects)('campaigns of other schedules, and those of no firing, skip nothing: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const fire = await daily(store);
  expect(await fire(0)).toBe(first);
  expect(await findGoingFiring(store.db, { ...schedule, scheduleId: 'carillon/other/daily' })).toBeUndefined();
  expect(await findGoingFiring(store.db, { ...schedule, campaignId: 'dail' })).toBeUndefined();
  await store.db.updateTable('campaigns').set({ campaign_id: 'daily-test-1' }).execute();
  expect(await findGoingFiring(store.db, schedule)).toBeUndefined();
  expect(await fire(1)).toBe('daily-2030-01-16t1200');
});

test('a worker of another service takes no firing: its list would be dialled there', async () => {
  const store = await openCleanStore('sqlite');
  const fire = await daily(store, { accountId: 'http://127.0.0.1:4010' });
  expect(await fire(0)).toBe(
    'for now: The schedule of daily was made for the service at http://service, and SVC_BASE_URL of the worker is http://127.0.0.1:4010: set it to that service, and restart the worker.',
  );
  expect(await listCampaigns(store.db)).toEqual([]);
});
