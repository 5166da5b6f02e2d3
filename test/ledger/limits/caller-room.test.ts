import { expect } from 'vitest';
import { setCallback } from '../../../src/ledger/people/callbacks.ts';
import { readIdleReason } from '../../../src/ledger/read/idle-reason.ts';
import { readingOf } from '../../../src/presentation/words/why.ts';
import { CallerSorting, capacityOf, type CallerLimits } from '../../../src/rules/caller-choice.ts';
import { realClock } from '../../../src/service/port/service-clock.ts';
import { buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { beginProven, noon, numbers, type Scenario, waits } from '../scenario.ts';
import type { Store } from '../../../src/ledger/tx.ts';
import { test, openLedger, unjudged } from '../ledger-test.ts';

const names = ['Ada', 'Ben', 'Cleo', 'Dora', 'Emil', 'Fay'];

async function begin(
  store: Store,
  { id = 'spring', from = 0, callers = ['pn_main'], limits = { perHour: 3, perDay: null } as CallerLimits },
): Promise<Scenario> {
  const rows = buildRows(numbers(6, from), (index) => `${names[index] ?? ''} of ${id}`);
  const rules = {
    callers: { numbers: callers, choice: 'rotation' as const, limits },
    pacing: { batchSize: 10, refillThreshold: 1, maxConcurrentCalls: 50 },
    retry: { maxAttempts: 2 },
  };
  return beginProven(store, { campaignId: id, rows, rules });
}

test('a number has room for as many calls as each stretch allows, and for one more when the oldest has left it', () => {
  const limits = { perHour: 2, perDay: 4 };
  const ago = (...minutes: number[]) => minutes.map((each) => noon - each * minuteMs);
  expect(capacityOf(limits, [], noon)).toMatchObject({ room: 2, freeAt: noon });
  expect(capacityOf(limits, ago(10), noon)).toMatchObject({ room: 1, freeAt: noon });
  expect(capacityOf(limits, ago(10, 50), noon)).toMatchObject({ room: 0, freeAt: noon + 10 * minuteMs });
  expect(capacityOf(limits, ago(60, 10), noon)).toMatchObject({ room: 1, freeAt: noon });
  expect(capacityOf(limits, ago(100, 200, 300, 400), noon)).toMatchObject({ room: 0, freeAt: noon + 24 * hourMs - 400 * minuteMs });
  // Over the limit: the excess leaves first.
  expect(capacityOf({ perHour: 1, perDay: null }, ago(10, 50), noon)).toMatchObject({ room: 0, freeAt: noon + 50 * minuteMs });
});

test('with a spread a number makes one call in each such stretch', () => {
  const limits = { perHour: 3, perDay: null, spreadMs: 15 * minuteMs };
  const ago = (...minutes: number[]) => minutes.map((each) => noon - each * minuteMs);
  expect(capacityOf(limits, [], noon)).toMatchObject({ room: 1, freeAt: noon });
  expect(capacityOf(limits, ago(10), noon)).toMatchObject({ room: 0, freeAt: noon + 5 * minuteMs });
  expect(capacityOf(limits, ago(16), noon)).toMatchObject({ room: 1, freeAt: noon });
  expect(capacityOf(limits, ago(16, 32, 48), noon)).toMatchObject({ room: 0, freeAt: noon + 12 * minuteMs });
});

test('whose number is full for longer than it sticks is called from another one', () => {
  const callers = ['pn_a', 'pn_b'].map((phoneNumberId) => ({ phoneNumberId, country: null, regions: null, given: 0 }));
  const full = { room: 0, freeAt: noon + 2 * hourMs, free: 0, looksAt: noon };
  const rooms = new Map([['pn_a', full], ['pn_b', { ...full, room: 1, free: 1 }]]); // prettier-ignore
  const wish = { caller: 'pn_a', country: null, regions: null };
  const waiting = new CallerSorting(callers, 'rotation', { rooms, sticksUntil: noon + 3 * hourMs });
  expect(waiting.waitsUntil(wish)).toBe(noon + 2 * hourMs);
  const changing = new CallerSorting(callers, 'rotation', { rooms, sticksUntil: noon + hourMs });
  expect(changing.waitsUntil(wish)).toBeNull();
  expect(changing.takes(wish)).toBe(true);
  expect(changing.caller).toBe('pn_b');
});

test.from(openLedger)('calls of one number begin apart, over all campaigns, and the judge sees it', async (store) => {
  const limits = { perHour: null, perDay: null, spreadMs: 20 * minuteMs };
  const spring = await begin(store, { limits });
  const autumn = await begin(store, { id: 'autumn', from: 20, limits });
  expect(await spring.dial(1)).toEqual([expect.stringContaining('spring/')]);
  expect(await autumn.plan(1)).toMatchObject(waits('caller_limit'));
  await spring.settle(['spring/1/1'], 'answered', noon + minuteMs);
  await store.db
    .updateTable('attempts')
    .set({ rang_at: noon - 1000 })
    .execute();
  expect(await autumn.plan(1, noon + 19 * minuteMs)).toMatchObject(waits('caller_limit', noon + 20 * minuteMs));
  expect(await autumn.dial(1, noon + 20 * minuteMs)).toHaveLength(1);
});

test('room is kept for each call back that is due before a call of now has left the stretch', () => {
  const limits = { perHour: 3, perDay: null };
  const calls = (...minutes: number[]) => minutes.map((each) => noon - each * minuteMs);
  const dues = (...minutes: number[]) => minutes.map((each) => noon + each * minuteMs);
  expect(capacityOf(limits, [], noon, dues(30))).toMatchObject({ room: 3, free: 2 });
  expect(capacityOf(limits, [], noon, dues(30, 40))).toMatchObject({ room: 3, free: 1 });
  // Due when a call of now is over an hour old.
  expect(capacityOf(limits, [], noon, dues(61))).toMatchObject({ room: 3, free: 3 });
  // Both earlier calls are gone by then.
  expect(capacityOf(limits, calls(50, 40), noon, dues(30))).toMatchObject({ room: 1, free: 1 });
  expect(capacityOf(limits, calls(10, 5), noon, dues(30))).toMatchObject({ room: 1, free: 0, looksAt: noon + 30 * minuteMs });
  expect(capacityOf(limits, calls(50, 5), noon, dues(9))).toMatchObject({ room: 1, free: 0, looksAt: noon + 9 * minuteMs });
  // One that is due takes its place now.
  expect(capacityOf(limits, calls(10), noon, dues(-5))).toMatchObject({ room: 2, free: 1 });
});

test.from(openLedger)('a number calls no more often than it may, over all campaigns', async (store) => {
  const spring = await begin(store, {});
  // Planned when the number had room for three, spring before there was another campaign.
  await spring.plan(1);
  const autumn = await begin(store, { id: 'autumn', from: 20 });
  await autumn.plan(1);
  expect(await spring.post(1)).toMatchObject({ kind: 'post', calls: { length: 3 } });
  await spring.verdict(1, 'confirmed', { callsInitiated: 3 });
  expect(await autumn.post(1)).toMatchObject({ kind: 'verdict', state: 'released' });
  await spring.settle(['spring/1/1', 'spring/2/1', 'spring/3/1'], 'answered', noon + minuteMs);
  const plan = await autumn.plan(2, noon + 2 * minuteMs);
  expect(plan).toMatchObject(waits('caller_limit'));
  expect(await autumn.isReady(noon + 2 * minuteMs)).toBe(false);
  const until = plan.kind === 'wait' ? (plan.until ?? 0) : 0;
  // From the last instant at which a call may ring.
  expect(until).toBeGreaterThanOrEqual(noon + hourMs);
  expect(until).toBeLessThan(noon + 2 * hourMs);
  expect(await autumn.plan(2, until - 1)).toMatchObject(waits('caller_limit'));
  // The third is the share of the other campaign.
  expect(await autumn.dial(2, until)).toHaveLength(2);
});

/** The calls of both campaigns, which plan every ten minutes: when they began, in hours from noon. */
async function callTogether(
  store: Store,
  larger: CallerLimits | undefined,
  hours: number,
): Promise<Record<'larger' | 'smaller', number[]>> {
  const limits = { smaller: { perHour: 4, perDay: null }, larger };
  const calls: Record<'larger' | 'smaller', number[]> = { larger: [], smaller: [] };
  const scenarios = {
    larger: await beginRows(store, 'larger', limits.larger, 200),
    smaller: await beginRows(store, 'smaller', limits.smaller, 5),
  };
  const batches = { larger: 1, smaller: 1 };
  for (let now = noon; now < noon + hours * hourMs; now += 10 * minuteMs) {
    for (const id of ['larger', 'smaller'] as const) {
      if ((await scenarios[id].plan(batches[id], now)).kind !== 'batch') continue;
      const dialled = await scenarios[id].dial(batches[id], now);
      batches[id] += 1;
      calls[id].push(...dialled.map(() => (now - noon) / hourMs));
      await scenarios[id].settle(dialled, 'answered', now + minuteMs);
    }
  }
  return calls;
}

function beginRows(store: Store, id: string, limits: CallerLimits | undefined, count: number): Promise<Scenario> {
  const rows = buildRows(numbers(count, id === 'larger' ? 0 : 300), (index) => `Guest ${index} of ${id}`);
  const callers = { numbers: ['pn_main'], choice: 'rotation' as const, ...(limits !== undefined && { limits }) };
  return beginProven(store, {
    campaignId: id,
    rows,
    rules: { callers, pacing: { batchSize: 20, refillThreshold: 1, maxConcurrentCalls: 50 } },
  });
}

for (const [limit, on] of [
  [{ perHour: 20, perDay: null }, test.both],
  [undefined, test],
] as const)
  on(
    `beside one of ${limit?.perHour ?? 'any'} an hour a campaign has its share of their number, and the rest is free at once`,
    async (dialect) => {
      const { larger, smaller } = await callTogether(await openLedger(dialect), limit, 5);
      expect(smaller).toHaveLength(5);
      // A call counts from when it may ring last, so an hour of the number is a little longer.
      expect(smaller.filter((at, index) => at - (smaller[index - 1] ?? 0) > 1.5)).toEqual([]);
      const last = Math.max(...smaller);
      expect(larger.filter((at) => at < last).length).toBeGreaterThan(2);
      expect(larger.filter((at) => at < last).length).toBeLessThanOrEqual(4 * Math.ceil(last));
      expect(larger.filter((at) => at > last && at < last + 1.5).length).toBeGreaterThanOrEqual(20);
    },
  );

test.both.from(openLedger)('what keeps a campaign from its number is the campaign that uses it, too', async (store) => {
  const larger = await beginRows(store, 'larger', { perHour: 20, perDay: null }, 60);
  await larger.dial(1);
  const smaller = await beginRows(store, 'smaller', { perHour: 4, perDay: null }, 8);
  expect(await smaller.plan(1, noon + minuteMs)).toMatchObject(waits('caller_limit'));
  const campaign = await smaller.campaign();
  const idle = await readIdleReason(store.db, campaign, { now: () => noon + minuteMs, speed: 1 });
  expect(idle).toMatchObject({ reason: 'caller_limit', usedBy: 'larger' });
  const look = { unreachable: null, workers: 1, runs: true, failing: null, service: null };
  const clock = realClock(() => noon + minuteMs);
  const reading = readingOf({ campaign, undecided: 0, idle, movedAt: noon, look }, { clock, now: noon + minuteMs });
  expect(reading?.text).toContain('campaign larger uses this number');
  // Its own calls are the cause where they alone use up the limit.
  const own = await readIdleReason(store.db, await larger.campaign(), { now: () => noon + minuteMs, speed: 1 });
  expect(own).toMatchObject({ reason: 'caller_limit' });
  expect(own?.usedBy).toBeUndefined();
});

test.from(openLedger)('of several numbers the one with room calls, and who was called before waits for their own', async (store) => {
  unjudged();
  const scenario = await begin(store, { callers: ['pn_main', 'pn_second'], limits: { perHour: 2, perDay: null } });
  const callerOf = async (n: number) => (await scenario.batch(n))?.caller;
  const first = await scenario.dial(1);
  const second = await scenario.dial(2);
  expect([first.length, second.length, await callerOf(1), await callerOf(2)]).toEqual([2, 2, 'pn_main', 'pn_second']);
  // Two are left, and both numbers are full.
  expect(await scenario.plan(3)).toMatchObject(waits('caller_limit'));
  await scenario.settle([...first, ...second], 'answered', noon + minuteMs);
  expect(await scenario.plan(3, noon + 2 * minuteMs)).toMatchObject(waits('caller_limit'));
  // A number that may not call does not count.
  await store.db.updateTable('callers').set({ out: 1 }).where('phone_number_id', '=', 'pn_second').execute();
  await store.db.updateTable('attempts').set({ state: 'released' }).where('attempt_id', 'in', second).execute();
  expect(await scenario.isReady(noon + 2 * minuteMs)).toBe(false);
  expect(await scenario.plan(3, noon + 2 * minuteMs)).toMatchObject(waits('caller_limit'));
});

test.from(openLedger)('a number that may make one more call keeps it for the call back that was promised', async (store) => {
  const spring = await begin(store, { limits: { perHour: 2, perDay: null } });
  await spring.plan(1);
  const { campaignId } = spring;
  const [recipientId = ''] = (await spring.recipients()).filter(({ state }) => state === 'waiting').map((row) => row.recipient_id);
  const row = await store.db
    .selectFrom('recipients')
    .select('row_number')
    .where('recipient_id', '=', recipientId)
    .executeTakeFirstOrThrow();
  expect(await spring.post(1)).toMatchObject({ kind: 'post', calls: { length: 2 } });
  await spring.verdict(1, 'confirmed', { callsInitiated: 2 });
  const dueAt = noon + 90 * minuteMs;
  await setCallback(store, { campaignId, row: row.row_number, by: 'somebody', now: noon + minuteMs }, { instant: dueAt });
  await spring.settle(['spring/1/1', 'spring/2/1'], 'answered', noon + minuteMs);
  // An hour later the number has room for two, one of them for the promise.
  const later = noon + 75 * minuteMs;
  expect(await spring.dial(2, later)).toHaveLength(1);
  expect(await spring.plan(3, later + minuteMs)).toMatchObject(waits('caller_limit'));
  expect(await spring.isReady(later + minuteMs)).toBe(false);
  expect(await spring.isReady(dueAt)).toBe(true);
  expect(await spring.dial(3, dueAt)).toEqual([expect.stringContaining(`${recipientId}/`)]);
});

test('a call back for which no number has room is told as missed when its time has passed, and no later', async (dialect) => {
  const store = await openLedger(dialect);
  const spring = await begin(store, { limits: { perHour: 3, perDay: null } });
  const { campaignId } = spring;
  await spring.dial(1);
  await spring.settle(['spring/1/1', 'spring/2/1', 'spring/3/1'], 'answered', noon + minuteMs);
  await setCallback(store, { campaignId, row: 4, by: 'somebody', now: noon + minuteMs }, { instant: noon + 10 * minuteMs });
  const passed = noon + 40 * minuteMs;
  expect(await spring.plan(2, noon + 15 * minuteMs)).toMatchObject(waits('caller_limit', passed));
  await spring.plan(2, passed);
  const [promise] = await store.db.selectFrom('promises').selectAll().execute();
  expect(promise).toMatchObject({ state: 'missed' });
});
