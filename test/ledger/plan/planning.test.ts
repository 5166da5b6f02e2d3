import { expect } from 'vitest';
import { LedgerOlderError } from '../../../src/ledger/ledger-older.ts';
import { buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { answered, beginProven, noon, numbers, Scenario } from '../scenario.ts';
import { openAt } from '../test-stores.ts';
import { test, openLedger, beginOn } from '../ledger-test.ts';
import { newDatabase } from '../clean-store.ts';

const pacing = { batchSize: 2, refillThreshold: 1 };

test.from(beginOn, { rules: { pacing } })('retries are dialled first, then the list in its order', async (scenario) => {
  await scenario.dial(1);
  const [first = '', second = ''] = numbers(6);
  await scenario.sweep(noon + 60_000, [
    {
      ...answered('conv_1', first, noon + 1_000),
      callResult: 'busy',
      hasTranscript: false,
      agentTurns: 0,
      userTurns: 0,
    },
    answered('conv_2', second, noon + 1_000),
  ]);
  await scenario.dial(2, noon + 2 * minuteMs);
  await scenario.dial(3, noon + 10 * minuteMs);
  const order = (await scenario.attempts()).map(({ batch_id, attempt_id }) => [batch_id, attempt_id]);
  expect(order).toEqual([
    ['spring/1/1', 'spring/1/1'],
    ['spring/1/1', 'spring/2/1'],
    ['spring/1/2', 'spring/3/1'],
    ['spring/1/2', 'spring/4/1'],
    ['spring/1/3', 'spring/1/2'],
    ['spring/1/3', 'spring/5/1'],
  ]);
});

test.from(newDatabase)('the same n always answers the same batch', async (location) => {
  const store = await openAt(location);
  const scenario = await beginProven(store, { rules: { pacing } });
  const plans = await Promise.all([scenario.plan(1), scenario.plan(1), scenario.plan(1, noon + hourMs)]);
  expect(plans.map((plan) => plan.kind === 'batch' && [plan.batchId, plan.size])).toEqual(
    Array.from({ length: 3 }, () => ['spring/1/1', 2]),
  );
  expect(await scenario.attempts()).toHaveLength(2);
  await scenario.post(1);
  await scenario.verdict(1, 'confirmed');
  expect(await scenario.plan(1, noon + hourMs)).toMatchObject({ batchId: 'spring/1/1', state: 'confirmed' });
});

test.postgres('two processes that plan the same n at the same time plan one batch', async () => {
  const location = await newDatabase('postgres');
  const scenario = await beginProven(await openAt(location), { rules: { pacing } });
  const other = new Scenario(await openAt(location), 'spring');
  const plans = await Promise.all([scenario.plan(1), other.plan(1), scenario.plan(1), other.plan(1)]);
  expect(new Set(plans.map((plan) => plan.kind === 'batch' && plan.batchId))).toEqual(new Set(['spring/1/1']));
  expect(await scenario.attempts()).toHaveLength(2);
});

test.from(beginOn, { rules: { pacing } })('a ledger that lost its last batch is refused', async (scenario) => {
  await scenario.dial(1);
  await expect(scenario.plan(3)).rejects.toThrow(LedgerOlderError);
  expect(await scenario.attempts()).toHaveLength(2);
});

test.from(beginOn)('a campaign that is not in the database is refused', async (scenario) => {
  Object.assign(scenario, { campaignId: 'autumn' });
  await expect(scenario.plan(1)).rejects.toThrow(LedgerOlderError);
});

test.from(beginOn, { rules: { pacing } })('a ledger that lost the round is refused, and plans for no earlier one', async (scenario) => {
  await scenario.dial(1);
  scenario.round = 2;
  await expect(scenario.plan(1)).rejects.toThrow(/round 2 of spring is missing/);
  expect(await scenario.attempts()).toHaveLength(2);
});

test('whose number is in the batch already, or on another open call, waits a minute and leaves no place empty', async (dialect) => {
  const store = await openLedger(dialect);
  const [one = '', two = '', three = ''] = numbers(3);
  const called = async (scenario: Scenario) => (await scenario.attempts()).map(({ recipient_id: id }) => id);
  // The first two rows are two people with one telephone.
  const spring = await beginProven(store, {
    rules: { pacing },
    rows: buildRows([one, one, two, three], (index) => `Guest ${index}`),
  });
  expect(await spring.plan(1)).toMatchObject({ kind: 'batch', size: 2 });
  expect(await called(spring)).toEqual(['spring/1', 'spring/3']);
  const autumn = await beginProven(store, {
    campaignId: 'autumn',
    rules: { pacing },
    rows: buildRows([one, three, ...numbers(1, 3)], (index) => `Auditor ${index}`),
  });
  expect(await autumn.plan(1)).toMatchObject({ kind: 'batch', size: 2 });
  expect(await called(autumn)).toEqual(['autumn/2', 'autumn/3']);
  const waiting = store.db.selectFrom('recipients').select(['recipient_id', 'due_at']).where('state', '=', 'waiting');
  expect(await waiting.orderBy('recipient_id').execute()).toEqual([
    { recipient_id: 'autumn/1', due_at: noon + minuteMs },
    { recipient_id: 'spring/2', due_at: noon + minuteMs },
    { recipient_id: 'spring/4', due_at: 0 },
  ]);
});

test.from(openLedger)('who may not be called now leaves no place in the batch empty, however many they are', async (store) => {
  const day = [{ from: 9 * 60, to: 20 * 60 }];
  const hours = { mon: day, tue: day, wed: day, thu: day, fri: day, sat: day, sun: day };
  // Noon in UTC; in Honolulu it is two at night.
  const asleep = 9;
  const rows = buildRows(numbers(asleep + 3), () => 'Guest').map((row, index) => ({
    ...row,
    zones: [index === 1 || index > asleep ? 'Europe/London' : 'Pacific/Honolulu'],
  }));
  const rules = { pacing, calendar: { hours, closedOn: [] }, sharedWords: 'unresolved' as const };
  const scenario = await beginProven(store, { rules, rows });
  expect(await scenario.plan(1)).toMatchObject({ kind: 'batch', size: 2 });
  const called = (await scenario.attempts()).map(({ recipient_id: id }) => id);
  expect(called).toEqual(['spring/2', `spring/${asleep + 2}`]);
});
