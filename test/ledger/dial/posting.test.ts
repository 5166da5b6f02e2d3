import { expect, test } from 'vitest';
import { compareAndSetBatch } from '../../../src/ledger/batch-state.ts';
import { openPosting } from '../../../src/ledger/dial/posting.ts';
import { holdAccount, untilTurn, writeAccount } from '../../../src/ledger/limits/account-pace.ts';
import { endCampaign, pauseCampaign, resumeCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { addSuppression } from '../../../src/ledger/rows/suppressions.ts';
import { buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { answered, beginProven, noon, numbers, Scenario } from '../scenario.ts';
import { bothDialects, dialects, emptyDatabase, openAt } from '../test-stores.ts';

/** Noon is 7:00 in the callees' New York, on a Tuesday. */
const oneHourADay = { mon: [{ from: 420, to: 480 }], tue: [{ from: 420, to: 480 }], wed: [{ from: 420, to: 480 }] };
const twice = <Value>(value: Value): Value[] => [value, value];
const two = buildRows(numbers(2), (index) => `Guest ${index}`);
const [firstNumber = '', secondNumber = ''] = numbers(2);

async function ends(scenario: Scenario) {
  const attempts = await scenario.attempts();
  const recipients = await scenario.recipients();
  return {
    attempts: attempts.map(({ state, reason }) => [state, reason]),
    recipients: recipients.map(({ state, outcome, reason, due_at }) =>
      state === 'waiting' ? [state, due_at - noon] : [state, outcome, reason],
    ),
  };
}

test.for(dialects)('somebody who asked not to be called after the batch was planned is left out of it: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rows: two });
  await scenario.plan(1);
  const entry = { e164: firstNumber, scope: 'spring', source: 'person', reason: null, expiresAt: null };
  await store.transaction((tx) => addSuppression(tx, entry, noon));
  const step = await scenario.post(1);
  expect(step.kind === 'post' && step.calls.map((call) => call.e164)).toEqual([secondNumber]);
  expect(await ends(scenario)).toEqual({
    attempts: [
      ['released', 'suppressed'],
      ['posting', null],
    ],
    recipients: [
      ['done', 'suppressed', 'suppressed'],
      ['open', null, null],
    ],
  });
  expect(await scenario.batch(1)).toMatchObject({ state: 'posting', size: 1, posts: 1 });
});

test.for(dialects)('a batch that comes too close to the end of the campaign is not sent: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rows: two, rules: { endsAt: noon + hourMs } });
  await scenario.plan(1, noon + 49 * minuteMs);
  expect(await scenario.post(1, noon + 50 * minuteMs)).toEqual({ kind: 'verdict', state: 'released' });
  expect(await ends(scenario)).toEqual({
    attempts: twice(['released', 'campaign_end']),
    recipients: twice(['done', 'expired', 'campaign_end']),
  });
  expect(await scenario.batch(1)).toMatchObject({ reason: 'nobody_eligible', posts: 0 });
});

test.for(dialects)('a batch whose hour is nearly over waits for the next day: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rows: two, rules: { calendar: { hours: oneHourADay, closedOn: [] } } });
  await scenario.plan(1);
  expect(await scenario.post(1, noon + 51 * minuteMs)).toEqual({ kind: 'verdict', state: 'released' });
  expect(await ends(scenario)).toEqual({
    attempts: twice(['released', 'outside_hours']),
    recipients: twice(['waiting', 24 * hourMs]),
  });
});

test.for(dialects)('a batch of a paused or cancelled campaign is given back unsent: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rows: two });
  await scenario.plan(1);
  await pauseCampaign(store, { campaignId: 'spring', now: noon }, { reason: 'a look' });
  expect(await scenario.post(1)).toEqual({ kind: 'verdict', state: 'released' });
  expect(await ends(scenario)).toEqual({
    attempts: twice(['released', 'campaign_paused']),
    recipients: twice(['waiting', 0]),
  });
  await resumeCampaign(store, { campaignId: 'spring', now: noon });
  await scenario.plan(2);
  await endCampaign(store, { campaignId: 'spring', now: noon }, { why: 'cancelled' });
  expect(await scenario.post(2)).toEqual({ kind: 'verdict', state: 'released' });
  const { attempts } = await ends(scenario);
  expect(attempts.slice(2)).toEqual(twice(['released', 'campaign_draining']));
  expect(await store.db.selectFrom('posts').selectAll().execute()).toEqual([]);
});

