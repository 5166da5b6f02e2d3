import { expect } from 'vitest';
import { readAggregates } from '../../../src/ledger/aggregates.ts';
import { readStatus } from '../../../src/ledger/campaign/campaign-status.ts';
import { readEvents } from '../../../src/ledger/events.ts';
import { readCampaignRows } from '../../../src/ledger/read/campaign-rows.ts';
import { readCampaignReport } from '../../../src/ledger/read/campaign-report.ts';
import { readResults } from '../../../src/ledger/read/result-rows.ts';
import { statusAsJson } from '../../../src/presentation/words/campaign.ts';
import type { ConversationFacts } from '../../../src/rules/conversation-facts.ts';
import { buildRows, minuteMs, resultRule } from '../../support/campaign-rules.ts';
import { answered, noon, numbers, type Scenario, agentId, begin } from '../scenario.ts';
import type { TestDialect } from '../test-stores.ts';
import { test, beginOn, unjudged, openLedger } from '../ledger-test.ts';
import { listDueReads, storeRead } from '../../../src/ledger/doubt/conversations.ts';
import { pauseBetweenSweeps, readAgentRecords } from '../../../src/ledger/doubt/agent-records.ts';
import { storeListed } from '../../../src/ledger/collect/listed-records.ts';
import { conversationRecord } from '../../rules/conversation-record.ts';
import type { Store } from '../../../src/ledger/tx.ts';

const people = numbers(7);
const [yes = '', no = '', quick = '', untold = '', silent = '', machine = '', out = ''] = people;
const results = [
  resultRule('confirmed', { value: { source: 'collected', key: 'confirmed', values: [true] }, goal: true }),
  resultRule('cut_off', { talkUnderMs: 10_000 }),
];

async function callAll(dialect: TestDialect): Promise<Scenario> {
  const rows = buildRows(people, (index) => `Guest ${index}`);
  const price = { perMinuteMicros: 120_000, currency: 'USD' };
  const scenario = await beginOn(dialect, { rows, rules: { results, price } });
  await scenario.dial(1);
  return scenario;
}

const record = (name: string, number: string, more: Partial<ConversationFacts>) => ({
  ...answered(`conv_${name}`, number, noon + 5_000),
  durationMs: 60_000,
  ...more,
});
const records = [
  record('yes', yes, { collected: { confirmed: true } }),
  record('no', no, { collected: { confirmed: false } }),
  record('quick', quick, { collected: {}, durationMs: 4_000 }),
  record('untold', untold, { collected: null, evaluation: null }),
  // Nobody spoke: values noted all the same are no result.
  record('silent', silent, { collected: { confirmed: true }, userTurns: 0, callResult: 'answered' }),
  record('machine', machine, { collected: { confirmed: true }, callResult: 'voicemail' }),
  record('out', out, { collected: { confirmed: true, opt_out: true } }),
];
const late = noon + 60 * minuteMs;

async function came(scenario: Scenario) {
  return (await scenario.recipients()).map(({ outcome, result }) => [outcome, result]);
}

test.from(callAll)('what a talk came to is told of talks alone, everywhere alike', async (scenario) => {
  const { store } = scenario;
  await scenario.sweep(noon + 2 * minuteMs, records);
  for (const minute of [20, 40, 60]) await scenario.sweep(noon + minute * minuteMs, records);
  expect(await came(scenario)).toEqual([
    ['completed', 'confirmed'],
    ['completed', 'other'],
    ['completed', 'cut_off'],
    ['completed', 'none'],
    ['completed', null],
    ['exhausted', null],
    ['opted_out', null],
  ]);
  const counts = { confirmed: 1, other: 1, cut_off: 1, none: 1 };
  const campaign = await scenario.campaign();
  expect(await readStatus(store.db, campaign)).toMatchObject({ results: counts });
  const share = { count: 1, of: 4, share: 0.25 };
  expect(statusAsJson(campaign, await readStatus(store.db, campaign))).toMatchObject({ goal: { results: ['confirmed'], ...share } });
  const report = await readCampaignReport(store, campaign, late);
  expect(Object.fromEntries((report.result ?? []).map(({ value, count }) => [value, count]))).toEqual(counts);
  expect(report.goal).toMatchObject({ talks: { count: 1, of: 4, share: 0.25 }, people: { count: 1, of: 7 } });
  expect(report.cost?.perGoal).toBeCloseTo(report.cost?.amount ?? 0);
  const rows = await readCampaignRows(store.db, 'spring', { results: ['confirmed', 'none'] }, late);
  expect(rows.map(({ row, result }) => [row, result])).toEqual([[1, 'confirmed'], [4, 'none']]); // prettier-ignore
  const named = [];
  for await (const row of readResults(store.db, 'spring', { results: ['cut_off'] })) named.push([row.row, row.result]);
  expect(named).toEqual([[3, 'cut_off']]);
  const told = await readEvents(store.db, 'spring', { afterSeq: 0, limit: 1_000, types: ['attempt.result'] });
  expect(told).toHaveLength(4);
  expect(JSON.stringify(told)).not.toContain('true');
});

