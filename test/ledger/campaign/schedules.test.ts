import { expect } from 'vitest';
import type { Firing } from '../../../src/rules/events.ts';
import { readEvents } from '../../../src/ledger/events.ts';
import {
  findSchedule,
  lastFiring,
  listSchedules,
  noteFiring,
  putSchedule,
  removeSchedule,
  type Schedule,
} from '../../../src/ledger/campaign/schedules.ts';
import { verifyLog } from '../../../src/verify/log.ts';
import { noon } from '../scenario.ts';
import { test, openLedger } from '../ledger-test.ts';

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

function firing(day: number, failure: string | null = null): Firing {
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
  const note = (entry: Firing) => noteFiring(store, entry, { parentId: 'spring', now: noon });
  expect(await lastFiring(store.db, 'spring', schedule.scheduleId)).toBeUndefined();
  for (const entry of [firing(1), firing(1), firing(1, 'ended by hand'), firing(2, 'no list'), firing(2, 'no list')]) await note(entry);
  expect(await lastFiring(store.db, 'spring', schedule.scheduleId)).toEqual(firing(2, 'no list'));
  await note(firing(3));
  await noteFiring(store, { ...firing(4), scheduleId: 'carillon/other/spring' }, { parentId: 'spring', now: noon });
  expect(await lastFiring(store.db, 'spring', schedule.scheduleId)).toEqual(firing(3));
  const told = (await readEvents(store.db, 'spring')).map(({ type, data }) => [type, (data as Firing).campaignId]);
  expect(told).toEqual([
    ['schedule.fired', 'spring-2026-01-01t0900'],
    ['schedule.failed', 'spring-2026-01-01t0900'],
    ['schedule.failed', 'spring-2026-01-02t0900'],
    ['schedule.fired', 'spring-2026-01-03t0900'],
    ['schedule.fired', 'spring-2026-01-04t0900'],
  ]);
  expect(await verifyLog(store.db, null)).toMatchObject({ ok: true });
});
