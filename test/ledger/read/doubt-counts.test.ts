import { expect } from 'vitest';
import { readStatus } from '../../../src/ledger/campaign/campaign-status.ts';
import { countDoubt } from '../../../src/ledger/read/doubt-counts.ts';
import { readResults } from '../../../src/ledger/read/result-rows.ts';
import { buildRows, minuteMs, hourMs } from '../../support/campaign-rules.ts';
import { answered, beginProven, noon, numbers, type Scenario } from '../scenario.ts';
import { findUnknownCalls, type ListedCall } from '../../../src/ledger/read/unknown-calls.ts';
import { countCallsTo } from '../../../src/ledger/read/live-calls.ts';
import { countRetriable } from '../../../src/ledger/people/retry-ended.ts';
import { readListFigures } from '../../../src/ledger/read/do-not-call.ts';
import { addSuppressions } from '../../../src/ledger/rows/suppressions.ts';
import { test, openLedger, beginOn, unjudged } from '../ledger-test.ts';

async function countAt(spring: Scenario, now: number) {
  const campaign = await spring.campaign();
  return countDoubt(spring.store.db, campaign, { status: await readStatus(spring.store.db, campaign), now });
}

test.both('rows that wait for an open call with the same words are counted', async (dialect) => {
  const rows = buildRows(numbers(5), (index) => (index < 4 ? 'Guest' : 'Ana'));
  const spring = await beginOn(dialect, { rows });
  expect(await spring.dial(1)).toEqual(['spring/1/1', 'spring/5/1']);
  expect(await countAt(spring, noon)).toMatchObject({ waitingForWords: 3, waitingForEvidence: 0, unresolved: {} });
  const records = ['conv_1', 'conv_5'].map((id, index) => answered(id, numbers(5)[index * 4] ?? '', noon + 5_000));
  await spring.sweep(noon + minuteMs, records);
  expect(await countAt(spring, noon + minuteMs)).toMatchObject({ waitingForWords: 0 });
});

test.both('rows that ended in doubt are counted by cause, and name what may be theirs', async (dialect) => {
  unjudged();
  const rows = buildRows(numbers(2), () => 'Guest');
  const spring = await beginOn(dialect, { rows, rules: { sharedWords: 'unresolved' } });
  await spring.dial(1);
  const talk = {
    ...answered('conv', '', noon + 5_000),
    calleeNumber: null,
    callResult: null,
    openingLine: 'Hello Guest',
  };
  for (let now = noon + minuteMs; now <= noon + 30 * minuteMs; now += 2 * minuteMs)
    await spring.sweep(now, now === noon + minuteMs ? [talk] : []);
  expect(await countAt(spring, noon + 31 * minuteMs)).toMatchObject({
    waitingForWords: 0,
    unresolved: { records_not_told_apart: 2 },
  });
  const candidatesOf = async () => {
    const all: string[][] = [];
    for await (const { candidates } of readResults(spring.store.db, 'spring')) all.push(candidates);
    return all;
  };
  expect(await candidatesOf()).toEqual([['conv'], ['conv']]);
  // Once its owner is known, it is nobody else's candidate.
  await spring.store.db.updateTable('conversations').set({ attempt_id: 'spring/1/1' }).execute();
  expect(await candidatesOf()).toEqual([[], []]);
});

const pacing = { batchSize: 2, refillThreshold: 1 };
const [first = '', second = '', third = ''] = numbers(3);

async function* listOf(entries: readonly Partial<ListedCall>[]): AsyncGenerator<ListedCall> {
  const nothing = { conversationId: '', direction: null, startedAt: noon, calleeNumber: null, references: [] };
  for (const [index, entry] of entries.entries()) yield { ...nothing, conversationId: `conv_${index}`, ...entry };
}