test.from(callAll)('a result comes once, with the analysis', async (scenario) => {
  const one = (more: Partial<ConversationFacts>, at: number) => scenario.sweep(at, [record('yes', yes, more)]);
  await one({ collected: null, status: 'processing' }, noon + minuteMs);
  expect((await came(scenario))[0]?.[1]).toBeNull();
  await one({ collected: { confirmed: true } }, noon + 3 * minuteMs);
  expect((await came(scenario))[0]).toEqual(['completed', 'confirmed']);
  // What is complete is not read again.
  await one({ collected: { confirmed: false } }, noon + 5 * minuteMs);
  expect((await came(scenario))[0]).toEqual(['completed', 'confirmed']);
  const { db } = scenario.store;
  const told = await readEvents(db, 'spring', { afterSeq: 0, limit: 1_000, types: ['attempt.result'] });
  expect(told.map(({ data }) => data)).toEqual([{ result: 'confirmed' }]);
  expect(await readAggregates(db, 'spring', ['result'])).toMatchObject([{ value: 'confirmed', count: 1 }]);
});

test.from(callAll)('the judge reads results by itself, and finds one that its record does not bear out', async (scenario) => {
  unjudged();
  // What is wrapped twice equals nothing, for either.
  const wrapped = records.map((each) =>
    each.calleeNumber === quick ? { ...each, durationMs: 60_000, collected: { confirmed: { value: { value: true } } } } : each,
  );
  await scenario.sweep(noon + 2 * minuteMs, wrapped);
  expect((await came(scenario))[2]).toEqual(['completed', 'other']);
  expect(await scenario.broken()).toEqual([]);
  const { db } = scenario.store;
  const forge = (result: string | null) => db.updateTable('attempts').set({ result }).where('e164', '=', no).execute();
  await forge('confirmed');
  expect(await scenario.broken()).toEqual(['calls_differ', 'record_contradicts']);
  await forge('other');
  await db.updateTable('recipients').set({ result: null }).where('e164', '=', yes).execute();
  expect(await scenario.broken()).toEqual(['rows_differ']);
});

const [first = ''] = numbers(1);
const pacing = { batchSize: 1, refillThreshold: 1, maxConcurrentCalls: 2 };
const whole = conversationRecord({ agentId, ...answered('conversation_1', first, noon + 5_000) });
const going: ConversationFacts = { ...whole, status: 'in-progress', endedAt: null, durationMs: null, callResult: null };
/** Over, and not yet analysed. */
const over: ConversationFacts = { ...whole, status: 'processing' };

async function list(store: Store, facts: ConversationFacts, now: number): Promise<string[]> {
  const { isShared } = await readAgentRecords(store.db, agentId);
  await store.transaction((tx) => storeListed(tx, [facts], { agentId, oursSince: 0, listens: false, isShared, offsetMs: 0, now }));
  return listDueReads(store.db, agentId, { now, undecidedSince: null, limit: 10 });
}

async function read(store: Store, facts: ConversationFacts, now: number): Promise<void> {
  const reading = { analysisWaitMs: 15 * minuteMs, ringLimitMs: minuteMs, optOut: [], offsetMs: 0 };
  await store.transaction((tx) => storeRead(tx, facts.conversationId, { facts, ...reading, now }));
}

test.from(openLedger)('a record of the one campaign of its agent is read when it is complete', async (store) => {
  await (await begin(store, 'spring', pacing, 2)).dial(1);
  expect(await list(store, going, noon + 10_000)).toEqual([]);
  expect(await list(store, over, noon + 40_000)).toEqual([]);
  expect(await list(store, whole, noon + 48_000)).toEqual(['conversation_1']);
});

test('while several campaigns wait for records, they look twice as often, and one that shows the end of its call is read at once', async (dialect) => {
  const store = await openLedger(dialect);
  const spring = await begin(store, 'spring', pacing, 2);
  const { timing } = (await spring.campaign()).rules;
  await spring.dial(1);
  expect(await pauseBetweenSweeps(store.db, { agentId, timing })).toBe(timing.pollMs);
  await (await begin(store, 'summer', pacing, 2, 2)).dial(1);
  expect(await pauseBetweenSweeps(store.db, { agentId, timing })).toBe(timing.pollMs / 2);
  expect(await list(store, going, noon + 10_000)).toEqual([]);
  expect(await list(store, over, noon + 40_000)).toEqual(['conversation_1']);
  await read(store, over, noon + 40_000);
  expect(await list(store, over, noon + 44_000)).toEqual([]);
  expect(await list(store, whole, noon + 48_000)).toEqual(['conversation_1']);
});
