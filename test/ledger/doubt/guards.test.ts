import { expect } from 'vitest';
import { noteCallerProven } from '../../../src/ledger/campaign/rounds.ts';
import { openPosting } from '../../../src/ledger/dial/posting.ts';
import { createBatch } from '../../../src/ledger/rows/create-batch.ts';
import type { ConversationFacts } from '../../../src/rules/conversation-facts.ts';
import { Drive } from '../../world/drive.ts';
import { buildRows, buildRules, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { agentId, answered, beginCampaign, beginProven, noon, numbers, type Scenario } from '../scenario.ts';
import type { TestDialect } from '../test-stores.ts';
import { test, openLedger, beginOn } from '../ledger-test.ts';

const settled = noon + 30 * minuteMs;

function rowsNamed(...names: string[]) {
  return buildRows(numbers(names.length), (index) => names[index] ?? '');
}

function talk(more: Partial<ConversationFacts> = {}): Partial<ConversationFacts> {
  return { ...answered('talk', '', noon + 5_000), calleeNumber: null, ...more };
}

async function callTwo(dialect: TestDialect, begin = beginProven): Promise<Scenario> {
  const scenario = await begin(await openLedger(dialect), { rows: rowsNamed('Ada', 'Ben') });
  await noteCallerProven(scenario.store, 'spring');
  await scenario.dial(1);
  return scenario;
}

/** Sweeps every minute, each with the records that have begun. */
async function sweepUntil(scenario: Scenario, until: number, records: Partial<ConversationFacts>[] = []): Promise<void> {
  for (let at = noon + minuteMs; at <= until; at += minuteMs)
    await scenario.sweep(
      at,
      records.filter(({ startedAt }) => (startedAt ?? 0) < at),
    );
}

async function dispositions(scenario: Scenario) {
  return (await scenario.attempts()).map(({ disposition, detail }) => `${disposition}/${detail}`);
}

test.from(callTwo)('who has no record, but one that may be theirs, ends in doubt', async (scenario) => {
  await scenario.sweep(noon + minuteMs, [talk()]);
  await sweepUntil(scenario, settled);
  expect(await dispositions(scenario)).toEqual(inDoubt);
});

test('a record that was listed before the request is of none of its calls', async (dialect) => {
  const scenario = await beginOn(dialect, { rows: rowsNamed('Ada', 'Ben') });
  await scenario.sweep(noon - minuteMs, [talk({ startedAt: noon - 2 * minuteMs })]);
  await scenario.dial(1);
  await sweepUntil(scenario, settled);
  expect(await dispositions(scenario)).toEqual(['unreached/no_record', 'unreached/no_record']);
});

/** Two rows are called at noon by the service's clock; a talk begins so much later. The worker's clock may be ahead. */
async function callTwoByTheServicesClock(dialect: TestDialect, begunAfterMs: number, aheadMs = 0) {
  const now = noon + aheadMs;
  const scenario = await beginOn(dialect, { rows: rowsNamed('Ada', 'Ben') });
  await scenario.plan(1);
  const limits = { postingWindowMs: 10_000, httpTimeoutMs: 60_000, speed: 1 };
  await openPosting(scenario.store, {
    batchId: scenario.batchId(1),
    now,
    nowReal: now,
    serviceFrom: noon,
    ...limits,
  });
  await scenario.verdict(1, 'confirmed', { now, callsInitiated: 2, serviceDate: noon + 1_000 });
  await sweepUntil(scenario, settled + aheadMs, [talk({ startedAt: noon + begunAfterMs })]);
  return dispositions(scenario);
}

test('a talk that began within the tolerance before the request may be of one of its calls', async (dialect) => {
  const { clockToleranceMs } = buildRules().timing;
  expect(await callTwoByTheServicesClock(dialect, 1 - clockToleranceMs)).toEqual(inDoubt);
  expect(await callTwoByTheServicesClock(dialect, -1_000 - clockToleranceMs)).toEqual(Array(2).fill('unreached/no_record'));
});

test("a talk is held against the service's own time of the request, however far ahead the clock of the worker is that made it", async (dialect) => {
  expect(await callTwoByTheServicesClock(dialect, 5_000, 10 * minuteMs)).toEqual(inDoubt);
});

test('a talk that began long after the request may be of one of its calls', async (dialect) => {
  expect(await callTwoByTheServicesClock(dialect, 9 * minuteMs)).toEqual(inDoubt);
});

const silence = {
  hasTranscript: true,
  agentTurns: 0,
  userTurns: 0,
  callResult: null,
  collected: null,
  evaluation: null,
};
const inDoubt = ['unknown/records_not_told_apart', 'unknown/records_not_told_apart'];

/** Two people are called, and the agent, of which so much is known, shows these records. */
async function callTwoAndShow(dialect: TestDialect, known: { words_shown: number; bare_shown: number }, ...records: object[]) {
  const scenario = await callTwo(dialect);
  await scenario.sweep(noon);
  await scenario.store.db.updateTable('agents').set(known).execute();
  const shown = records.map((record, index) => talk({ conversationId: `silent_${index}`, ...silence, ...record }));
  await scenario.sweep(noon + minuteMs, shown);
  await sweepUntil(scenario, settled);
  return dispositions(scenario);
}

test('a record with a duration and no words may be a talk where unanswered calls have none', async (dialect) => {
  expect(await callTwoAndShow(dialect, { words_shown: 1, bare_shown: 1 }, {}, {})).toEqual(inDoubt);
});

test('and where not every call has a record', async (dialect) => {
  expect(await callTwoAndShow(dialect, { words_shown: 1, bare_shown: 0 }, {})).toEqual(inDoubt);
  expect(await callTwoAndShow(dialect, { words_shown: 1, bare_shown: 0 }, {}, {})).toEqual(Array(2).fill('unreached/no_record'));
});

test('an empty record may be a talk while no record has shown words', async (dialect) => {
  const empty = { durationMs: 0, endedAt: noon + 5_000 };
  expect(await callTwoAndShow(dialect, { words_shown: 0, bare_shown: 0 }, empty)).toEqual(inDoubt);
  expect(await callTwoAndShow(dialect, { words_shown: 1, bare_shown: 0 }, empty)).toEqual(Array(2).fill('unreached/no_record'));
});

test.from(callTwo)('words that share little with ours are no proof of a call of somebody else', async (scenario) => {
  await scenario.sweep(noon + minuteMs, [talk({ openingLine: 'Good day from your dentist downtown' })]);
  await sweepUntil(scenario, settled);
  expect(await dispositions(scenario)).toEqual(inDoubt);
});

test.from(callTwo)('nobody without a record is called again before the list has shown something newer', async (scenario) => {
  await sweepUntil(scenario, settled);
  expect(await scenario.plan(2, settled + 10 * minuteMs)).toMatchObject({ kind: 'wait' });
  await scenario.store.db
    .updateTable('agents')
    .set({ newest_start: noon + 3 * hourMs })
    .execute();
  expect(await scenario.plan(2, settled + hourMs)).toMatchObject({ kind: 'batch', size: 2 });
});

test.from(callTwo)('of an agent whose records came late nobody without a record is called again before long', async (scenario) => {
  await sweepUntil(scenario, settled);
  const seen = { longest_lag_ms: 4 * hourMs, newest_start: noon + 3 * hourMs };
  await scenario.store.db.updateTable('agents').set(seen).execute();
  expect(await scenario.plan(2, settled + 3 * hourMs)).toMatchObject({ kind: 'wait' });
  expect(await scenario.plan(2, settled + 9 * hourMs)).toMatchObject({ kind: 'batch', size: 2 });
});

test.from(callTwo, beginCampaign)('while there is no record of the campaign, that somebody has none says nothing', async (scenario) => {
  await sweepUntil(scenario, settled);
  expect(await dispositions(scenario)).toEqual(['unknown/no_record_shown', 'unknown/no_record_shown']);
});

test.from(callTwo)('a possible opt-out stops calls to everybody whose it may be', async (scenario) => {
  await scenario.sweep(noon + minuteMs, [talk({ collected: { opt_out: true } })]);
  const stopped = await scenario.store.db.selectFrom('suppressions').select('e164').execute();
  expect(stopped.map(({ e164 }) => e164).sort()).toEqual(numbers(2));
});

test('an opt-out that may be theirs stops calls to whoever another record was found for by its words alone', async (dialect) => {
  const scenario = await callTwo(dialect);
  const foreign = talk({ conversationId: 'foreign', openingLine: 'Hello Ada' });
  await scenario.sweep(noon + minuteMs, [foreign, talk({ collected: { opt_out: true } })]);
  expect((await scenario.attempts()).map(({ evidence }) => evidence)).toEqual(['opening_line', null]);
  const stopped = await scenario.store.db.selectFrom('suppressions').select('e164').execute();
  expect(stopped.map(({ e164 }) => e164).sort()).toEqual(numbers(2));
});

test.from(callTwo)('nobody is called for another campaign while the analysis of their call may tell of an opt-out', async (scenario) => {
  const autumn = await beginProven(scenario.store, { campaignId: 'autumn', rows: rowsNamed('Ada', 'Ben') });
  const [ada = '', ben = ''] = numbers(2);
  const pending = { ...answered('pending', ada, noon + 1_000), status: null, collected: null, evaluation: null };
  await scenario.sweep(noon + minuteMs, [pending, answered('told', ben, noon + 1_000)]);
  expect(await dispositions(scenario)).toEqual(['answered/null', 'answered/null']);
  expect(await autumn.plan(1, noon + 2 * minuteMs)).toMatchObject({ kind: 'batch', size: 1 });
});

test('nor while a talk that is still read may be theirs, whatever other one was found for them by its words', async (dialect) => {
  const scenario = await callTwo(dialect);
  const autumn = await beginProven(scenario.store, { campaignId: 'autumn', rows: rowsNamed('Ada', 'Ben') });
  const known = ['Ada', 'Ben'].map((name) => talk({ conversationId: name, openingLine: `Hello ${name}` }));
  const pending = talk({ conversationId: 'pending', status: null, collected: null, evaluation: null });
  await scenario.sweep(noon + minuteMs, [...known, pending]);
  expect(await dispositions(scenario)).toEqual(['answered/null', 'answered/null']);
  expect(await autumn.plan(1, noon + 2 * minuteMs)).toMatchObject({ kind: 'wait' });
  await scenario.sweep(noon + 3 * minuteMs, [{ ...pending, status: 'done', evaluation: {} }]);
  expect(await autumn.plan(1, noon + 5 * minuteMs)).toMatchObject({ kind: 'batch', size: 2 });
});

test('who was in a batch that was given back is not called while a record may be theirs', async (dialect) => {
  const scenario = await beginOn(dialect, { rows: rowsNamed('Ada', 'Ben') });
  await scenario.submit(1);
  await scenario.verdict(1, 'not_sent', { status: 429 });
  await scenario.pause(noon, 'for lunch');
  expect(await scenario.post(1)).toEqual({ kind: 'verdict', state: 'released' });
  await scenario.sweep(noon + minuteMs, [talk()]);
  await scenario.resume(noon + 2 * minuteMs);
  await scenario.plan(2, noon + 2 * minuteMs);
  expect(await scenario.outcomes()).toEqual(['unresolved', 'unresolved']);
});

test('two calls with the same words are never open together', async (dialect) => {
  const scenario = await beginOn(dialect, { rows: rowsNamed('Ada', 'Ada', 'Ada Two') });
  await scenario.dial(1);
  expect((await scenario.attempts()).map(({ recipient_id: id }) => id)).not.toContain('spring/2');
});

/** Takes the nth row of a campaign into a batch without the planner. Answers how many calls the batch has. */
async function force(scenario: Scenario, row: number, openingLine: string): Promise<number> {
  const { store, campaignId } = scenario;
  const recipient = (await scenario.recipients())[row];
  if (recipient === undefined) throw new Error('no such row');
  const recipients = [{ row: recipient, openingLine }];
  const batch = { batchId: `${campaignId}/1/9`, campaignId, round: 1, n: 9, now: noon, agentId, caller: 'pn_main' };
  return store.transaction((tx) => createBatch(tx, { ...batch, reference: null, recipients, wordsKept: true }));
}

test('the database itself refuses a second open call with the same words', async (dialect) => {
  const scenario = await beginOn(dialect, { rows: rowsNamed('Ada', 'Ada') });
  await scenario.dial(1);
  expect(await force(scenario, 1, 'Hello Ada')).toBe(0);
});

test.from(beginOn, { rows: rowsNamed('Ada', 'Ben') })(
  'the database itself refuses a second open call to a number, whatever the words',
  async (spring) => {
    const autumn = await beginProven(spring.store, { campaignId: 'autumn', rows: rowsNamed('Cora', 'Dora') });
    // From when it is planned on.
    for (const step of [() => spring.plan(1), () => spring.post(1), () => spring.verdict(1, 'confirmed')]) {
      await step();
      expect(await force(autumn, 0, 'Hello Cora')).toBe(0);
      expect(await autumn.batch(9)).toBeUndefined();
    }
  },
);

test.from(callTwo)('a record that was found by its number alone leaves open whether another one is theirs', async (scenario) => {
  const [ada = '', ben = ''] = numbers(2);
  const silent = { userTurns: 0, agentTurns: 0, callResult: 'no_answer' as const };
  const records = [answered('ada', ada, noon + 1_000), answered('ben', ben, noon + 1_000)];
  await scenario.sweep(noon + minuteMs, [...records.map((record) => ({ ...record, ...silent })), talk()]);
  expect((await scenario.attempts()).map(({ evidence }) => evidence)).toEqual(['number', 'number']);
  await scenario.plan(2, noon + hourMs);
  expect(await scenario.outcomes()).toEqual(['unresolved', 'unresolved']);
});

test('somebody whose words are taken leaves no place empty in a batch', async (dialect) => {
  const rules = { pacing: { batchSize: 2, refillThreshold: 1 } };
  const scenario = await beginOn(dialect, { rules, rows: rowsNamed('Ada', 'Ada', 'Ben') });
  expect(await scenario.plan(1)).toMatchObject({ kind: 'batch', size: 2 });
});

test('a call whose line begins that of another one is not open beside it', async (dialect) => {
  const scenario = await beginOn(dialect, { rows: rowsNamed('Ada Brix', 'Ada Brix Fjord') });
  expect(await scenario.plan(1)).toMatchObject({ kind: 'batch', size: 1 });
});

test.from(beginOn, { rows: rowsNamed('Ada', 'Ben') })('a late yes calls off the calls that were to be made again', async (scenario) => {
  await scenario.submit(1);
  await scenario.post(1);
  await sweepUntil(scenario, settled);
  await scenario.resolve('redial', settled);
  expect((await scenario.recipients()).map(({ state }) => state)).toEqual(['waiting', 'waiting']);
  await scenario.verdict(1, 'confirmed', { now: settled });
  expect(await scenario.outcomes()).toEqual(['unresolved', 'unresolved']);
});

test.from(callTwo)('a retry leaves rows alone that cannot be told apart', async (scenario) => {
  await scenario.sweep(noon + minuteMs, [talk()]);
  await sweepUntil(scenario, settled);
  expect(await scenario.close(settled)).toBe(true);
  expect(await scenario.retry(['unresolved'], settled)).toBe(0);
});

test.from(callTwo)('who is shown as reached after the plan is left out of the batch', async (scenario) => {
  await sweepUntil(scenario, settled);
  await scenario.store.db
    .updateTable('agents')
    .set({ newest_start: noon + 3 * hourMs })
    .execute();
  const later = settled + hourMs;
  expect(await scenario.plan(2, later)).toMatchObject({ kind: 'batch', size: 2 });
  await scenario.sweep(later, [answered('late', numbers(1)[0] ?? '', noon + 2_000)]);
  await scenario.post(2, later);
  const [ada] = (await scenario.attempts()).filter(({ attempt_id: id }) => id === 'spring/1/2');
  expect(ada).toMatchObject({ state: 'released', reason: 'already_reached' });
});

test('who calls in and asks never to be called again is not called', async () => {
  const wisher = '+12125550108';
  const events = [
    {
      afterMs: 1_000,
      happen: ({ url }: { url: string }) =>
        fetch(`${url}/_sandbox/inbound`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ phone_number_id: 'pn_main', from: wisher }),
        }),
    },
  ];
  const rows = buildRows(['+12015550100', '+12025550100', '+12035550100', wisher], (index) => `Guest ${index}`);
  const rules = buildRules({ pacing: { batchSize: 1, refillThreshold: 1, maxConcurrentCalls: 1 } });
  let heard: unknown;
  const { calls } = await new Drive({
    seed: 'inbound',
    sandbox: { meanTalkSeconds: 60 },
    campaigns: [{ campaignId: 'first', rules, rows }],
    events,
    atEnd: async ({ url }) => {
      heard = await (await fetch(`${url}/_sandbox/calls?direction=inbound`)).json();
    },
  }).run();
  expect(heard).toMatchObject({ calls: [{ optedOut: true }] });
  expect(calls.map(({ to }) => to)).not.toContain(wisher);
});

