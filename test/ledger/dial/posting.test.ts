import { expect } from 'vitest';
import { compareAndSetBatch } from '../../../src/ledger/batch-state.ts';
import { openPosting } from '../../../src/ledger/dial/posting.ts';
import { holdAccount, untilTurn, writeAccount } from '../../../src/ledger/limits/account-pace.ts';
import type { ConversationFacts } from '../../../src/rules/conversation-facts.ts';
import { hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { beginOn, openLedger, test } from '../ledger-test.ts';
import { accountId, answered, beginProven, guests, noon, numbers, type Scenario, twice, waits } from '../scenario.ts';
import { openAt } from '../test-stores.ts';
import { newDatabase } from '../clean-store.ts';

const [firstNumber = '', secondNumber = ''] = numbers(2);
const released = { kind: 'verdict', state: 'released' };

async function ends(scenario: Scenario) {
  const attempts = (await scenario.attempts()).map(({ state, reason }) => [state, reason]);
  return { attempts, recipients: await scenario.standings() };
}

test('a batch that comes too close to the end of the campaign is not sent', async (dialect) => {
  const scenario = await beginOn(dialect, { rows: 2, rules: { endsAt: noon + hourMs } });
  await scenario.plan(1, noon + 49 * minuteMs);
  expect(await scenario.post(1, noon + 50 * minuteMs)).toEqual(released);
  expect(await ends(scenario)).toEqual({
    attempts: twice(['released', 'campaign_end']),
    recipients: twice(['done', 'expired', 'campaign_end']),
  });
  expect(await scenario.batch(1)).toMatchObject({ reason: 'nobody_eligible', posts: 0 });
});

test('a batch whose hour is nearly over waits for the next day', async (dialect) => {
  // Noon is 7:00 in New York, on a Tuesday.
  const hours = { mon: [{ from: 420, to: 480 }], tue: [{ from: 420, to: 480 }], wed: [{ from: 420, to: 480 }] };
  const scenario = await beginOn(dialect, { rows: 2, rules: { calendar: { hours, closedOn: [] } } });
  await scenario.plan(1);
  expect(await scenario.post(1, noon + 51 * minuteMs)).toEqual(released);
  expect(await ends(scenario)).toEqual({
    attempts: twice(['released', 'outside_hours']),
    recipients: twice(['waiting', 24 * hourMs]),
  });
  expect(await scenario.recipients()).toMatchObject(twice({ called: 0, rank: 50 }));
});

test.from(beginOn, { rows: 2 })('somebody reached by a record that came late is not called again by a planned batch', async (scenario) => {
  await scenario.dial(1);
  let now = noon;
  for (; now <= noon + 22 * minuteMs; now += 2 * minuteMs) await scenario.sweep(now);
  const retryAt = await scenario.lookAgain(now);
  expect(await scenario.plan(2, retryAt)).toMatchObject({ kind: 'batch', size: 2 });
  await scenario.sweep(retryAt, [answered('late', firstNumber, noon + 5_000)], false);
  // The record came so late that the other one may still come.
  expect(await scenario.post(2, retryAt)).toEqual(released);
  expect((await ends(scenario)).attempts).toEqual([
    ['settled', null],
    ['settled', null],
    ['released', 'already_reached'],
    ['released', 'evidence'],
  ]);
  expect(await scenario.row()).toMatchObject({ state: 'done', outcome: 'completed', counted: 1 });
  expect(await scenario.dial(3, await scenario.lookAgain(retryAt + 3 * hourMs))).toEqual(['spring/2/3']);
});

test.from(beginOn, { rows: 2 })('whoever enters a batch second never sends it, and its fate becomes unknown', async (scenario) => {
  expect(await scenario.submit(1)).toMatchObject({ kind: 'post', k: 1 });
  for (const later of [1, hourMs]) expect(await scenario.post(1, noon + later)).toEqual({ kind: 'verdict', state: 'unknown' });
  expect(await scenario.batch(1)).toMatchObject({ state: 'unknown', posts: 1, unknown_since: noon + 1 });
  expect(await scenario.attempts()).toMatchObject(twice({ state: 'open', posted_at: noon }));
});

test.both('of many that enter a batch at once, exactly one may send', async (dialect) => {
  const location = await newDatabase(dialect);
  const store = await openAt(location);
  // Two stores on one SQLite file in one thread would block each other; its own queue makes them take turns.
  const other = dialect === 'postgres' ? await openAt(location) : store;
  const scenario = await beginProven(store, { rows: 2 });
  await scenario.plan(1);
  const steps = await Promise.all([store, other, store, other, store, other].map((from) => scenario.post(1, noon, from)));
  expect(steps.filter((step) => step.kind === 'post')).toHaveLength(1);
  expect(steps.filter((step) => step.kind === 'verdict')).toHaveLength(5);
  expect(await scenario.posts()).toHaveLength(1);
});

const states = [
  'intent', 'posting', 'confirmed', 'refused', 'not_sent', 'unknown', 'held', 'released', 'redial', 'given_up',
] as const; // prettier-ignore
const legal = new Set([
  'intent>posting', 'intent>released', 'posting>confirmed', 'posting>refused', 'posting>not_sent', 'posting>unknown',
  'not_sent>posting', 'not_sent>released', 'unknown>confirmed', 'unknown>not_sent', 'unknown>refused', 'unknown>held',
  'held>confirmed', 'held>redial', 'held>given_up', 'not_sent>unknown', 'refused>unknown', 'redial>confirmed', 'given_up>confirmed',
]); // prettier-ignore

test.from(beginOn, { rows: 2 })('a batch changes its state where that is legal and it is what the caller thinks', async (scenario) => {
  await scenario.plan(1);
  const batchId = scenario.batchId(1);
  await scenario.store.transaction(async (tx) => {
    const put = (state: (typeof states)[number]) => tx.updateTable('batches').set({ state }).where('batch_id', '=', batchId).execute();
    for (const [index, actual] of states.entries()) {
      for (const from of [actual, states[(index + 1) % states.length] ?? actual]) {
        for (const to of states) {
          await put(actual);
          const moved = await compareAndSetBatch(tx, batchId, { from: [from], to });
          const { state } = await tx.selectFrom('batches').select('state').where('batch_id', '=', batchId).executeTakeFirstOrThrow();
          const expected = actual === from && legal.has(`${from}>${to}`);
          expect({ actual, from, to, moved, state }).toMatchObject({ moved: expected, state: expected ? to : actual });
        }
      }
    }
    await put('intent');
  });
});

test.from(beginOn, { rows: 2 })('Retry-After holds every campaign of the account, and no other', async (spring) => {
  const { store } = spring;
  const autumn = await beginProven(store, { campaignId: 'autumn', rows: guests(2, 10) });
  const winter = await beginProven(store, { campaignId: 'winter', rows: guests(2, 20) });
  const elsewhere = { account_id: 'http://elsewhere' };
  await store.db.updateTable('campaigns').set(elsewhere).where('campaign_id', '=', 'winter').execute();
  await autumn.plan(1);
  await spring.submit(1);
  const until = noon + 5 * minuteMs;
  await spring.verdict(1, 'not_sent', { status: 429, notBefore: until });
  // A shorter pause that somebody else is told of ends nothing early.
  await store.transaction((tx) => holdAccount(tx, accountId, noon + minuteMs));

  for (const now of [noon + 1, until - 1])
    for (const held of [spring, autumn]) expect(await held.post(1, now)).toEqual({ kind: 'blocked', until });
  expect(await autumn.batch(1)).toMatchObject({ state: 'intent', posts: 0 });
  expect(await winter.dial(1, noon + 1)).toHaveLength(2);
  expect(await spring.post(1, until)).toMatchObject({ kind: 'post', k: 2 });
  expect(await autumn.post(1, until)).toMatchObject({ kind: 'post', k: 1 });
});

test.from(beginOn, { rows: 2 })('a batch that cannot be sent for a quarter of an hour is given back', async (scenario) => {
  await scenario.plan(1);
  for (const [index, later] of [0, 5, 10, 15].entries()) {
    const now = noon + later * minuteMs;
    expect(await scenario.post(1, now)).toMatchObject({ kind: 'post', k: index + 1 });
    expect(await scenario.verdict(1, 'not_sent', { k: index + 1, now })).toBe('not_sent');
  }
  const given = noon + 15 * minuteMs + 1;
  expect(await scenario.post(1, given)).toEqual(released);
  expect(await scenario.batch(1)).toMatchObject({ state: 'released', reason: 'not_sent_in_time', posts: 4 });
  expect(await ends(scenario)).toEqual({
    attempts: twice(['released', 'not_sent_in_time']),
    recipients: twice(['waiting', given - noon]),
  });
  // The next batch is not tried in the same second; its attempts are new and never counted.
  expect(await scenario.plan(2, given)).toMatchObject(waits('blocked', given + minuteMs));
  expect(await scenario.dial(2, given + minuteMs)).toEqual(['spring/1/2', 'spring/2/2']);
  expect(await scenario.recipients()).toMatchObject(twice({ counted: 0 }));
});

test.from(beginOn, { rows: 2 })('a Retry-After that outlasts the quarter of an hour gives the batch back at once', async (scenario) => {
  await scenario.submit(1);
  await scenario.verdict(1, 'not_sent', { status: 429, notBefore: noon + 15 * minuteMs + 1 });
  expect(await scenario.post(1, noon + 1)).toEqual(released);
  expect((await ends(scenario)).attempts).toEqual(twice(['released', 'not_sent_in_time']));
});

test.for<{ what: string; facts: Partial<ConversationFacts>; seen: boolean }>([
  { what: 'a number', facts: { calleeNumber: secondNumber }, seen: true },
  { what: 'an opening line', facts: { openingLine: 'Hello Guest 1' }, seen: true },
  { what: 'a number called before', facts: { calleeNumber: secondNumber, startedAt: noon - hourMs }, seen: false },
  { what: 'a number that called us', facts: { calleeNumber: secondNumber, direction: 'inbound' }, seen: false },
  { what: 'a stranger', facts: { calleeNumber: '+12125550100' }, seen: false },
])('before a second POST, evidence of a call is looked for: $what', async (dialect, { facts, seen }) => {
  const scenario = await beginOn(dialect, { rows: 2 });
  await scenario.submit(1);
  await scenario.verdict(1, 'not_sent', { status: 429, serviceDate: noon });
  await scenario.store.db.updateTable('posts').set({ service_from: noon }).execute();
  await scenario.sweep(noon + 30_000, [{ conversationId: 'c1', startedAt: noon + 5_000, ...facts }]);
  // What fits nobody else shows that the batch was placed.
  const step = seen ? { kind: 'verdict', state: 'confirmed' } : { kind: 'post', k: 2 };
  expect(await scenario.post(1, noon + minuteMs)).toMatchObject(step);
  expect(await scenario.posts()).toHaveLength(seen ? 1 : 2);
  if (seen) expect(await scenario.attempts()).toMatchObject(twice({ state: 'open', posted_at: noon }));
});

test.from(beginOn)('requests of an account begin apart, whichever campaign and process makes them', async (spring) => {
  const autumn = await beginProven(spring.store, { campaignId: 'autumn', rows: guests(6, 10) });
  await spring.plan(1);
  await autumn.plan(1);
  let databaseNow = noon;
  const post = (scenario: Scenario) => {
    const limits = { postingWindowMs: 10_000, httpTimeoutMs: 60_000, speed: 1, gapMs: 200 };
    const input = { batchId: scenario.batchId(1), now: noon, nowReal: noon, ...limits };
    return openPosting({ ...scenario.store, now: async () => databaseNow }, input);
  };
  expect(await post(spring)).toMatchObject({ kind: 'post', k: 1 });
  databaseNow += 50;
  expect(await post(autumn)).toEqual({ kind: 'early', inMs: 150 });
  // Who waits for a turn has not tried yet: tries end after a quarter of an hour.
  expect(await autumn.batch(1)).toMatchObject({ state: 'intent', posts: 0, first_submit_at: null });
  databaseNow += 150;
  expect(await post(autumn)).toMatchObject({ kind: 'post', k: 1 });
});

test.from(openLedger)('a clock that is set back by an hour does not stop the dialling for an hour', async (store) => {
  await store.transaction((tx) => writeAccount(tx, accountId, { requested_database: noon }));
  const inMs = (databaseNow: number) => store.transaction((tx) => untilTurn(tx, accountId, { gapMs: 200, databaseNow }));
  expect(await inMs(noon + 1)).toBe(199);
  expect(await inMs(noon - hourMs)).toBe(0);
});
