import { sql } from 'kysely';
import { expect } from 'vitest';
import { numbersOfPerson } from '../../../src/ledger/read/callee.ts';
import { planBatch, type Plan } from '../../../src/ledger/plan/planning.ts';
import { holdAccount } from '../../../src/ledger/limits/account-pace.ts';
import { buildRow, buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { accountId, beginProven, guests, noon, numbers, type Scenario, waits } from '../scenario.ts';
import type { ImportRow } from '../../../src/ledger/campaign/row-hash.ts';
import { weekdays } from '../../../src/rules/campaign-rules.ts';
import { test, openLedger, beginOn, unjudged } from '../ledger-test.ts';

/** Noon is 7:00 in New York and 4:00 in Los Angeles, on a Tuesday. */
const from8to9 = { mon: [{ from: 480, to: 540 }], tue: [{ from: 480, to: 540 }], wed: [{ from: 480, to: 540 }] };
const [first = '', second = ''] = numbers(2);

function rowsIn(...zones: string[][]): ImportRow[] {
  return buildRows(numbers(zones.length), (index) => `Guest ${index}`).map((row, index) => ({
    ...row,
    zones: zones[index] ?? [],
  }));
}

test.from(beginOn, { rows: 3 })('somebody who must not be called gets the outcome and the others are planned', async (scenario) => {
  await scenario.suppress(first);
  await scenario.suppress(second, { scope: 'spring' });
  expect(await scenario.plan(1)).toMatchObject({ kind: 'batch', size: 1 });
  expect(await scenario.standings()).toEqual([
    ['done', 'suppressed', 'suppressed'],
    ['done', 'suppressed', 'suppressed'],
    ['open', null, null],
  ]);
});

test('each waits for its own hours, and who has no time zone is not called', async (dialect) => {
  const zones = [
    ['America/New_York'],
    ['America/Los_Angeles'],
    ['America/New_York', 'America/Chicago'],
    [],
    ['Nowhere/Land'],
    ['Europe/London', 'Asia/Tokyo'],
  ];
  const scenario = await beginOn(dialect, { rows: rowsIn(...zones), rules: { calendar: { hours: from8to9, closedOn: [] } } });
  // Nobody's hour has come; two hours that never meet count as none.
  const plan = await scenario.plan(1);
  const standing = await scenario.standings();
  const never = ['done', 'undialable', 'no_open_window_before_end'];
  const unknown = ['done', 'undialable', 'unknown_timezone'];
  expect(standing).toEqual([['waiting', hourMs], ['waiting', 4 * hourMs], never, unknown, unknown, never]);
  expect(plan).toMatchObject(waits('due', noon + hourMs));
  expect(await scenario.attempts()).toEqual([]);
  // The window must outlast the POST by the dispatch margin.
  expect(await scenario.plan(1, noon + hourMs + 50 * minuteMs)).toMatchObject({ kind: 'wait' });
  expect((await scenario.standings())[0]).toEqual(['waiting', 25 * hourMs]);
});

test('the law of the state holds when a batch is planned and again when it is dialled', async (dialect) => {
  const week = (from: number, to: number) => Object.fromEntries(weekdays.map((day) => [day, [{ from: from * 60, to: to * 60 }]]));
  const rule = { country: 'US', closedOn: [], from: null, until: null, caps: [], source: 'test' };
  const law = [
    { ...rule, id: 'us', region: null, hours: week(6, 21) },
    { ...rule, id: 'us-ky', region: 'KY', hours: week(10, 21) },
    { ...rule, id: 'us-ri', region: 'RI', hours: week(6, 7.5) },
  ];
  const regions = [['NY'], ['KY'], null, ['RI']];
  const rows = guests(4);
  const scenario = await beginOn(dialect, {
    rows: rows.map((row, index) => ({ ...row, regions: regions[index] ?? null })),
    rules: { law },
  });
  // It is 7:00. With an unknown state, Kentucky and Rhode Island never share an hour.
  expect(await scenario.plan(1)).toMatchObject({ kind: 'batch', size: 2 });
  expect(await scenario.standings()).toEqual([
    ['open', null, null],
    ['waiting', 3 * hourMs],
    ['done', 'undialable', 'no_open_window_before_end'],
    ['open', null, null],
  ]);
  const late = noon + 25 * minuteMs;
  expect(await scenario.post(1, late)).toMatchObject({ kind: 'post', calls: [{ e164: first }] });
  expect((await scenario.standings())[3]).toEqual(['waiting', 23 * hourMs]);
});

test.from(openLedger)('caps hold over all campaigns, by number and by person, when planned and when dialled', async (store) => {
  unjudged();
  const rowsOf = (...people: [e164: string, person: string][]) =>
    buildRows(
      people.map(([e164]) => e164),
      (index) => `${people[index]?.[0]} ${people[index]?.[1]}`,
    ).map((row, index) => ({ ...row, externalId: people[index]?.[1] ?? null }));
  const caps = [
    { by: 'number' as const, calls: 1, withinMs: 24 * hourMs },
    { by: 'person' as const, calls: 1, withinMs: 48 * hourMs },
  ];
  const [third = ''] = numbers(3).slice(2);
  const spring = await beginProven(store, { rows: rowsOf([first, 'ana'], [second, 'ben']) });
  await spring.dial(1);
  // Another campaign: Ana by her number, Ben by another, and somebody who was never called.
  const rows = rowsOf([first, 'other'], [third, 'ben'], ['+12125550177', 'cem']);
  const autumn = await beginProven(store, { rows, rules: { caps }, campaignId: 'autumn' });
  await spring.settle(['spring/1/1', 'spring/2/1'], 'busy', noon + minuteMs);
  // Each rang when posted, to the second of its record.
  await store.db
    .updateTable('attempts')
    .set({ rang_at: noon - 1000 })
    .execute();
  expect(await autumn.plan(1, noon + hourMs)).toMatchObject({ kind: 'batch', size: 1 });
  expect(await autumn.standings()).toEqual([
    ['waiting', 24 * hourMs],
    ['waiting', 48 * hourMs],
    ['open', null, null],
  ]);
  // What was given back or never sent is no call; what another campaign placed is one.
  await store.db.updateTable('attempts').set({ person: 'cem' }).where('attempt_id', '=', 'spring/1/1').execute();
  expect(await autumn.post(1, noon + hourMs)).toEqual({ kind: 'verdict', state: 'released' });
  expect((await autumn.standings())[2]).toEqual(['waiting', 48 * hourMs]);
});

test('a person is known by the key of the list before the id of the row, and the judge knows them so', async (dialect) => {
  unjudged();
  const store = await openLedger(dialect);
  const rowsOf = (...people: [e164: string, id: string, personKey: string | null][]) =>
    people.map(([e164, externalId, personKey], index) => {
      return { ...buildRow(index + 1, e164, [e164, `${externalId} ${index}`]), externalId, ...(personKey === null ? {} : { personKey }) };
    });
  const [third = ''] = numbers(3).slice(2);
  const spring = await beginProven(store, { rows: rowsOf([first, 'row-1', 'ana'], [second, 'ben', null]) });
  await spring.dial(1);
  await spring.settle(['spring/1/1', 'spring/2/1'], 'busy', noon + minuteMs);
  const caps = [{ by: 'person' as const, calls: 1, withinMs: 48 * hourMs }];
  // Ana by another number and id, Ben by another number, and one with Ana's former id.
  const rows = rowsOf([third, 'row-7', 'ana'], ['+12125550177', 'row-8', 'ben'], ['+12125550178', 'row-1', null]);
  const autumn = await beginProven(store, { rows, rules: { caps }, campaignId: 'autumn' });
  expect(await autumn.plan(1, noon + hourMs)).toMatchObject({ kind: 'batch', size: 1 });
  expect((await autumn.standings()).map(([state]) => state)).toEqual(['waiting', 'waiting', 'open']);
  expect(await autumn.post(1, noon + hourMs)).toMatchObject({ kind: 'post' });
  expect(await autumn.broken()).toEqual([]);
  expect(await numbersOfPerson(store.db, 'ana')).toEqual([first, third].sort());
  // A call that goes to somebody else by its key is a forged one.
  const guard = dialect === 'sqlite' ? 'events_no_update' : 'events_append_only on events';
  await sql.raw(`drop trigger ${guard}`).execute(store.db);
  await sql`update events set data = replace(data, '"ana"', '"eve"') where type = 'attempt.posted'`.execute(store.db);
  expect(await autumn.broken()).toContain('row_forged');
});

test('at the end everybody who still waits expires, due or not', async (dialect) => {
  const endsAt = noon + hourMs;
  const pacing = { batchSize: 1, refillThreshold: 1 };
  const scenario = await beginOn(dialect, { rows: 3, rules: { endsAt, pacing } });
  const called = await scenario.dial(1, noon + 49 * minuteMs);
  await scenario.settle(called, 'busy', endsAt - minuteMs);
  // Within the dispatch margin nobody is dialled, and who is due then has no later chance.
  expect(await scenario.plan(2, endsAt - minuteMs)).toMatchObject(waits('due', endsAt));
  expect(await scenario.standings()).toEqual([
    ['waiting', 64 * minuteMs],
    ['done', 'expired', 'campaign_end'],
    ['done', 'expired', 'campaign_end'],
  ]);
  expect(await scenario.plan(2, endsAt)).toEqual({ kind: 'done' });
  expect((await scenario.standings())[0]).toEqual(['done', 'expired', 'campaign_end']);
});

test.from(openLedger)('a cancelled campaign closes all who wait, more than one look holds, and collects the rest', async (store) => {
  const rows = buildRows(
    Array.from({ length: 1_500 }, (_, index) => `+1212555${String(index).padStart(4, '0')}`),
    (index) => `Guest ${index}`,
  );
  const scenario = await beginProven(store, { rows });
  const open = await scenario.dial(1);
  expect(await scenario.end('cancelled')).toBe(true);
  expect(await scenario.pause(noon, 'too late')).toBe(false);
  expect(await scenario.resume()).toBe(false);
  expect(await scenario.plan(2)).toMatchObject({ kind: 'wait', reason: 'collecting', outstanding: { open: 20 } });
  const outcomes = await scenario.outcomes();
  expect(outcomes.filter((outcome) => outcome === 'cancelled')).toHaveLength(1_480);
  // Open calls are settled; their retries fall away.
  await scenario.settle(open.slice(0, 1), 'busy');
  await scenario.settle(open.slice(1), 'answered');
  expect(await scenario.plan(2)).toEqual({ kind: 'done' });
  expect(await scenario.row()).toMatchObject({ outcome: 'cancelled', counted: 1 });
});

test('no more calls start in a minute than the file allows', async (dialect) => {
  const pacing = { maxConcurrentCalls: 50, startsPerMinute: 3, batchSize: 2, refillThreshold: 1 };
  const scenario = await beginOn(dialect, { rules: { pacing } });
  await scenario.dial(1);
  expect(await scenario.dial(2, noon + 10_000)).toHaveLength(1);
  const limited = { kind: 'wait', reason: 'pacing', until: noon + minuteMs };
  expect(await scenario.plan(3, noon + 20_000)).toMatchObject(limited);
  expect(await scenario.plan(3, noon + minuteMs - 1)).toMatchObject(limited);
  expect(await scenario.plan(3, noon + minuteMs)).toMatchObject({ kind: 'batch', size: 2 });
});

test.from(beginOn, { rows: rowsIn(['America/New_York'], ['UTC']) })('who has nothing to be told is not called', async (scenario) => {
  const render = (cells: readonly string[]) => (cells[1] === 'Guest 0' ? null : { firstMessage: 'Hello', variables: null });
  const input = { campaignId: 'spring', round: 1, n: 1, now: noon, render };
  expect(await planBatch(scenario.store, input)).toMatchObject({ kind: 'batch', size: 1 });
  expect((await scenario.standings())[0]).toEqual(['done', 'undialable', 'missing_value']);
});

async function callAll(scenario: Scenario, now = noon): Promise<void> {
  for (const n of [1, 2]) await scenario.settle(await scenario.dial(n, now), 'busy', now);
}

interface Situation {
  what: string;
  /** Leads there. */
  arrange?: (scenario: Scenario) => Promise<unknown>;
  n: number;
  laterMs?: number;
  answer: Partial<Plan>;
  endsAt?: number;
  unproven?: boolean;
}

const situations: Situation[] = [
  { what: 'fresh', n: 1, answer: { kind: 'batch' } },
  { what: 'paused', arrange: (scenario) => scenario.pause(), n: 1, answer: waits('paused') },
  { what: 'no free slot', arrange: (scenario) => scenario.dial(1), n: 2, answer: waits('capacity') },
  {
    what: 'a free slot',
    arrange: async (scenario) => scenario.settle((await scenario.dial(1)).slice(1), 'answered'),
    n: 2,
    answer: { kind: 'batch' },
  },
  {
    what: 'account held',
    arrange: ({ store }) => store.transaction((tx) => holdAccount(tx, accountId, noon + minuteMs)),
    n: 1,
    answer: waits('blocked'),
  },
  { what: 'a batch unknown', arrange: (scenario) => scenario.lose(1), n: 2, laterMs: hourMs, answer: waits('blocked') },
  { what: 'a retry not due', arrange: callAll, n: 3, laterMs: minuteMs, answer: waits('due') },
  { what: 'a retry due', arrange: callAll, n: 3, laterMs: 5 * minuteMs, answer: { kind: 'batch' } },
  {
    what: 'ended with a retry waiting',
    endsAt: noon + hourMs,
    arrange: (scenario) => callAll(scenario, noon + 49 * minuteMs),
    n: 3,
    laterMs: hourMs,
    answer: { kind: 'done' },
  },
  {
    what: 'nobody waits',
    arrange: async (scenario) => {
      await scenario.settle(await scenario.dial(1), 'answered');
      await scenario.dial(2);
    },
    n: 3,
    answer: waits('collecting'),
  },
  {
    what: 'first calls of an unproven caller',
    unproven: true,
    arrange: async (scenario) => scenario.settle((await scenario.dial(1)).slice(1), 'busy'),
    n: 2,
    answer: waits('canary'),
  },
];

test.for(situations)('the collector ends for the planner when it has something to do: $what', async (dialect, situation) => {
  const pacing = { maxConcurrentCalls: 3, batchSize: 3, refillThreshold: 1 };
  const scenario = await beginOn(dialect, { rules: { pacing, endsAt: situation.endsAt ?? null } });
  const { store } = scenario;
  if (situation.unproven === true) await store.db.updateTable('campaigns').set({ caller_proven: 0, record_shown: 0 }).execute();
  await situation.arrange?.(scenario);
  const now = noon + (situation.laterMs ?? 0);
  const ready = await scenario.isReady(now);
  const plan = await scenario.plan(situation.n, now);
  expect(plan).toMatchObject(situation.answer);
  expect(ready).toBe(plan.kind !== 'wait');
  // Asked again, it finds nothing new: the two would chase each other.
  expect(await scenario.isReady(now)).toBe(false);
});

test('while a batch is on its way the collector does not end for the planner', async (dialect) => {
  const pacing = { batchSize: 2, refillThreshold: 1 };
  const scenario = await beginOn(dialect, { rules: { pacing } });
  const ready = () => scenario.isReady();
  await scenario.plan(1);
  expect(await ready()).toBe(false);
  await scenario.post(1);
  expect(await ready()).toBe(false);
  await scenario.verdict(1, 'not_sent');
  expect(await ready()).toBe(false);
  await scenario.post(1);
  await scenario.verdict(1, 'confirmed', { k: 2 });
  expect(await ready()).toBe(true);
});

test('halves of a refused batch, which a sweep has written, end the collect for the planner, although no line is free', async (dialect) => {
  const pacing = { maxConcurrentCalls: 2, batchSize: 2, refillThreshold: 1 };
  const scenario = await beginOn(dialect, { rules: { pacing } });
  const ready = (at: number) => scenario.isReady(at);
  await scenario.submit(1);
  await scenario.verdict(1, 'refused', { status: 422 });
  expect(await scenario.plan(2)).toMatchObject({ kind: 'wait' });
  const later = noon + 2 * minuteMs;
  await scenario.sweep(later);
  expect(await ready(later)).toBe(true);
  expect(await scenario.plan(2, later)).toMatchObject({ kind: 'batch', size: 1 });
  await scenario.post(2, later);
  expect(await ready(later)).toBe(false);
  await scenario.verdict(2, 'confirmed', { now: later });
  expect(await ready(later)).toBe(true);
  expect(await scenario.plan(3, later)).toMatchObject({ kind: 'batch', size: 1 });
});