const line = ', this is the clinic.';
const rules = { firstMessage: 'Hello {{ name }} number {{ k }}, this is the clinic.', pacing: { batchSize: 8 } };

/** People called with "Hello", this text, and the clinic's. */
async function begin(dialect: TestDialect, ...people: string[]): Promise<Scenario> {
  const rows = buildRows(numbers(people.length), (index) => `${people[index]}${line}`);
  const list = { ...buildRules().list, columns: ['phone', 'name', 'k'] };
  const withNumbers = rows.map((row, index) => ({ ...row, cells: [...row.cells, String(index)] }));
  return beginOn(dialect, { rules: { ...rules, list }, rows: withNumbers });
}

function talkWith(openingLine: string, startedAt = noon + 5_000): Partial<ConversationFacts> {
  return { ...answered(openingLine, '', startedAt), calleeNumber: null, openingLine };
}

/** What became of each, by row, when nothing more is awaited. */
async function settle(scenario: Scenario, records: Partial<ConversationFacts>[]): Promise<unknown[]> {
  await scenario.sweep(noon + minuteMs, records);
  for (let at = noon + 2 * minuteMs; at <= noon + 30 * minuteMs; at += minuteMs) await scenario.sweep(at);
  const attempts = (await scenario.attempts()).toSorted((a, b) => (a.recipient_id < b.recipient_id ? -1 : 1));
  return attempts.map(({ disposition, detail }) => detail ?? disposition);
}