const anonymous = (startedAt = noon) => ({ startedAt });
/** Two calls were requested at noon, to the first and second number; one has its record. */
const cases: { what: string; entries: Partial<ListedCall>[]; unknown: string[] }[] = [
  { what: 'its own record', entries: [{ conversationId: 'conv_first', calleeNumber: first }], unknown: [] },
  { what: 'the record of the open call', entries: [{ calleeNumber: second }], unknown: [] },
  { what: 'a second record of it', entries: [{ calleeNumber: second }, { calleeNumber: second }], unknown: ['conv_1'] },
  { what: 'a call to somebody who was not called', entries: [{ calleeNumber: third }], unknown: ['conv_0'] },
  { what: 'a call to a stranger', entries: [{ calleeNumber: '+12125550199' }], unknown: [] },
  { what: 'an inbound call', entries: [{ calleeNumber: third, direction: 'inbound' }], unknown: [] },
  { what: 'a call from before', entries: [{ calleeNumber: third, startedAt: noon - hourMs }], unknown: [] },
  { what: 'a record without time', entries: [{ calleeNumber: third, startedAt: null }], unknown: ['conv_0'] },
  { what: 'one record that names nobody', entries: [anonymous()], unknown: [] },
  { what: 'two that name nobody', entries: [anonymous(noon + minuteMs), anonymous()], unknown: ['conv_0'] },
  { what: 'one that began too late for it', entries: [anonymous(noon + 3 * hourMs)], unknown: ['conv_0'] },
  { what: 'our reference to the open call', entries: [{ references: ['LEDGER:spring/2/1'] }], unknown: [] },
  { what: 'our reference to a lost call', entries: [{ references: ['LEDGER:spring/3/1'] }], unknown: ['conv_0'] },
];

test.for(cases)('what the service shows is compared with the ledger: $what', async (dialect, { entries, unknown }) => {
  const store = await openLedger(dialect);
  const scenario = await beginProven(store, { rules: { pacing } });
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [answered('conv_first', first, noon + 1_000)]);
  const list = entries.map((entry) => ({
    ...entry,
    references: (entry.references ?? []).map((text) => text.replace('LEDGER', store.ledgerId)),
  }));
  expect(await findUnknownCalls(store, await scenario.campaign(), listOf(list))).toEqual(unknown);
});

test('what a do-not-call entry stops is counted by what is under way to its number', async (dialect) => {
  const scenario = await beginOn(dialect, { rules: { pacing: { batchSize: 2 } } });
  await scenario.dial(1);
  await scenario.plan(2);
  expect(await countCallsTo(scenario.store.db, numbers(6))).toEqual({ waiting: 2, planned: 2, open: 2 });
  expect(await countCallsTo(scenario.store.db, numbers(1))).toEqual({ waiting: 0, planned: 0, open: 1 });
  expect(await countCallsTo(scenario.store.db, [])).toEqual({ waiting: 0, planned: 0, open: 0 });
});

test.from(openLedger)('the list is counted by what holds, what is new and what ends soon', async (store) => {
  const spans = { spanMs: 1_000, endMs: 100 };
  expect(await readListFigures(store.db, { now: noon, ...spans })).toEqual({
    kinds: { all: 0, asked: 0, imported: 0, single: 0 }, holding: 0, holdingForAll: 0, added: 0, addedInCalls: 0, ending: 0,
  }); // prettier-ignore
  const entry = { scope: 'account', source: 'person', reason: null, expiresAt: null };
  const [one = '', two = '', three = ''] = numbers(3);
  await addSuppressions(store, [{ ...entry, e164: one, source: 'import:a.csv' }], noon - 2_000);
  await addSuppressions(
    store,
    [{ ...entry, e164: two, source: 'call:aster/1/1' }, { ...entry, e164: two, scope: 'aster', expiresAt: noon + 50 }, { ...entry, e164: three }],
    noon,
  ); // prettier-ignore
  const figures = {
    kinds: { all: 4, asked: 1, imported: 1, single: 1 }, holding: 4, holdingForAll: 3, added: 3, addedInCalls: 1, ending: 1,
  }; // prettier-ignore
  expect(await readListFigures(store.db, { now: noon, ...spans })).toEqual(figures);
  expect(await readListFigures(store.db, { now: noon + 50, ...spans })).toEqual({ ...figures, holding: 3, ending: 0 });
});

test.from(openLedger)('rows are counted as a retry would take them, without those that a person has to speak for', async (store) => {
  unjudged();
  await beginProven(store);
  const ends = [
    ['exhausted', 'no_answer'], ['exhausted', null], ['cancelled', 'withdrawn'],
    ['unresolved', 'records_not_told_apart'], ['unresolved', 'held'], ['completed', 'answered'],
  ] as const; // prettier-ignore
  for (const [index, [outcome, reason]] of ends.entries())
    await store.db
      .updateTable('recipients')
      .set({ state: 'done', outcome, reason })
      .where('row_number', '=', index + 1)
      .execute();
  expect(await countRetriable(store.db, 'spring')).toEqual({ exhausted: 2, unresolved: 1 });
});
