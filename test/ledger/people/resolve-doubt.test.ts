import { expect } from 'vitest';
import { findUnresolved, readDoubtfulRows } from '../../../src/ledger/doubt/doubtful-rows.ts';
import { type DecisionLine, DecisionsRefusedError, type DoubtDecision } from '../../../src/ledger/people/decision-checks.ts';
import { giveUpOpen } from '../../../src/ledger/people/resolve.ts';
import { resolveDoubt } from '../../../src/ledger/people/resolve-doubt.ts';
import { buildRows, buildRules, hourMs, minuteMs, type RulesChanges } from '../../support/campaign-rules.ts';
import { agentId, answered, beginProven, noon, type Scenario, guests } from '../scenario.ts';
import { dialects } from '../test-stores.ts';
import { talk, three, threeInDoubt } from './three-in-doubt.ts';
import { test, openLedger, beginOn } from '../ledger-test.ts';

const later = noon + 3 * hourMs;
function line(row: number, conversationId: string | null, decision: DoubtDecision | null): DecisionLine {
  return { place: `line ${row}`, row, attemptId: `spring/${row}/1`, conversationId, decision };
}

function decide(spring: Scenario, ...lines: DecisionLine[]) {
  return resolveDoubt(spring.store, spring.at(later), lines);
}

async function refusalOf(work: Promise<unknown>): Promise<unknown> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  return error instanceof DecisionsRefusedError ? error.problems : error;
}

async function stateOf(spring: Scenario): Promise<unknown> {
  const { db } = spring.store;
  const [conversations, dismissals, events] = await Promise.all([
    db.selectFrom('conversations').selectAll().orderBy('conversation_id').execute(),
    db.selectFrom('dismissals').selectAll().orderBy('attempt_id').execute(),
    db.selectFrom('events').select('seq').execute(),
  ]);
  return { rows: await spring.recipients(), attempts: await spring.attempts(), conversations, dismissals, events };
}

async function decisionsIn(spring: Scenario): Promise<unknown[]> {
  const query = spring.store.db.selectFrom('events').select('data').where('type', '=', 'recipient.decided');
  return (await query.orderBy('seq').execute()).map(({ data }) => JSON.parse(data ?? 'null') as unknown);
}

test.from(threeInDoubt)('rows in doubt are shown with every record that may be theirs', async (spring) => {
  const campaign = await spring.campaign();
  const rows = await findUnresolved(spring.store.db, 'spring');
  const shown = await readDoubtfulRows(spring.store.db, campaign, { recipients: rows, now: later });
  expect(
    shown.map(({ recipient, calls }) => [
      recipient.row_number,
      recipient.reason,
      ...calls.map(({ attempt, records }) => [attempt.attempt_id, records.map((record) => record.conversationId)]),
    ]),
  ).toEqual([1, 2, 3].map((row) => [row, 'records_not_told_apart', [`spring/${row}/1`, ['conv_a', 'conv_b']]]));
});

test.from(threeInDoubt)('a record that a person ascribes settles its row, and who is left can be dialled', async (spring) => {
  const lines = [
    line(1, 'conv_a', 'theirs'),
    line(1, 'conv_b', null),
    line(2, 'conv_a', null),
    line(2, 'conv_b', 'theirs'),
    line(3, 'conv_a', 'redial'),
    line(3, 'conv_b', null),
  ];
  expect(await decide(spring, ...lines)).toEqual({ assigned: 2, dismissed: 0, redialled: 1, givenUp: 0, over: 0 });
  expect(await spring.attempts()).toMatchObject([
    { disposition: 'answered', conversation_id: 'conv_a', evidence: 'person', candidates: null },
    { disposition: 'answered', conversation_id: 'conv_b', evidence: 'person' },
    { disposition: 'unknown', counted: 0, reason: 'redial' },
  ]);
  expect(await spring.recipients()).toMatchObject([
    { outcome: 'completed' },
    { outcome: 'completed' },
    { state: 'waiting', outcome: null, counted: 0 },
  ]);
  expect(await decisionsIn(spring)).toEqual([
    { decision: 'theirs', conversation: 'conv_a', by: 'person' },
    { decision: 'theirs', conversation: 'conv_b', by: 'person' },
    { decision: 'redial', by: 'person' },
  ]);
  const before = await stateOf(spring);
  expect(await decide(spring, ...lines)).toEqual({ assigned: 0, dismissed: 0, redialled: 0, givenUp: 0, over: 1 });
  expect(await stateOf(spring)).toEqual(before);
  expect(await spring.plan(2, later)).toMatchObject({ kind: 'batch', size: 1 });
  expect(await spring.post(2, later)).toMatchObject({ kind: 'post' });
});

test.from(threeInDoubt)('whom a person has dialled again is dialled past records that are not theirs', async (spring) => {
  // Not by bulk redial: nobody has looked at the records.
  expect(await spring.resolve('redial', later)).toMatchObject({
    recipients: 0,
  });
  const all = [1, 2, 3].flatMap((row) => [line(row, 'conv_a', row === 3 ? null : 'redial'), line(row, 'conv_b', null)]);
  expect(await decide(spring, ...all)).toMatchObject({ redialled: 2, dismissed: 4 });
  expect(await spring.plan(2, later)).toMatchObject({ kind: 'batch', size: 2 });
  expect(await spring.post(2, later)).toMatchObject({ kind: 'post', calls: [{ attemptId: 'spring/1/2' }, {}] });
});