test('a line that was cut off behind a number is of the one with that number, and of nobody else', async (dialect) => {
  const scenario = await begin(dialect, 'Daniel number 19', 'Daniel number 23', 'Daniel number 18', 'Maria number 4');
  await scenario.dial(1);
  const became = await settle(scenario, [talkWith('Hello Daniel number 19,')]);
  expect(became).toEqual(['answered', 'no_record', 'no_record', 'no_record']);
});

test('a line that two may have spoken as far as it goes leaves a third out of doubt, however near the name', async (dialect) => {
  const scenario = await begin(dialect, 'Jan number 8', 'Jan number 9', 'Jon number 7');
  await scenario.dial(1);
  const doubt = 'records_not_told_apart';
  expect(await settle(scenario, [talkWith('Hello Jan number')])).toEqual([doubt, doubt, 'no_record']);
});

test('a line that was cut off within the first field speaks against others only while the agent is known to speak our words', async (dialect) => {
  const doubt = 'records_not_told_apart';
  const unknown = await begin(dialect, 'Daniel number 1', 'Maria number 2');
  await unknown.dial(1);
  expect(await settle(unknown, [talkWith('Hello from')])).toEqual([doubt, doubt]);
  const known = await begin(dialect, 'Daniel number 1', 'Maria number 2', 'Hugo number 3', 'Ingrid number 4');
  await known.dial(1);
  const before = talkWith(`Hello Hugo number 3${line}`, noon + 1_000);
  const after = talkWith(`Hello Ingrid number 4${line}`, noon + 9_000);
  expect(await settle(known, [before, talkWith('Hello Daniel'), after])).toEqual([doubt, 'no_record', 'answered', 'answered']);
});

