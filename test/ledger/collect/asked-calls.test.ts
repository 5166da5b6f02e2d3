import { expect } from 'vitest';
import { readAggregates } from '../../../src/ledger/aggregates.ts';
import { giveUpOpen } from '../../../src/ledger/people/resolve.ts';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { readResults } from '../../../src/ledger/read/result-rows.ts';
import type { ConversationFacts } from '../../../src/rules/conversation-facts.ts';
import type { ResultRule } from '../../../src/rules/talk-results.ts';
import { buildRows, collectedRule, hourMs, minuteMs, type RulesChanges } from '../../support/campaign-rules.ts';
import { agentId, answered, noon, numbers, type Scenario, waits } from '../scenario.ts';
import type { TestDialect } from '../test-stores.ts';
import { test, beginOn, unjudged } from '../ledger-test.ts';

const [ada = ''] = numbers(1);
const rule = (result: string, value: string, more: Partial<ResultRule>) => collectedRule(result, 'said', [value], more);
const again = { kind: 'retry', afterMs: 2 * hourMs } as const;
const results = [rule('cut_off', 'later', { next: again }), rule('confirmed', 'yes', { goal: true })];

async function begin(dialect: TestDialect, rules: RulesChanges = {}): Promise<Scenario> {
  const rows = buildRows([ada], () => 'Ada');
  return beginOn(dialect, { rows, rules: { results, ...rules } });
}

const talk = (name: string, at: number, more: Partial<ConversationFacts> = {}) => ({
  ...answered(name, ada, at),
  collected: { said: 'later' },
  ...more,
});
const analysing = { collected: null, evaluation: null, status: 'processing' } as const;

async function row(scenario: Scenario) {
  const [first] = await scenario.recipients();
  return first;
}

test.from(begin)('whoever asks for it in their own record is called again when it is due, and not after that', async (scenario) => {
  await scenario.dial(1);
  const told = noon + 2 * minuteMs;
  await scenario.sweep(told, [talk('one', noon + 5_000)]);
  expect(await row(scenario)).toMatchObject({ state: 'waiting', outcome: null, result: 'cut_off', due_at: told + 2 * hourMs });
  expect(await scenario.plan(2, told + 2 * hourMs - 1)).toMatchObject(waits('due', told + 2 * hourMs));
  await scenario.dial(2, told + 2 * hourMs);
  const second = talk('two', told + 2 * hourMs + 5_000, { collected: { said: 'yes' } });
  await scenario.sweep(told + 3 * hourMs, [second]);
  expect(await row(scenario)).toMatchObject({ state: 'done', outcome: 'completed', result: 'confirmed' });
  expect((await scenario.attempts()).map(({ result, asks }) => [result, asks])).toEqual([['cut_off', 'retry'], ['confirmed', null]]); // prettier-ignore
});

test.from(begin)('whoever opts out in a later talk has no result, nor has a later talk that nothing is known of yet', async (scenario) => {
  const named = async () => {
    const found: number[] = [];
    for await (const { row: number } of readResults(scenario.store.db, 'spring', { results: ['cut_off'] })) found.push(number);
    return found;
  };
  await scenario.dial(1);
  await scenario.sweep(noon + 2 * minuteMs, [talk('one', noon + 5_000)]);
  expect(await named()).toEqual([1]);
  const at = noon + 3 * hourMs;
  await scenario.dial(2, at);
  await scenario.sweep(at + minuteMs, [talk('two', at + 5_000, { ...analysing, status: 'done' })]);
  expect(await row(scenario)).toMatchObject({ outcome: null, result: null });
  expect(await named()).toEqual([]);
  await scenario.sweep(at + 2 * minuteMs, [talk('two', at + 5_000, { collected: { said: 'later', opt_out: true } })]);
  expect(await row(scenario)).toMatchObject({ state: 'done', outcome: 'opted_out', result: null });
  expect((await scenario.attempts()).map(({ result }) => result)).toEqual(['cut_off', null]);
  expect(await named()).toEqual([]);
});

test.from(begin)('nothing is decided before the record has been read to its end', async (scenario) => {
  const [first = ''] = await scenario.dial(1);
  await scenario.sweep(noon + 2 * minuteMs, [talk('one', noon + 5_000, { ...analysing, status: 'done' })]);
  expect(await scenario.attempts()).toMatchObject([{ attempt_id: first, state: 'settled', disposition: 'answered', asks: null }]);
  expect(await row(scenario)).toMatchObject({ state: 'open', outcome: null });
  expect(await scenario.plan(2, noon + 3 * minuteMs)).toMatchObject({ kind: 'wait', reason: 'collecting', outstanding: { unread: 1 } });
  await scenario.sweep(noon + 4 * minuteMs, [talk('one', noon + 5_000, { collected: { said: 'yes' } })]);
  expect(await row(scenario)).toMatchObject({ state: 'done', outcome: 'completed', reason: 'answered', result: 'confirmed' });
});

