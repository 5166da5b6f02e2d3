import { expect } from 'vitest';
import { readAccount, writeAccount } from '../../../src/ledger/limits/account-pace.ts';
import { changeCampaignState } from '../../../src/ledger/rows/campaigns.ts';
import { readEvents } from '../../../src/ledger/events.ts';
import { findOpenElsewhere, listElsewhere, listSchedulesElsewhere, moveService } from '../../../src/ledger/campaign/service-move.ts';
import {
  putSchedule,
  findSchedule,
  readLastScheduledRun,
  listSchedules,
  recordScheduledRun,
  removeSchedule,
  type Schedule,
} from '../../../src/ledger/campaign/schedules.ts';
import { verifyLog } from '../../../src/verify/log.ts';
import { buildRows } from '../../support/campaign-rules.ts';
import { agentId, beginCampaign, beginProven, noon, numbers } from '../scenario.ts';
import { test, openLedger, unjudged } from '../ledger-test.ts';
import type { ScheduledRun } from '../../../src/rules/events.ts';
import { readLookUpProof, storeLookUpProof, type LookUpProof } from '../../../src/ledger/campaign/lookup-proof.ts';

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

const schedule: Schedule = {
  scheduleId: 'carillon/carillon/spring',
  campaignId: 'spring',
  filePath: '/srv/calls/campaign.yaml',
  content: 'id: spring\nname: "Frühling"\n',
  listSource: 'lists/{{ date }}.csv',
  accountId: 'http://service',
  createdAt: noon,
  unnamedEncoding: null,
};

function firing(day: number, failure: string | null = null): ScheduledRun {
  const { scheduleId } = schedule;
  return { scheduleId, campaignId: `spring-2026-01-0${day}t0900`, scheduledAt: noon + day, failure };
}

test.both.from(openLedger)('a schedule is kept as it was written, and made anew by a second writing', async (store) => {
  await putSchedule(store, schedule);
  expect(await findSchedule(store.db, schedule.scheduleId)).toEqual(schedule);
  const later = { ...schedule, content: 'id: spring\n', createdAt: noon + 1, unnamedEncoding: 'western' } as const;
  await putSchedule(store, later);
  expect(await listSchedules(store.db)).toEqual([later]);
  await removeSchedule(store, schedule.scheduleId);
  expect(await findSchedule(store.db, schedule.scheduleId)).toBeUndefined();
  await removeSchedule(store, schedule.scheduleId);
});

test.from(openLedger)('the log tells each end of a firing once, and the judge takes it for no campaign', async (store) => {
  const note = (entry: ScheduledRun) => recordScheduledRun(store, entry, { parentId: 'spring', now: noon });
  expect(await readLastScheduledRun(store.db, 'spring', schedule.scheduleId)).toBeUndefined();
  for (const entry of [firing(1), firing(1), firing(1, 'ended by hand'), firing(2, 'no list'), firing(2, 'no list')]) await note(entry);
  expect(await readLastScheduledRun(store.db, 'spring', schedule.scheduleId)).toEqual(firing(2, 'no list'));
  await note(firing(3));
  await recordScheduledRun(store, { ...firing(4), scheduleId: 'carillon/other/spring' }, { parentId: 'spring', now: noon });
  expect(await readLastScheduledRun(store.db, 'spring', schedule.scheduleId)).toEqual(firing(3));
  const told = (await readEvents(store.db, 'spring')).map(({ type, data }) => [type, (data as ScheduledRun).campaignId]);
  expect(told).toEqual([
    ['schedule.fired', 'spring-2026-01-01t0900'],
    ['schedule.failed', 'spring-2026-01-01t0900'],
    ['schedule.failed', 'spring-2026-01-02t0900'],
    ['schedule.fired', 'spring-2026-01-03t0900'],
    ['schedule.fired', 'spring-2026-01-04t0900'],
  ]);
  expect(await verifyLog(store.db, null)).toMatchObject({ ok: true });
});

const accountId = 'https://service.example/prefix';
const proof: LookUpProof = { api: 'batch-calling', provenAt: 1_000, listLagMs: 20, order: 'newest_first', keyBehaviour: null };

test.both.from(openLedger)('a proof is of one account at one interface, and the newest counts', async (store) => {
  const read = (account = accountId, api: LookUpProof['api'] = 'batch-calling') => readLookUpProof(store.db, { accountId: account, api });
  expect(await read()).toBeNull();
  await storeLookUpProof(store, accountId, proof);
  await storeLookUpProof(store, accountId, { ...proof, provenAt: 2_000 });
  expect(await read()).toEqual({ ...proof, provenAt: 2_000 });
  expect(await read(accountId, 'campaigns')).toBeNull();
  expect(await read('https://other.example')).toBeNull();
});