test.for(dialects)('somebody reached by a record that came late is not called again by a planned batch: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rows: two });
  await scenario.dial(1);
  let now = noon;
  for (; now <= noon + 22 * minuteMs; now += 2 * minuteMs) await scenario.sweep(now);
  const retryAt = await scenario.lookAgain(now);
  expect(await scenario.plan(2, retryAt)).toMatchObject({ kind: 'batch', size: 2 });
  await scenario.sweep(retryAt, [answered('late', firstNumber, noon + 5_000)], false);
  // The record came so late that one of the other may come as late.
  expect(await scenario.post(2, retryAt)).toEqual({ kind: 'verdict', state: 'released' });
  expect((await ends(scenario)).attempts).toEqual([
    ['settled', null],
    ['settled', null],
    ['released', 'already_reached'],
    ['released', 'evidence'],
  ]);
  expect((await scenario.recipients())[0]).toMatchObject({ state: 'done', outcome: 'completed' });
  expect(await scenario.dial(3, await scenario.lookAgain(retryAt + 3 * hourMs))).toEqual(['spring/2/3']);
});

test.for(dialects)('whoever enters a batch second never sends it, and its fate becomes unknown: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rows: two });
  await scenario.plan(1);
  expect(await scenario.post(1)).toMatchObject({ kind: 'post', k: 1 });
  for (const later of [1, hourMs]) expect(await scenario.post(1, noon + later)).toEqual({ kind: 'verdict', state: 'unknown' });
  expect(await scenario.batch(1)).toMatchObject({ state: 'unknown', posts: 1, unknown_since: noon + 1 });
  expect((await scenario.attempts()).map(({ state, posted_at }) => [state, posted_at])).toEqual(twice(['open', noon]));
});

test.for(bothDialects)('of many that enter a batch at once, exactly one may send: %s', async (dialect) => {
  const location = await emptyDatabase(dialect);
  const store = await openAt(location);
  // Two stores on one SQLite file in one thread would wait for each other: there its own queue makes them take turns.
  const other = dialect === 'postgres' ? await openAt(location) : store;
  const scenario = await beginProven(store, { rows: two });
  await scenario.plan(1);
  const steps = await Promise.all([store, other, store, other, store, other].map((from) => scenario.post(1, noon, from)));
  expect(steps.filter((step) => step.kind === 'post')).toHaveLength(1);
  expect(steps.filter((step) => step.kind === 'verdict')).toHaveLength(5);
  expect(await store.db.selectFrom('posts').selectAll().execute()).toHaveLength(1);
});

const states = [
  'intent', 'posting', 'confirmed', 'refused', 'not_sent', 'unknown', 'held', 'released', 'redial', 'given_up',
] as const; // prettier-ignore
const legal = new Set([
  'intent>posting', 'intent>released', 'posting>confirmed', 'posting>refused', 'posting>not_sent', 'posting>unknown',
  'not_sent>posting', 'not_sent>released', 'unknown>confirmed', 'unknown>not_sent', 'unknown>refused', 'unknown>held',
  'held>confirmed', 'held>redial', 'held>given_up', 'not_sent>unknown', 'refused>unknown', 'redial>confirmed', 'given_up>confirmed',
]); // prettier-ignore

test.for(dialects)('a batch changes its state where that is legal and it is what the caller thinks: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rows: two });
  await scenario.plan(1);
  const batchId = scenario.batchId(1);
  await store.transaction(async (tx) => {
    for (const [index, actual] of states.entries()) {
      // What it is, and what it is not.
      for (const from of [actual, states[(index + 1) % states.length] ?? actual]) {
        for (const to of states) {
          await tx.updateTable('batches').set({ state: actual }).where('batch_id', '=', batchId).execute();
          const moved = await compareAndSetBatch(tx, batchId, { from: [from], to });
          const { state } = await tx.selectFrom('batches').select('state').where('batch_id', '=', batchId).executeTakeFirstOrThrow();
          const expected = actual === from && legal.has(`${from}>${to}`);
          expect({ actual, from, to, moved, state }).toEqual({
            actual,
            from,
            to,
            moved: expected,
            state: expected ? to : actual,
          });
        }
      }
    }
  });
});