/** Who is called together. */
async function calledTogether(scenario: Scenario, n: number, now: number): Promise<string[]> {
  await scenario.plan(n, now);
  const attempts = (await scenario.attempts()).filter(({ batch_id: id }) => id === scenario.batchId(n));
  return attempts.map(({ opening_line: spoken }) => spoken?.replace('Hello ', '').replace(line, '') ?? '');
}

const people = ['Ada number 1', 'Daniel number 2', 'Ada number 3', 'Daniel number 4', 'Hugo number 5'];

test('people whose lines begin alike are called together as long as nobody interrupts the agent', async (dialect) => {
  const scenario = await begin(dialect, ...people);
  expect(await calledTogether(scenario, 1, noon)).toEqual(people);
});

test('once the agent was interrupted, people whose lines begin alike are called one after the other', async (dialect) => {
  const scenario = await begin(dialect, 'Ingrid number 6', ...people);
  const { db } = scenario.store;
  await db
    .updateTable('recipients')
    .set({ due_at: noon + 1 })
    .where('row_number', '>', 1)
    .execute();
  await scenario.dial(1);
  const later = noon + 3 * minuteMs;
  await scenario.sweep(later, [talkWith('Hello Ingrid number')]);
  expect(await calledTogether(scenario, 2, later)).toEqual(['Ada number 1', 'Daniel number 2', 'Hugo number 5']);
  await scenario.post(2, later);
  await scenario.verdict(2, 'confirmed', { now: later, callsInitiated: 3 });
  const soon = later + minuteMs;
  expect(await scenario.plan(3, soon)).toMatchObject({ kind: 'wait' });
  // Who has a record cannot own another.
  await scenario.sweep(soon, [talkWith(`Hello Ada number 1${line}`, later + 5_000)]);
  expect(await calledTogether(scenario, 3, soon + minuteMs)).toEqual(['Ada number 3']);
});

