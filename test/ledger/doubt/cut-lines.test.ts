import { expect, test } from 'vitest';
import type { ConversationFacts } from '../../../src/domain/conversation-facts.ts';
import { buildRows, buildRules, minuteMs } from '../../support/campaign-rules.ts';
import { answered, beginProven, noon, numbers, type Scenario } from '../scenario.ts';
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
  expect(await settle(known, [before, talk('Hello Daniel'), after])).toEqual([
    doubt,
    'no_record',
    'answered',
    'answered',
  ]);
});