test('a record that turns up after the word of a person keeps the row from being dialled', async (dialect) => {
  const spring = await threeInDoubt(dialect, [talk('conv_a')]);
  expect(await decide(spring, line(1, 'conv_a', 'redial'))).toMatchObject({ redialled: 1 });
  await spring.sweep(later, [talk('conv_late')], false);
  expect(await spring.plan(2, later)).toEqual({ kind: 'done' });
  expect(await spring.recipients()).toMatchObject([{ outcome: 'unresolved', reason: 'records_not_told_apart' }, {}, {}]);
  // The old file asks for what was done; the new record has to be looked at.
  expect(await decide(spring, line(1, 'conv_a', 'redial'))).toMatchObject({ redialled: 0, over: 1 });
  expect(await decide(spring, line(1, 'conv_late', 'not_theirs'))).toMatchObject({ dismissed: 1 });
});

test.from(threeInDoubt)('a row is not dialled again past a record that the person has not seen', async (spring) => {
  const before = await stateOf(spring);
  expect(await refusalOf(decide(spring, line(2, 'conv_a', 'not_theirs'), line(2, null, 'redial')))).toEqual([
    { place: 'line 2', column: 'row', value: '2', problem: expect.stringMatching(/may have other records.*conv_b/) },
  ]);
  expect(await stateOf(spring)).toEqual(before);
});

test.from(threeInDoubt)('a record that a person rules out leaves the rest in doubt', async (spring) => {
  expect(await decide(spring, line(2, 'conv_a', 'not_theirs'))).toMatchObject({ dismissed: 1 });
  expect((await spring.attempts()).map(({ candidates }) => candidates)[1]).toBe('["conv_b"]');
});

test('an assignment that cannot be is refused, and nothing of the rest is done', async (dialect) => {
  const shows = { ...answered('conv_shown', three[0] ?? '', noon + 6_000), openingLine: 'Hello Guest' };
  const spring = await threeInDoubt(dialect, [talk('conv_a'), shows, talk('conv_other', { calleeNumber: '+12125550199' })]);
  expect(await spring.recipients()).toMatchObject([{ outcome: 'completed' }, { outcome: 'unresolved' }, {}]);
  const before = await stateOf(spring);
  expect(
    await refusalOf(
      decide(
        spring,
        line(2, 'conv_shown', 'theirs'),
        line(2, 'conv_other', 'theirs'),
        line(3, 'conv_a', 'theirs'),
        line(3, null, 'give_up'),
        { ...line(2, 'conv_a', 'theirs'), attemptId: 'spring/3/1' },
        line(7, 'conv_a', 'not_theirs'),
        line(3, 'conv_none', 'not_theirs'),
        line(3, null, 'not_theirs'),
      ),
    ),
  ).toMatchObject([
    {
      column: 'conversation',
      value: 'conv_shown',
      problem: expect.stringMatching(/is the record of call spring\/1\/1/),
    },
    { column: 'conversation', value: 'conv_other', problem: expect.stringMatching(/shows another number/) },
    { column: 'attempt', value: 'spring/3/1', problem: expect.stringMatching(/no call to row 2/) },
    { column: 'row', value: '7', problem: expect.stringMatching(/no such row/) },
    { column: 'conversation', value: 'conv_none' },
    { column: 'decision', value: 'not_theirs' },
    { column: 'decision', problem: expect.stringMatching(/the call another record: keep one/) },
    { column: 'decision', value: 'give_up', problem: expect.stringMatching(/says theirs for the row/) },
  ]);
  const twice = decide(spring, line(2, 'conv_a', 'theirs'), line(3, 'conv_a', 'theirs'));
  expect(await refusalOf(twice)).toMatchObject([{ place: 'line 3', problem: expect.stringMatching(/line 2 gives/) }]);
  expect(await stateOf(spring)).toEqual(before);
});

test('an opt-out in a record that a person ascribes is heard, and those it may have been are free', async (dialect) => {
  const spring = await threeInDoubt(dialect, [talk('conv_a', { collected: { do_not_call: true } })]);
  const listed = () => spring.store.db.selectFrom('suppressions').select(['e164', 'source']).orderBy('e164').execute();
  expect(await listed()).toHaveLength(3);
  expect(await decide(spring, line(2, 'conv_a', 'theirs'))).toMatchObject({ assigned: 1 });
  expect(await spring.recipients()).toMatchObject([{ outcome: 'unresolved' }, { outcome: 'opted_out' }, {}]);
  expect((await listed()).every(({ e164 }) => e164 === three[1])).toBe(true);
});

