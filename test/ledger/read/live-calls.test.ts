import { expect, test } from 'vitest';
import { readLiveCalls } from '../../../src/ledger/read/live-calls.ts';
import { openCleanStore } from '../clean-store.ts';
import { answered, beginProven, noon, numbers } from '../scenario.ts';
import { bothDialects } from '../test-stores.ts';

const minuteMs = 60_000;

test.for(bothDialects)('the calls on the line are listed with how each stands, the longest first: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rules: { pacing: { batchSize: 1 } } });
  const read = async (now: number, limit = 10) => readLiveCalls(store.db, await scenario.campaign(), { limit, now });
  await scenario.plan(1);
  // A call that is planned was not requested.
  expect(await read(noon)).toEqual({ calls: [], total: 0 });
  await scenario.post(1);
  await scenario.verdict(1, 'confirmed', { callsInitiated: 1 });
  await scenario.dial(2, noon + 1_000);
  await scenario.plan(3, noon + 2_000);
  await scenario.post(3, noon + 2_000);

  const [first = '', second = '', third = ''] = numbers(3);
  const calls = [
    { row: 1, attempt: 1, e164: first, caller: 'pn_main', since: noon, state: 'accepted' },
    { row: 2, attempt: 1, e164: second, caller: 'pn_main', since: noon + 1_000, state: 'accepted' },
    { row: 3, attempt: 1, e164: third, caller: 'pn_main', since: noon + 2_000, state: 'requested' },
  ];
  expect(await read(noon + 3_000)).toEqual({ calls, total: 3 });
  expect(await read(noon + 3_000, 2)).toEqual({ calls: calls.slice(0, 2), total: 3 });

  await scenario.verdict(3, 'unknown', { now: noon + 3_000 });
  const nothing = { country: null, regions: null, reason: null, checked_at: null };
  const caller = { campaign_id: 'spring', phone_number_id: 'pn_main', position: 0, out: 0, given: 0, ...nothing };
  await store.db
    .insertInto('callers')
    .values({ ...caller, e164: '+12025550100' })
    .execute();
  const record = { ...answered('conv_1', second, noon + 1_000), status: 'processing' } as const;
  await scenario.sweep(noon + 2 * minuteMs, [record], false);
  const later = await read(noon + 2 * minuteMs);
  expect(later.calls.map(({ row, state }) => [row, state])).toEqual([
    [1, 'accepted'],
    [2, 'over'],
    [3, 'unknown'],
  ]);
  expect(later.calls[0]?.caller).toBe('+12025550100');

  await scenario.sweep(noon + 3 * minuteMs, [answered('conv_1', second, noon + 1_000)], false);
  expect((await read(noon + 3 * minuteMs)).calls.map(({ row }) => row)).toEqual([1, 3]);
});