test.for([
  { what: 'an analysis that never comes asks for nothing', looks: [2, 10, 20], record: { ...analysing, status: 'done' }, result: 'none' },
  {
    what: 'an analysis that still runs asks for nothing, however long it is waited for',
    looks: [2, 10, 20],
    record: { status: 'processing' },
    result: 'none',
  },
  { what: 'a call in which nobody spoke asks for nothing', looks: [2], record: { userTurns: 0 }, result: null },
  {
    what: 'a wish not to be called again outranks one for a call, also in the same record',
    looks: [2],
    record: { collected: { said: 'later', opt_out: true } },
    result: null,
    outcome: 'opted_out',
  },
] as const)('$what', async (dialect, { looks, record, result, outcome = 'completed' }) => {
  const scenario = await begin(dialect);
  await scenario.dial(1);
  for (const minute of looks) await scenario.sweep(noon + minute * minuteMs, [talk('one', noon + 5_000, record)]);
  expect(await row(scenario)).toMatchObject({ state: 'done', outcome, result });
  expect(await scenario.plan(2, noon + 5 * hourMs)).toMatchObject({ kind: 'done' });
});

test.for([
  {
    what: 'what people ask for is called out of the same attempts, and ends with them',
    second: {},
    end: { outcome: 'completed', reason: 'answered' },
  },
  {
    what: 'whoever asked and was then not reached ends as not reached',
    second: { callResult: 'no_answer', userTurns: 0, agentTurns: 0 },
    end: { outcome: 'exhausted' },
  },
] as const)('$what', async (dialect, { second, end }) => {
  const scenario = await begin(dialect, { retry: { maxAttempts: 2 } });
  await scenario.dial(1);
  await scenario.sweep(noon + 2 * minuteMs, [talk('one', noon + 5_000)]);
  const at = noon + 3 * hourMs;
  await scenario.dial(2, at);
  await scenario.sweep(at + 2 * minuteMs, [talk('two', at + 5_000, second)]);
  expect(await row(scenario)).toMatchObject({ state: 'done', result: 'cut_off', ...end });
});

test.from(begin)('a talk that asks for nothing is never followed by a call, whatever put its row in line', async (scenario) => {
  unjudged();
  await scenario.dial(1);
  await scenario.sweep(noon + 2 * minuteMs, [talk('one', noon + 5_000)]);
  const at = noon + 3 * hourMs;
  // Only the word of its record gives it a place in line.
  await scenario.store.db.updateTable('attempts').set({ asks: null }).where('number', '=', 1).execute();
  await scenario.plan(2, at);
  expect(await scenario.post(2, at)).toMatchObject({ kind: 'verdict', state: 'released' });
  expect(await row(scenario)).toMatchObject({ state: 'done', outcome: 'completed', reason: 'reached_by_earlier_attempt' });
});

test.from(begin)('a record that may be somebody else’s asks for nothing', async (scenario) => {
  await scenario.dial(1);
  // Neither number nor reference tell whose it is: only the words with which it began.
  const words = { calleeNumber: null, openingLine: 'Hello Ada' };
  await scenario.sweep(noon + 2 * minuteMs, [talk('one', noon + 5_000, words)]);
  expect(await scenario.attempts()).toMatchObject([{ evidence: 'opening_line', asks: 'retry' }]);
  // Another record turns up that may be hers as well.
  const at = noon + 3 * hourMs;
  await scenario.sweep(at - minuteMs, [talk('two', noon + 6_000, { ...words, collected: {} })]);
  await scenario.plan(2, at);
  expect(await row(scenario)).toMatchObject({ state: 'done', outcome: 'unresolved', reason: 'records_not_told_apart', result: null });
  expect(await readAggregates(scenario.store.db, 'spring', ['result'])).toEqual([]);
});

test.from(begin)('an answer that a report alone tells asks for nothing', async (scenario) => {
  unjudged();
  const [first = ''] = await scenario.dial(1);
  const result = { disposition: 'answered' as const, detail: null, counted: true };
  const at = { campaignId: 'spring', now: noon + minuteMs };
  await scenario.store.transaction((tx) => settleAttempts(tx, at, [{ attemptId: first, result, by: 'report' }]));
  expect(await row(scenario)).toMatchObject({ state: 'done', outcome: 'completed' });
});

test.from(begin)('whoever gives up reading records ends the rows that waited for them', async (scenario) => {
  unjudged();
  await scenario.dial(1);
  await scenario.sweep(noon + 2 * minuteMs, [talk('one', noon + 5_000, { ...analysing, status: 'done' })]);
  expect(await row(scenario)).toMatchObject({ state: 'open' });
  await giveUpOpen(scenario.store, scenario.at(noon + 9 * hourMs), agentId);
  expect(await row(scenario)).toMatchObject({ state: 'done', outcome: 'completed' });
});

test('the judge finds a call that was asked for by no record, and one before its time', async (dialect) => {
  unjudged();
  const scenario = await begin(dialect);
  await scenario.dial(1);
  await scenario.sweep(noon + 2 * minuteMs, [talk('one', noon + 5_000, { collected: { said: 'yes' } })]);
  const { db } = scenario.store;
  await db.updateTable('recipients').set({ state: 'waiting', outcome: null, due_at: noon }).execute();
  await db.updateTable('attempts').set({ asks: 'retry', asks_at: noon }).execute();
  await scenario.dial(2, noon + 5 * minuteMs);
  expect(await scenario.broken()).toEqual(expect.arrayContaining(['reached_dialled', 'calls_differ', 'record_contradicts']));
  const early = await begin(dialect);
  await early.dial(1);
  await early.sweep(noon + 2 * minuteMs, [talk('one', noon + 5_000)]);
  await early.store.db.updateTable('recipients').set({ due_at: noon }).execute();
  await early.dial(2, noon + 5 * minuteMs);
  expect(await early.broken()).toEqual(['retry_too_early']);
});