test.from(threeInDoubt)('a row that a person gives up stays as it is, and is asked about no more', async (spring) => {
  expect(await decide(spring, line(1, 'conv_a', 'give_up'), line(1, 'conv_b', null))).toMatchObject({ givenUp: 1 });
  expect(await decide(spring, line(1, 'conv_a', 'give_up'))).toMatchObject({ givenUp: 0, over: 1 });
  expect(await spring.recipients()).toMatchObject([{ outcome: 'unresolved', reason: 'given_up' }, {}, {}]);
  expect(await findUnresolved(spring.store.db, 'spring')).toHaveLength(2);
});

test('the proof of a held batch calls off what a person had dialled again row by row', async (dialect) => {
  const spring = await beginOn(dialect, { rows: buildRows(three, (index) => `Guest ${index}`) });
  await spring.lose(1);
  for (let now = noon + minuteMs; now <= noon + hourMs; now += 10 * minuteMs) await spring.sweep(now);
  expect(await spring.attempts()).toMatchObject([{ detail: 'held' }, { detail: 'held' }, { detail: 'held' }]);
  expect(await decide(spring, line(1, null, 'redial'))).toMatchObject({ redialled: 1 });
  await spring.sweep(later, [answered('conv_2', three[1] ?? '', noon + 5_000)], false);
  expect(await spring.plan(2, later)).toEqual({ kind: 'done' });
  expect(await spring.recipients()).toMatchObject([
    { outcome: 'unresolved', reason: 'accepted_late' },
    { outcome: 'completed' },
    { outcome: 'unresolved' },
  ]);
});

test('a record that a person ascribes outranks others, also when it says to call again', async (dialect) => {
  const rang = talk('conv_rang', { callResult: 'no_answer', userTurns: 0 });
  const spring = await threeInDoubt(dialect, [rang, talk('conv_b')]);
  expect(await decide(spring, line(1, 'conv_rang', 'theirs'))).toMatchObject({ assigned: 1 });
  expect(await spring.recipients()).toMatchObject([{ state: 'waiting', outcome: null }, {}, {}]);
  expect(await spring.plan(2, later + 25 * hourMs)).toMatchObject({ kind: 'batch', size: 1 });
});

const { retry } = buildRules();
/** What a file with `on_unknown: redial` comes to. */
const redialling = { ...retry, delays: { ...retry.delays, unknown: [30 * minuteMs] } };

async function openCalls(dialect: (typeof dialects)[number], rules: RulesChanges = {}): Promise<Scenario> {
  const store = await openLedger(dialect);
  const rows = guests(2);
  const scenario = await beginProven(store, { rows, rules });
  await scenario.dial(1);
  return scenario;
}

async function outcomes(scenario: Scenario): Promise<(string | null)[][]> {
  return (await scenario.recipients()).map(({ state, outcome, reason }) => [state, outcome, reason]);
}

const givenUpTwice = [
  ['done', 'unresolved', 'given_up'],
  ['done', 'unresolved', 'given_up'],
];

test.from(openCalls)('open calls are given up only after an hour without a word of the service', async (scenario) => {
  const { store } = scenario;
  const since = noon + minuteMs;
  await scenario.sweep(since, [], false);
  expect(await giveUpOpen(store, { campaignId: 'spring', now: since + hourMs - 1 }, agentId)).toEqual({
    kind: 'still_read',
    since,
  });
  expect(await giveUpOpen(store, { campaignId: 'spring', now: since + hourMs }, agentId)).toEqual({
    kind: 'given_up',
    calls: 2,
  });
  expect(await giveUpOpen(store, { campaignId: 'spring', now: since + hourMs }, agentId)).toEqual({
    kind: 'given_up',
    calls: 0,
  });
  expect(await outcomes(scenario)).toEqual(givenUpTwice);
  expect(await scenario.plan(2, since + hourMs)).toEqual({ kind: 'done' });
});

test('what is given up is dialled by nobody, also where unknown calls are redialled', async (dialect) => {
  const scenario = await openCalls(dialect, { retry: redialling });
  const { store } = scenario;
  const now = noon + 2 * hourMs;
  expect(await giveUpOpen(store, { campaignId: 'spring', now }, agentId)).toEqual({ kind: 'given_up', calls: 2 });
  expect(await outcomes(scenario)).toEqual(givenUpTwice);
  expect(await scenario.plan(2, now + 24 * hourMs)).toEqual({ kind: 'done' });
  expect(await scenario.resolve('redial', now)).toMatchObject({ recipients: 0 });
  expect(await scenario.close(now)).toBe(true);
});

test.from(openLedger)('calls of a lost batch that nobody decided about are given up with it', async (store) => {
  const rows = guests(2);
  const scenario = await beginProven(store, { rows, rules: { retry: redialling } });
  await scenario.lose(1);
  const now = noon + 2 * hourMs;
  expect(await giveUpOpen(store, { campaignId: 'spring', now }, agentId)).toEqual({ kind: 'given_up', calls: 2 });
  await scenario.resolve('give_up', now);
  expect(await scenario.batch(1)).toMatchObject({ state: 'given_up' });
  expect(await outcomes(scenario)).toEqual(givenUpTwice);
  expect(await scenario.plan(2, now + 24 * hourMs)).toEqual({ kind: 'done' });
});
