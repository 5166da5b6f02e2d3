import { expect, test } from 'vitest';
import { adjustAccount, adjustCampaign, readLimits } from '../../../src/ledger/limits/adjustments.ts';
import { endCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { openCleanStore } from '../clean-store.ts';
import { noon } from '../scenario.ts';
import { accountId, begin, limitsOf, told } from '../shared-account.ts';
import { dialects } from '../test-stores.ts';

test.for(dialects)('limits change while a campaign runs, and the file can be brought back: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const pacing = { maxConcurrentCalls: 10, startsPerMinute: 30, batchSize: 5, refillThreshold: 2 };
  const scenario = await begin(store, 'spring', pacing, 60);
  const hash = (await scenario.campaign()).fileHash;
  const adjust = (wish: Parameters<typeof adjustCampaign>[2]['wish'], reset = false) =>
    adjustCampaign(store, 'spring', { wish, reset, now: noon });
  const change = {
    from: { maxConcurrentCalls: 10, startsPerMinute: 30 },
    to: { maxConcurrentCalls: 40, startsPerMinute: null },
  };
  const wish = { maxConcurrentCalls: 40, startsPerMinute: null };
  expect(await adjust(wish)).toEqual(change);
  expect(await adjust(wish)).toEqual({ from: {}, to: {} });
  expect(await told(scenario, 'campaign.adjusted')).toEqual([{ ...change, by: 'person' }]);
  expect(await limitsOf(scenario)).toMatchObject({ own: 40, startsPerMinute: null });
  // A fifth of the lines is still a fifth, as long as a batch holds it.
  expect((await scenario.campaign()).rules.pacing.refillThreshold).toBe(5);
  expect(await adjust({ batchSize: 40, priority: 99 })).toMatchObject({ to: { batchSize: 40, priority: 99 } });
  expect(await scenario.dial(1)).toHaveLength(40);
  // One that is set back by hand to what the file says is adjusted no more.
  expect(await adjust({ maxConcurrentCalls: 10, startsPerMinute: 30, batchSize: 5, priority: 10 })).toBeDefined();
  expect(await store.db.selectFrom('campaigns').select('adjustments').executeTakeFirst()).toEqual({
    adjustments: null,
  });
  await adjust({ maxConcurrentCalls: 2 });
  expect((await scenario.campaign()).rules.pacing.refillThreshold).toBe(1);
  expect(await adjust({ priority: 50 }, true)).toEqual({
    from: { maxConcurrentCalls: 2, priority: 10 },
    to: { maxConcurrentCalls: 10, priority: 50 },
  });
  expect(await readLimits(store.db, 'spring')).toEqual({
    now: { maxConcurrentCalls: 10, startsPerMinute: 30, batchSize: 5, priority: 50 },
    file: { maxConcurrentCalls: 10, startsPerMinute: 30, batchSize: 5, priority: 10 },
  });
  expect((await scenario.campaign()).fileHash).toBe(hash);
});

test.for(dialects)('an ended campaign is not adjusted, and the account tells those that go on: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const over = await begin(store, 'over', {}, 2);
  await endCampaign(store, { campaignId: 'over', now: noon }, { why: 'cancelled' });
  await over.plan(1);
  await store.db.updateTable('campaigns').set({ state: 'cancelled' }).execute();
  const running = await begin(store, 'running', {}, 2, 100);
  expect(await adjustCampaign(store, 'over', { wish: { priority: 50 }, reset: false, now: noon })).toBeUndefined();
  expect(await adjustCampaign(store, 'nowhere', { wish: {}, reset: true, now: noon })).toBeUndefined();
  const adjust = (wish: Parameters<typeof adjustAccount>[2]['wish']) =>
    adjustAccount(store, accountId, { wish, now: noon });
  const first = await adjust({ maxConcurrentCalls: 30, keepFree: 300 });
  expect(first).toMatchObject({ from: { maxConcurrentCalls: null, keepFree: 0 }, to: { maxConcurrentCalls: 30 } });
  expect(first.campaigns.map(({ campaignId }) => campaignId)).toEqual(['running']);
  expect(await adjust({ maxConcurrentCalls: 30 })).toMatchObject({ from: {}, to: {} });
  expect(await limitsOf(running)).toMatchObject({ account: { lines: 21 } });
  // Without a limit there is nothing to keep free a part of.
  expect(await adjust({ maxConcurrentCalls: null })).toMatchObject({ to: { maxConcurrentCalls: null, keepFree: 0 } });
  expect(await told(over, 'account.adjusted')).toEqual([]);
  expect(await told(running, 'account.adjusted')).toHaveLength(2);
});
