import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/shared/config.ts';
import { touchedRuns, untouchedCron } from '../../src/temporal/clock-changes.ts';
import { describeCronFault } from '../../src/temporal/cron-expression.ts';
import { createSchedule, describeSchedule, type Recurrence, type ScheduleState } from '../../src/temporal/schedules.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';

const temporal = useSharedTemporal();

const hourMs = 3_600_000;
let made = 0;

async function create(recurrence: Partial<Recurrence>, now = Date.now()): Promise<ScheduleState & { id: string }> {
  made += 1;
  const deps = { client: temporal.client, config: readConfig({}), ledgerId: 'ledger', now };
  const state = await createSchedule(deps, `calls-${made}`, {
    cron: null,
    everyMs: null,
    when: 'as written',
    timeZone: 'UTC',
    startAt: null,
    endAt: null,
    catchUpMs: 600_000,
    keepSkipped: false,
    note: null,
    ...recurrence,
  });
  const id = `carillon/carillon/calls-${made}`;
  onTestFinished(() => temporal.client.schedule.getHandle(id).delete());
  return { ...state, id };
}

function localTimes(state: ScheduleState, timeZone: string): string[] {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'short', hour: '2-digit', minute: '2-digit' });
  return state.next.map((ms) => format.format(ms).replace(',', ''));
}

test('a schedule skips what overlaps, has a short catch-up, and its payload holds ids and limits alone', async () => {
  const { id, ...state } = await create({
    cron: '0 9 * * mon-fri',
    timeZone: 'America/New_York',
    note: 'each morning',
  });
  expect(state).toMatchObject({
    when: 'as written',
    timeZone: 'America/New_York',
    paused: false,
    note: 'each morning',
  });
  expect(new Set(localTimes(state, 'America/New_York').map((time) => time.slice(-5)))).toEqual(new Set(['09:00']));
  expect(localTimes(state, 'America/New_York').join(' ')).not.toMatch(/Sat|Sun/);
  const { policies, action, memo } = await temporal.client.schedule.getHandle(id).describe();
  expect(policies).toMatchObject({ overlap: 'SKIP', catchupWindow: 600_000 });
  expect(memo).toEqual({ when: 'as written' });
  expect(action).toMatchObject({
    workflowType: 'scheduledCampaign',
    workflowId: id,
    taskQueue: 'carillon-campaign-ledger',
  });
  expect(action.args?.map((arg) => Object.keys(arg as object).sort())).toEqual([
    ['catchUpMs', 'queues', 'scheduleId', 'timeZone', 'timeouts'],
  ]);
});

test('an interval counts from the start, or from now', async () => {
  const now = Date.parse('2031-01-01T10:17:30.250Z');
  const fromNow = await create({ everyMs: 5 * hourMs }, now);
  expect(fromNow.next[0]).toSatisfy((first: number) => (first - Math.floor(now / 1000) * 1000) % (5 * hourMs) === 0);
  const startAt = Date.parse('2031-01-01T09:00:00Z');
  const fromStart = await create({ everyMs: 7 * 24 * hourMs, startAt });
  expect(fromStart.next.slice(0, 2)).toEqual([startAt, startAt + 7 * 24 * hourMs]);
});

test('a start and an end bound the firings', async () => {
  const bounded = await create({
    cron: '0 9 * * *',
    startAt: Date.parse('2031-01-01T10:00:00Z'),
    endAt: Date.parse('2031-01-03T10:00:00Z'),
  });
  expect(bounded.next.map((ms) => new Date(ms).toISOString())).toEqual(['2031-01-02T09:00:00.000Z', '2031-01-03T09:00:00.000Z']);
});

test('one that would never fire is not made, and one that exists is not replaced', async () => {
  await expect(create({ cron: '0 9 31 4 *' })).rejects.toMatchObject({
    name: 'ScheduleNeverFiresError',
    isBadInput: true,
  });
  expect(await describeSchedule(temporal.client, `carillon/carillon/calls-${made}`)).toBeNull();
  const { id } = await create({ cron: '0 9 1 1 *' });
  made -= 1;
  await expect(create({ cron: '0 10 1 1 *' })).rejects.toMatchObject({ name: 'ScheduleExistsError', isBadInput: true });
  expect((await describeSchedule(temporal.client, id))?.next[0]).toSatisfy((ms: number) => new Date(ms).getUTCHours() === 9);
});

test.each([
  { cron: '0 9 * * mon-fri', days: 'Mon Tue Wed Thu Fri' },
  { cron: '0 9 * * 1-5', days: 'Mon Tue Wed Thu Fri' },
  { cron: '0 9 * * SAT,SUN', days: 'Sat Sun' },
  { cron: '0 9 * * 0', days: 'Sun' },
  { cron: '0 9 * * 7', days: 'Sun' },
  { cron: '0 9 * * mon,wed-thu', days: 'Mon Wed Thu' },
  { cron: '@weekly', days: 'Sun' },
])('the server reads $cron as it is meant: $days', async ({ cron, days }) => {
  expect(describeCronFault(cron)).toBeNull();
  const state = await create({ cron });
  const shown = new Set(localTimes(state, 'UTC').map((time) => time.slice(0, 3)));
  expect([...shown].sort()).toEqual(days.split(' ').sort());
});