test.for(dialects)('Retry-After holds every campaign of the account, and no other: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const spring = await beginProven(store, { rows: two });
  const autumn = await beginProven(store, {
    campaignId: 'autumn',
    rows: buildRows(numbers(2, 10), (index) => `Auditor ${index}`),
  });
  const winter = await beginProven(store, {
    campaignId: 'winter',
    rows: buildRows(numbers(2, 20), (index) => `Writer ${index}`),
  });
  const elsewhere = { account_id: 'http://elsewhere' };
  await store.db.updateTable('campaigns').set(elsewhere).where('campaign_id', '=', 'winter').execute();
  await spring.plan(1);
  await autumn.plan(1);
  await spring.post(1);
  const until = noon + 5 * minuteMs;
  await spring.verdict(1, 'not_sent', { status: 429, notBefore: until });
  // A shorter pause that somebody else is told of ends nothing early.
  await store.transaction((tx) => holdAccount(tx, 'http://service', noon + minuteMs));

  for (const later of [1, until - noon - 1]) {
    expect(await spring.post(1, noon + later)).toEqual({ kind: 'blocked', until });
    expect(await autumn.post(1, noon + later)).toEqual({ kind: 'blocked', until });
  }
  expect(await autumn.batch(1)).toMatchObject({ state: 'intent', posts: 0 });
  expect(await winter.dial(1, noon + 1)).toHaveLength(2);
  expect(await spring.post(1, until)).toMatchObject({ kind: 'post', k: 2 });
  expect(await autumn.post(1, until)).toMatchObject({ kind: 'post', k: 1 });
});

test.for(dialects)('a batch that cannot be sent for a quarter of an hour is given back: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rows: two });
  await scenario.plan(1);
  for (const [index, later] of [0, 5, 10, 15].entries()) {
    const now = noon + later * minuteMs;
    expect(await scenario.post(1, now)).toMatchObject({ kind: 'post', k: index + 1 });
    expect(await scenario.verdict(1, 'not_sent', { k: index + 1, now })).toBe('not_sent');
  }
  const given = noon + 15 * minuteMs + 1;
  expect(await scenario.post(1, given)).toEqual({ kind: 'verdict', state: 'released' });
  expect(await scenario.batch(1)).toMatchObject({ state: 'released', reason: 'not_sent_in_time', posts: 4 });
  expect(await ends(scenario)).toEqual({
    attempts: twice(['released', 'not_sent_in_time']),
    recipients: twice(['waiting', given - noon]),
  });
  // The next batch is not tried in the same second, and its attempts are new ones that never counted.
  expect(await scenario.plan(2, given)).toMatchObject({ kind: 'wait', reason: 'blocked', until: given + minuteMs });
  expect(await scenario.dial(2, given + minuteMs)).toEqual(['spring/1/2', 'spring/2/2']);
  expect((await scenario.recipients()).map((row) => row.counted)).toEqual([0, 0]);
});

test.for(dialects)('a Retry-After that outlasts the quarter of an hour gives the batch back at once: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rows: two });
  await scenario.plan(1);
  await scenario.post(1);
  await scenario.verdict(1, 'not_sent', { status: 429, notBefore: noon + 15 * minuteMs + 1 });
  expect(await scenario.post(1, noon + 1)).toEqual({ kind: 'verdict', state: 'released' });
  expect((await ends(scenario)).attempts).toEqual(twice(['released', 'not_sent_in_time']));
});

const sightings = [
  { what: 'a number', facts: { calleeNumber: secondNumber }, seen: true },
  { what: 'an opening line', facts: { openingLine: 'Hello Guest 1' }, seen: true },
  { what: 'a number called before', facts: { calleeNumber: secondNumber, startedAt: noon - hourMs }, seen: false },
  {
    what: 'a number that called us',
    facts: { calleeNumber: secondNumber, direction: 'inbound' as const },
    seen: false,
  },
  { what: 'a stranger', facts: { calleeNumber: '+12125550100' }, seen: false },
];
const sightingCases = dialects.flatMap((dialect) => sightings.map((sighting) => ({ dialect, ...sighting })));

test.for(sightingCases)('before a second POST, evidence of a call is looked for: $what, $dialect', async (sighting) => {
  const store = await openCleanStore(sighting.dialect);
  const scenario = await beginProven(store, { rows: two });
  await scenario.plan(1);
  await scenario.post(1);
  await scenario.verdict(1, 'not_sent', { status: 429, serviceDate: noon });
  await store.db.updateTable('posts').set({ service_from: noon }).execute();
  await scenario.sweep(noon + 30_000, [{ conversationId: 'c1', startedAt: noon + 5_000, ...sighting.facts }]);
  const step = await scenario.post(1, noon + minuteMs);
  if (!sighting.seen) {
    expect(step).toMatchObject({ kind: 'post', k: 2 });
    return;
  }
  // It is theirs and nobody else's: the batch was placed.
  expect(step).toEqual({ kind: 'verdict', state: 'confirmed' });
  expect(await store.db.selectFrom('posts').selectAll().execute()).toHaveLength(1);
  expect((await scenario.attempts()).map(({ state, posted_at }) => [state, posted_at])).toEqual(twice(['open', noon]));
});

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
