import { expect } from 'vitest';
import { nextSince } from '../../../src/interfaces/cli/results/results.ts';
import type { Disposition } from '../../../src/rules/disposition.ts';
import { lastChange, readReasons, readResults, type ResultFilter } from '../../../src/ledger/read/result-rows.ts';
import { buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { answered, noon, numbers, type Scenario, guests } from '../scenario.ts';
import { bothDialects } from '../test-stores.ts';
import { beginOn, test } from '../ledger-test.ts';

async function rowsBy(scenario: Scenario, filter: ResultFilter): Promise<number[]> {
  const rows: number[] = [];
  for await (const { row } of readResults(scenario.store.db, 'spring', filter)) rows.push(row);
  return rows;
}

function since(scenario: Scenario, changedSince: number): Promise<number[]> {
  return rowsBy(scenario, { changedSince });
}

/** Six rows: answered, busy, voicemail, busy, open, rejected. */
async function mixed(dialect: (typeof bothDialects)[number]): Promise<Scenario> {
  const rows = guests(6).map((row, index) => (index === 5 ? { ...row, verdict: 'rejected' as const, reason: 'invalid_phone' } : row));
  const scenario = await beginOn(dialect, { rows, rules: { retry: { maxAttempts: 2 } } });
  await scenario.dial(1, noon + minuteMs);
  const ends: Disposition[] = ['answered', 'busy', 'voicemail', 'busy'];
  for (const [index, end] of ends.entries()) await scenario.settle(`spring/${index + 1}/1`, end, noon + (index + 2) * minuteMs);
  return scenario;
}

test.both.from(mixed)('results are chosen by outcome, latest disposition and reason, and by all of them', async (scenario) => {
  expect(await rowsBy(scenario, {})).toEqual([1, 2, 3, 4, 5, 6]);
  expect(await rowsBy(scenario, { outcomes: ['completed', 'rejected'] })).toEqual([1, 6]);
  expect(await rowsBy(scenario, { outcomes: ['in_progress'] })).toEqual([2, 4, 5]);
  expect(await rowsBy(scenario, { outcomes: ['in_progress', 'exhausted'] })).toEqual([2, 3, 4, 5]);
  expect(await rowsBy(scenario, { dispositions: ['busy', 'voicemail'] })).toEqual([2, 3, 4]);
  expect(await rowsBy(scenario, { reasons: ['invalid_phone'] })).toEqual([6]);
  expect(await rowsBy(scenario, { outcomes: ['in_progress'], dispositions: ['busy', 'answered'] })).toEqual([2, 4]);
  expect(await readReasons(scenario.store.db, 'spring')).toContain('invalid_phone');
  // The latest call is open again: how the one before ended does not count.
  await scenario.dial(2, noon + hourMs);
  expect(await rowsBy(scenario, { dispositions: ['busy'] })).toEqual([]);
});

test('a filter leaves out nothing at the seams of pages', async (dialect) => {
  const count = 1_700;
  const rows = buildRows(
    Array.from({ length: count }, (_, n) => `+1${201 + Math.floor(n / 90)}55501${String(10 + (n % 90))}`),
    (n) => `Guest ${n}`,
  ).map((row) => (row.row % 3 === 0 ? { ...row, verdict: 'rejected' as const, reason: 'invalid_phone' } : row));
  const scenario = await beginOn(dialect, { rows });
  const wanted = rows.map(({ row }) => row).filter((row) => row % 3 === 0);
  expect(await rowsBy(scenario, { outcomes: ['rejected'] })).toEqual(wanted);
  expect(await rowsBy(scenario, { outcomes: ['in_progress'] })).toHaveLength(count - wanted.length);
});

test.from(mixed)('a row has changed when its call is placed, ends or is corrected, and not otherwise', async (scenario) => {
  expect(await since(scenario, noon)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(await since(scenario, noon + 1)).toEqual([1, 2, 3, 4, 5]);
  expect(await since(scenario, noon + 3 * minuteMs)).toEqual([2, 3, 4]);
  expect(await lastChange(scenario.store.db, 'spring')).toBe(noon + 5 * minuteMs);
  await scenario.settle('spring/3/1', 'voicemail', noon + 6 * minuteMs);
  expect(await since(scenario, noon + 6 * minuteMs)).toEqual([]);
  await scenario.settle('spring/3/1', 'answered', noon + 7 * minuteMs);
  expect(await since(scenario, noon + 6 * minuteMs)).toEqual([3]);
});

test('rows that end without a call, or whose earlier call is corrected, have changed', async (dialect) => {
  const endsAt = noon + 3 * hourMs;
  const rows = guests(2);
  const scenario = await beginOn(dialect, { rows, rules: { endsAt } });
  await scenario.dial(1);
  await scenario.settle('spring/1/1', 'busy', noon + minuteMs);
  await scenario.settle('spring/2/1', 'busy', noon + minuteMs);
  await scenario.store.db.updateTable('recipients').set({ due_at: endsAt }).where('row_number', '=', 2).execute();
  expect(await scenario.dial(2, noon + hourMs)).toEqual(['spring/1/2']);
  await scenario.settle('spring/1/1', 'no_answer', noon + 2 * hourMs);
  expect(await since(scenario, noon + 2 * hourMs)).toEqual([1]);
  await scenario.plan(3, endsAt);
  expect(await rowsBy(scenario, { outcomes: ['expired'], changedSince: endsAt })).toEqual([2]);
});

test('values that come in after the outcome change the row', async (dialect) => {
  const [number = ''] = numbers(1);
  const scenario = await beginOn(dialect, { rows: buildRows([number], () => 'Guest') });
  await scenario.dial(1);
  const record = answered('conv_1', number, noon + 5_000);
  await scenario.sweep(noon + minuteMs, [{ ...record, collected: null, evaluation: null }]);
  expect(await scenario.row()).toMatchObject({ outcome: 'completed', changed_at: noon + minuteMs });
  await scenario.sweep(noon + 3 * minuteMs, [record]);
  expect(await since(scenario, noon + 2 * minuteMs)).toEqual([1]);
});

test.from(mixed)('rows that are put back in line have changed', async (scenario) => {
  await scenario.settle('spring/5/1', 'unknown', noon + 6 * minuteMs);
  expect(await rowsBy(scenario, { outcomes: ['unresolved'] })).toEqual([5]);
  await scenario.resolve('redial', noon + 10 * minuteMs);
  expect(await since(scenario, noon + 10 * minuteMs)).toEqual([5]);
  await scenario.dial(2, noon + hourMs);
  expect(await since(scenario, noon + hourMs)).toEqual([2, 4, 5]);
});

test('a retry of an ended campaign changes the rows that it takes up', async (dialect) => {
  const rows = guests(2);
  const scenario = await beginOn(dialect, { rows, rules: { retry: { maxAttempts: 1 } } });
  await scenario.dial(1);
  await scenario.settle('spring/1/1', 'answered', noon + minuteMs);
  await scenario.settle('spring/2/1', 'busy', noon + minuteMs);
  expect(await scenario.close(noon + hourMs)).toBe(true);
  await scenario.retry(['exhausted'], noon + 2 * hourMs);
  expect(await since(scenario, noon + 2 * hourMs)).toEqual([2]);
});

test('the next delta begins after the last change, or before it as long as others may be on their way', () => {
  expect(nextSince({ lastChange: null, now: noon, speed: 1 })).toBeNull();
  expect(nextSince({ lastChange: noon - hourMs, now: noon, speed: 1 })).toBe(noon - hourMs + 1);
  expect(nextSince({ lastChange: noon - 1_000, now: noon, speed: 1 })).toBe(noon - 1_000 - 2 * minuteMs);
  // A change by a worker whose clock is ahead.
  expect(nextSince({ lastChange: noon + 5_000, now: noon, speed: 1 })).toBe(noon - 2 * minuteMs);
  // On a fast sandbox two real minutes are many of its own.
  expect(nextSince({ lastChange: noon - hourMs, now: noon, speed: 600 })).toBe(noon - hourMs - 1_200 * minuteMs);
});

test.both.from(mixed)('a job that follows the deltas sees every change, also one that was committed late', async (scenario) => {
  const seen = new Map<number, string | null>();
  let from = 0;
  const delta = async (now: number): Promise<void> => {
    const next = nextSince({ lastChange: await lastChange(scenario.store.db, 'spring'), now, speed: 1 });
    for await (const row of readResults(scenario.store.db, 'spring', { changedSince: from })) seen.set(row.row, row.disposition);
    from = next ?? from;
  };
  await delta(noon + 5 * minuteMs + 1);
  // It is dated before the last change seen: its transaction began earlier and took longer.
  await scenario.settle('spring/5/1', 'no_answer', noon + 4 * minuteMs);
  await delta(noon + 6 * minuteMs);
  expect(seen.get(5)).toBe('no_answer');
  expect(from).toBe(noon + 3 * minuteMs);
  await delta(noon + hourMs);
  expect(from).toBe(noon + 5 * minuteMs + 1);
  expect(await since(scenario, from)).toEqual([]);
});