test('where nearly all lines begin alike nobody waits for another', async (dialect) => {
  const alike = [1, 2, 3, 4, 5, 6].map((k) => `Ada number ${k}`);
  const scenario = await begin(dialect, ...alike);
  await scenario.sweep(noon);
  await scenario.store.db.updateTable('agents').set({ cut_at: noon }).where('agent_id', '=', agentId).execute();
  expect(await calledTogether(scenario, 1, noon)).toEqual(alike);
});

const [number = ''] = numbers(1);
const rows = buildRows([number], () => 'Guest');
const withheldRules = { optOut: [{ source: 'collected' as const, key: 'do_not_call', values: [true] }] };

/** A finished record without a transcript, of which the carrier says nothing. */
const withheld: Partial<ConversationFacts> = {
  conversationId: 'conv',
  calleeNumber: number,
  startedAt: noon + 5_000,
  endedAt: noon + 35_000,
  durationMs: 30_000,
  status: 'done',
  collected: { do_not_call: true },
  evaluation: {},
};

test.from(openLedger)('an opt-out counts although the record shows nothing else of its call', async (store) => {
  const spring = await beginProven(store, { rows, rules: withheldRules });
  const autumn = await beginProven(store, { campaignId: 'autumn', rows });
  await spring.dial(1);
  await spring.sweep(noon + minuteMs, [withheld]);
  expect(await spring.attempts()).toMatchObject([{ disposition: 'opted_out', detail: null, counted: 1 }]);
  expect(await spring.recipients()).toMatchObject([{ state: 'done', outcome: 'opted_out' }]);
  expect(await store.db.selectFrom('suppressions').selectAll().execute()).toMatchObject([
    { e164: number, scope: 'account', source: 'call:spring/1/1', expires_at: null },
  ]);
  expect(await autumn.plan(1, noon + hourMs)).toEqual({ kind: 'done' });
  expect(await autumn.recipients()).toMatchObject([{ outcome: 'suppressed' }]);
});

