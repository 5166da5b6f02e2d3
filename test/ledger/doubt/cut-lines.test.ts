import { expect, test } from 'vitest';
import type { ConversationFacts } from '../../../src/rules/conversation-facts.ts';
import { buildRows, buildRules, minuteMs } from '../../support/campaign-rules.ts';
import { agentId, answered, beginProven, noon, numbers, type Scenario } from '../scenario.ts';
import { openTestStore } from '../test-stores.ts';

const line = ', this is the clinic.';
const rules = { firstMessage: 'Hello {{ name }} number {{ k }}, this is the clinic.', pacing: { batchSize: 8 } };

/** People of whom each is called with "Hello", this text, and the clinic's. */
async function begin(...people: string[]): Promise<Scenario> {
  const rows = buildRows(numbers(people.length), (index) => `${people[index]}${line}`);
  const list = { ...buildRules().list, columns: ['phone', 'name', 'k'] };
  const withNumbers = rows.map((row, index) => ({ ...row, cells: [...row.cells, String(index)] }));
  return beginProven(await openTestStore('sqlite'), { rules: { ...rules, list }, rows: withNumbers });
}

function talk(openingLine: string, startedAt = noon + 5_000): Partial<ConversationFacts> {
  return { ...answered(openingLine, '', startedAt), calleeNumber: null, openingLine };
}

/** What became of each, in the order of the rows, when nothing more is awaited. */
async function settle(scenario: Scenario, records: Partial<ConversationFacts>[]): Promise<unknown[]> {
  await scenario.sweep(noon + minuteMs, records);
  for (let at = noon + 2 * minuteMs; at <= noon + 30 * minuteMs; at += minuteMs) await scenario.sweep(at);
  const attempts = (await scenario.attempts()).toSorted((a, b) => (a.recipient_id < b.recipient_id ? -1 : 1));
  return attempts.map(({ disposition, detail }) => detail ?? disposition);
}

test('a line that was cut off behind a number is of the one with that number, and of nobody else', async () => {
  const scenario = await begin('Daniel number 19', 'Daniel number 23', 'Daniel number 18', 'Maria number 4');
  await scenario.dial(1);
  const became = await settle(scenario, [talk('Hello Daniel number 19,')]);
  expect(became).toEqual(['answered', 'no_record', 'no_record', 'no_record']);
});

test('a line that two may have spoken as far as it goes leaves a third out of doubt, however near the name', async () => {
  const scenario = await begin('Jan number 8', 'Jan number 9', 'Jon number 7');
  await scenario.dial(1);
  const doubt = 'records_not_told_apart';
  expect(await settle(scenario, [talk('Hello Jan number')])).toEqual([doubt, doubt, 'no_record']);
});

test('a line that was cut off within the first field speaks against others only while the agent is known to speak our words', async () => {
  const doubt = 'records_not_told_apart';
  const unknown = await begin('Daniel number 1', 'Maria number 2');
  await unknown.dial(1);
  expect(await settle(unknown, [talk('Hello from')])).toEqual([doubt, doubt]);
  const known = await begin('Daniel number 1', 'Maria number 2', 'Hugo number 3', 'Ingrid number 4');
  await known.dial(1);
  const before = talk(`Hello Hugo number 3${line}`, noon + 1_000);
  const after = talk(`Hello Ingrid number 4${line}`, noon + 9_000);
  expect(await settle(known, [before, talk('Hello Daniel'), after])).toEqual([doubt, 'no_record', 'answered', 'answered']);
});

/** Who is called together. */
async function calledTogether(scenario: Scenario, n: number, now: number): Promise<string[]> {
  await scenario.plan(n, now);
  const attempts = (await scenario.attempts()).filter(({ batch_id: id }) => id === scenario.batchId(n));
  return attempts.map(({ opening_line: spoken }) => spoken?.replace('Hello ', '').replace(line, '') ?? '');
}

const people = ['Ada number 1', 'Daniel number 2', 'Ada number 3', 'Daniel number 4', 'Hugo number 5'];

test('people whose lines begin alike are called together as long as nobody interrupts the agent', async () => {
  const scenario = await begin(...people);
  expect(await calledTogether(scenario, 1, noon)).toEqual(people);
});

test('once the agent was interrupted, people whose lines begin alike are called one after the other', async () => {
  const scenario = await begin('Ingrid number 6', ...people);
  const { db } = scenario.store;
  await db
    .updateTable('recipients')
    .set({ due_at: noon + 1 })
    .where('row_number', '>', 1)
    .execute();
  await scenario.dial(1);
  const later = noon + 3 * minuteMs;
  await scenario.sweep(later, [talk('Hello Ingrid number')]);
  expect(await calledTogether(scenario, 2, later)).toEqual(['Ada number 1', 'Daniel number 2', 'Hugo number 5']);
  await scenario.post(2, later);
  await scenario.verdict(2, 'confirmed', { now: later, callsInitiated: 3 });
  const soon = later + minuteMs;
  expect(await scenario.plan(3, soon)).toMatchObject({ kind: 'wait' });
  // Whoever has a record of their own cannot own another one.
  await scenario.sweep(soon, [talk(`Hello Ada number 1${line}`, later + 5_000)]);
  expect(await calledTogether(scenario, 3, soon + minuteMs)).toEqual(['Ada number 3']);
});

test('where nearly all lines begin alike nobody waits for another', async () => {
  const alike = [1, 2, 3, 4, 5, 6].map((k) => `Ada number ${k}`);
  const scenario = await begin(...alike);
  await scenario.sweep(noon);
  await scenario.store.db.updateTable('agents').set({ cut_at: noon }).where('agent_id', '=', agentId).execute();
  expect(await calledTogether(scenario, 1, noon)).toEqual(alike);
});