test.each(['*/15 8-18 * * *', '0 9 1,15 * *', '0 9 1 jan-mar *', '0 9-17/2 * 12 mon', '@daily', '@hourly', '5/20 * * * *'])(
  'the server takes %s',
  async (cron) => {
    expect(describeCronFault(cron)).toBeNull();
    expect((await create({ cron })).next.length).toBeGreaterThan(0);
  },
);

test('a step counts on from where it begins', async () => {
  const { next } = await create({ cron: '5/20 9 * * *' });
  expect(new Set(next.map((ms) => new Date(ms).toISOString().slice(11, 16)))).toEqual(new Set(['09:05', '09:25', '09:45']));
});

test.each([
  ['', /write five fields .*here are 0/],
  ['0 9 * *', /write five fields .*here are 4/],
  ['0 0 9 * * mon', /here are 6/],
  ['60 9 * * *', /^minute "60": write values from 0 to 59$/],
  ['0 24 * * *', /^hour "24"/],
  ['0 9 0 * *', /^day of the month "0": write values from 1 to 31/],
  ['0 9 * 13 *', /^month "13": write values from 1 to 12 or jan to dec/],
  ['0 9 * * monday', /^day of the week "monday": write values from 0 to 7 or sun to sat/],
  ['0 9 * * fri-mon', /^day of the week "fri-mon": the range ends before it begins: write fri-7,0-mon/],
  ['*/0 9 * * *', /step is at least 1/],
  ['0 9 * * mon#2', /day of the week "mon#2": write \*, a value, a range such as mon-wed/],
  ['0 9 L * *', /^day of the month "L"/],
  ['0 9, * * *', /^hour "9,"/],
  ['TZ=UTC 0 9 * * *', /leave the zone out/],
  ['@every 1h', /write five fields, or one of @yearly/],
])('cron %j is refused with the field and the fix', (cron, says) => {
  expect(describeCronFault(cron)).toMatch(says);
});

const january = Date.UTC(2027, 0, 1);

test.each([
  // Where clocks change at two, and where they change at midnight.
  { zone: 'America/New_York', cron: '30 2 * * *', touched: ['skipped 2027-03-14T02:30'], better: '30 3 * * *' },
  { zone: 'America/New_York', cron: '30 1 * * sun', touched: ['doubled 2027-11-07T01:30'], better: '30 0 * * sun' },
  { zone: 'America/New_York', cron: '30 1 * * mon-fri', touched: [], better: null },
  { zone: 'Africa/Cairo', cron: '@daily', touched: ['skipped 2027-04-30T00:00'], better: '0 1 * * *' },
  { zone: 'Africa/Cairo', cron: '15 23 * * *', touched: [], better: null },
  { zone: 'Europe/London', cron: '30 1 * * *', touched: ['skipped 2027-03-28T01:30'], better: '30 2 * * *' },
  { zone: 'Asia/Beirut', cron: '0 0 * * *', touched: ['skipped 2027-03-28T00:00'], better: '0 1 * * *' },
  { zone: 'America/Havana', cron: '0 0 * * *', touched: ['doubled 2027-11-07T00:00'], better: '0 1 * * *' },
  { zone: 'America/Santiago', cron: '45 23 * * *', touched: ['doubled 2027-04-03T23:45'], better: '45 22 * * *' },
  { zone: 'America/New_York', cron: '0 * * * *', touched: [], better: null },
  { zone: 'America/Phoenix', cron: '30 2 * * *', touched: [], better: null },
])('what clock changes do to $cron in $zone is what the server does', async ({ zone, cron, touched, better }) => {
  const runs = touchedRuns(cron, zone, january);
  expect(runs.slice(0, touched.length || 1).map(({ effect, local }) => `${effect} ${local}`)).toEqual(touched);
  if (touched.length > 0) expect(untouchedCron(cron, zone, january)).toBe(better);
  for (const { effect, local, at } of runs) {
    const around = { cron, timeZone: zone, startAt: at - 12 * hourMs, endAt: at + 60 * 24 * hourMs };
    const plain = await create(around, january);
    expect(plain.next.map((ms) => wall(ms, zone)).filter((time) => time === local)).toHaveLength(effect === 'skipped' ? 0 : 2);
    expect(plain.next.includes(at)).toBe(effect === 'doubled');
    const kept = await create({ ...around, keepSkipped: true }, january);
    expect(kept).toMatchObject({ keepSkipped: true });
    expect(kept.next).toContain(at);
    expect(kept.next.filter((ms) => ms !== at)).toEqual(plain.next.filter((ms) => ms !== at).slice(0, kept.next.length - 1));
  }
});

test.each(['Africa/Cairo', 'Europe/Berlin'])('where the zone is ahead of UTC a time that comes twice has one run: %s', async (zone) => {
  const [cron, day] = zone === 'Africa/Cairo' ? ['15 23 * * *', '2027-10-28'] : ['15 2 * * *', '2027-10-31'];
  const startAt = Date.parse(`${day}T00:00:00Z`) - 4 * hourMs;
  const { next } = await create({ cron, timeZone: zone, startAt }, january);
  expect(next.map((ms) => wall(ms, zone).slice(0, 10)).filter((date) => date === day)).toHaveLength(1);
  expect(touchedRuns(cron, zone, january).map(({ effect }) => effect)).not.toContain('doubled');
});

function wall(ms: number, timeZone: string): string {
  return new Date(ms).toLocaleString('sv-SE', { timeZone }).replace(' ', 'T').slice(0, 16);
}
