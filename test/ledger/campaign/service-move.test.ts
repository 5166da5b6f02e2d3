import { expect } from 'vitest';
import { readAccount, writeAccount } from '../../../src/ledger/limits/account-pace.ts';
import { changeCampaignState } from '../../../src/ledger/rows/campaigns.ts';
import { readEvents } from '../../../src/ledger/events.ts';
import { findOpenElsewhere, listElsewhere, listSchedulesElsewhere, moveService } from '../../../src/ledger/campaign/service-move.ts';
import { putSchedule } from '../../../src/ledger/campaign/schedules.ts';
import { verifyLog } from '../../../src/verify/log.ts';
import { buildRows } from '../../support/campaign-rules.ts';
import { agentId, beginCampaign, beginProven, noon, numbers } from '../scenario.ts';
import { test, openLedger, unjudged } from '../ledger-test.ts';

const before = 'http://service';
const after = 'https://voice.example/api';
const at = (accountId: string) => ({ accountId, api: 'contract' as const });

test.from(openLedger)('a campaign is elsewhere until it has ended, and its open calls with it', async (store) => {
  unjudged();
  const elsewhere = async () => (await listElsewhere(store.db, at(after))).map(({ campaignId }) => campaignId);
  expect(await elsewhere()).toEqual([]);
  const scenario = await beginProven(store);
  expect(await elsewhere()).toEqual(['spring']);
  expect(await listElsewhere(store.db, at(`${before}/`))).toEqual([]);
  expect(await findOpenElsewhere(store.db, agentId, at(after))).toBeUndefined();
  await scenario.plan(1);
  expect(await findOpenElsewhere(store.db, agentId, at(after))).toBeUndefined();
  await scenario.post(1);
  const spring = { campaignId: 'spring', ...at(before) };
  expect(await findOpenElsewhere(store.db, agentId, at(after))).toEqual(spring);
  expect(await findOpenElsewhere(store.db, agentId, at(before))).toBeUndefined();
  const asked = { accountId: before, api: 'batch-calling' } as const;
  expect(await findOpenElsewhere(store.db, agentId, asked)).toEqual(spring);
  expect((await listElsewhere(store.db, asked)).map(({ campaignId }) => campaignId)).toEqual(['spring']);
  expect(await findOpenElsewhere(store.db, 'agent_other', at(after))).toBeUndefined();
  await store.transaction((tx) => changeCampaignState(tx, { campaignId: 'spring', now: noon }, { to: 'completed', reason: null }));
  expect(await elsewhere()).toEqual([]);
});

test.both.from(openLedger)('a service that has moved takes its campaigns and limits along, once', async (store) => {
  unjudged();
  const running = await beginCampaign(store);
  const ended = await beginCampaign(store, {
    campaignId: 'winter',
    rows: buildRows(numbers(2, 20), (index) => `Guest ${index}`),
  });
  await store.transaction((tx) => changeCampaignState(tx, { campaignId: 'winter', now: noon }, { to: 'completed', reason: null }));
  const schedule = { scheduleId: 's', campaignId: 'daily', filePath: '/f', content: 'id: daily', listSource: 'l.csv' };
  await putSchedule(store, { ...schedule, accountId: before, createdAt: noon });
  expect(await listSchedulesElsewhere(store.db, after)).toMatchObject([schedule]);
  await store.transaction((tx) => writeAccount(tx, before, { max_concurrent_calls: 7, not_before: noon + 5 }));
  expect(await moveService(store, { from: 'http://nobody', to: after, now: noon })).toEqual([]);
  const moved = await moveService(store, { from: before, to: after, now: noon });
  expect(moved.map(({ campaignId }) => campaignId)).toEqual(['spring', 'winter']);
  for (const scenario of [running, ended]) {
    expect(await scenario.campaign()).toMatchObject({ accountId: after });
    const told = await readEvents(store.db, scenario.campaignId, {
      afterSeq: 0,
      limit: 100,
      types: ['account.adjusted'],
    });
    expect(told.map(({ data }) => data)).toEqual([{ from: { service: before }, to: { service: after }, by: 'person' }]);
  }
  expect(await readAccount(store.db, after)).toMatchObject({ maxConcurrentCalls: 7 });
  expect(await readAccount(store.db, before)).toMatchObject({ maxConcurrentCalls: null });
  expect(await listElsewhere(store.db, at(after))).toEqual([]);
  expect(await listSchedulesElsewhere(store.db, after)).toEqual([]);
  expect(await moveService(store, { from: before, to: after, now: noon })).toEqual([]);
  expect(await verifyLog(store.db, 'spring')).toMatchObject({ ok: true });
});

test.from(openLedger)('limits of the new address stay, and a wait that was asked for holds there', async (store) => {
  await beginCampaign(store);
  await store.transaction((tx) => writeAccount(tx, before, { max_concurrent_calls: 7, not_before: noon + 5 }));
  await store.transaction((tx) => writeAccount(tx, after, { max_concurrent_calls: 9, not_before: noon }));
  await moveService(store, { from: before, to: after, now: noon });
  const rows = await store.db.selectFrom('accounts').select(['account_id', 'max_concurrent_calls', 'not_before']).execute();
  expect(rows).toEqual([{ account_id: after, max_concurrent_calls: 9, not_before: noon + 5 }]);
});
