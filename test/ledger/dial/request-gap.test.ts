import { expect, test } from 'vitest';
import { openPosting } from '../../../src/ledger/dial/posting.ts';
import { untilTurn, writeAccount } from '../../../src/ledger/limits/account-pace.ts';
import { buildRows } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { beginProven, noon, numbers } from '../scenario.ts';
import { dialects } from '../test-stores.ts';

test.for(dialects)('requests of an account begin apart, whichever campaign and process makes them: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const spring = await beginProven(store);
  const rows = buildRows(numbers(6, 10), (index) => `Guest ${index + 10}`);
  const autumn = await beginProven(store, { campaignId: 'autumn', rows });
  await spring.plan(1);
  await autumn.plan(1);
  let databaseNow = noon;
  const post = (scenario: typeof spring) => {
    const limits = { postingWindowMs: 10_000, httpTimeoutMs: 60_000, speed: 1, gapMs: 200 };
    const times = { now: noon, nowReal: noon };
    return openPosting({ ...store, now: async () => databaseNow }, { batchId: scenario.batchId(1), ...times, ...limits });
  };
  expect(await post(spring)).toMatchObject({ kind: 'post', k: 1 });
  databaseNow += 50;
  expect(await post(autumn)).toEqual({ kind: 'early', inMs: 150 });
  // Whoever waits for a turn has not tried yet: tries end after a quarter of an hour.
  expect(await autumn.batch(1)).toMatchObject({ state: 'intent', posts: 0, first_submit_at: null });
  databaseNow += 150;
  expect(await post(autumn)).toMatchObject({ kind: 'post', k: 1 });
});

test.for(dialects)('a clock that is set back by an hour does not stop the dialling for an hour: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const account = 'http://service';
  await store.transaction((tx) => writeAccount(tx, account, { requested_database: noon }));
  const inMs = (databaseNow: number) => store.transaction((tx) => untilTurn(tx, account, { gapMs: 200, databaseNow }));
  expect(await inMs(noon + 1)).toBe(199);
  expect(await inMs(noon - 3_600_000)).toBe(0);
});