test.from(openLedger)('an opt-out in a withheld record stops a call of another campaign that is planned already', async (store) => {
  const spring = await beginProven(store, { rows, rules: { ...withheldRules, retry: { maxAttempts: 1 } } });
  const autumn = await beginProven(store, { campaignId: 'autumn', rows });
  await spring.dial(1);
  let now = noon;
  for (; now <= noon + 22 * minuteMs; now += 2 * minuteMs) await spring.sweep(now);
  now = await spring.lookAgain(now);
  expect(await autumn.plan(1, now)).toMatchObject({ kind: 'batch', size: 1 });
  await spring.sweep(now, [withheld], false);
  expect(await autumn.post(1, now)).toEqual({ kind: 'verdict', state: 'released' });
  expect(await autumn.attempts()).toMatchObject([{ state: 'released', reason: 'suppressed' }]);
  expect(await spring.recipients()).toMatchObject([{ outcome: 'opted_out' }]);
});

test('a withheld record without an opt-out leaves the call to an operator', async (dialect) => {
  const spring = await beginOn(dialect, { rows, rules: withheldRules });
  await spring.dial(1);
  await spring.sweep(noon + minuteMs, [{ ...withheld, collected: { do_not_call: false } }]);
  expect(await spring.attempts()).toMatchObject([{ disposition: 'unknown', detail: 'record_tells_nothing' }]);
});
