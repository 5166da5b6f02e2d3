import { expect, test } from 'vitest';
import { nextSince } from '../../../src/interfaces/cli/results/results.ts';
import type { Disposition } from '../../../src/rules/disposition.ts';
import { everyResult, lastChange, readReasons, readResults, type ResultFilter } from '../../../src/ledger/read/result-rows.ts';
import { resolveUnresolved } from '../../../src/ledger/people/resolve.ts';
import { retryEnded } from '../../../src/ledger/people/retry-ended.ts';
import { closeRound } from '../../../src/ledger/campaign/rounds.ts';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { answered, beginProven, noon, numbers, type Scenario } from '../scenario.ts';
import { bothDialects } from '../test-stores.ts';

async function rowsBy(scenario: Scenario, filter: Partial<ResultFilter>): Promise<number[]> {
  const rows: number[] = [];
  for await (const { row } of readResults(scenario.store.db, 'spring', { ...everyResult, ...filter })) rows.push(row);
  return rows;
}

function since(scenario: Scenario, changedSince: number): Promise<number[]> {
  return rowsBy(scenario, { changedSince });
}

async function settle(scenario: Scenario, attemptId: string, disposition: Disposition, now: number): Promise<void> {
  const result = { disposition, detail: null, counted: true };
  await scenario.store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now }, [{ attemptId, result }]));
}

/** Six rows: answered, busy, voicemail, busy, open, rejected. */
async function mixed(dialect: (typeof bothDialects)[number]): Promise<Scenario> {
  const rows = buildRows(numbers(6), (index) => `Guest ${index}`).map((row, index) =>
    index === 5 ? { ...row, verdict: 'rejected' as const, reason: 'invalid_phone' } : row,
  );
  const scenario = await beginProven(await openCleanStore(dialect), { rows, rules: { retry: { maxAttempts: 2 } } });
  await scenario.dial(1, noon + minuteMs);
  const ends: Disposition[] = ['answered', 'busy', 'voicemail', 'busy'];
  for (const [index, end] of ends.entries()) await settle(scenario, `spring/${index + 1}/1`, end, noon + (index + 2) * minuteMs);
  return scenario;
}

test.for(bothDialects)('results are chosen by outcome, latest disposition and reason, and by all of them: %s', async (dialect) => {
  const scenario = await mixed(dialect);
  expect(await rowsBy(scenario, {})).toEqual([1, 2, 3, 4, 5, 6]);
  expect(await rowsBy(scenario, { outcomes: ['completed', 'rejected'] })).toEqual([1, 6]);
  expect(await rowsBy(scenario, { outcomes: ['in_progress'] })).toEqual([2, 4, 5]);
  expect(await rowsBy(scenario, { outcomes: ['in_progress', 'exhausted'] })).toEqual([2, 3, 4, 5]);
  expect(await rowsBy(scenario, { dispositions: ['busy', 'voicemail'] })).toEqual([2, 3, 4]);
  expect(await rowsBy(scenario, { reasons: ['invalid_phone'] })).toEqual([6]);
  expect(await rowsBy(scenario, { outcomes: ['in_progress'], dispositions: ['busy', 'answered'] })).toEqual([2, 4]);
  expect(await readReasons(scenario.store.db, 'spring')).toContain('invalid_phone');
  // The latest call is open again: how the one before ended no longer counts.
  await scenario.dial(2, noon + hourMs);
  expect(await rowsBy(scenario, { dispositions: ['busy'] })).toEqual([]);
});

test.for(bothDialects)('a filter leaves out nothing at the seams of pages: %s', async (dialect) => {
  const count = 1_700;
  const rows = buildRows(
    Array.from({ length: count }, (_, n) => `+1${201 + Math.floor(n / 90)}55501${String(10 + (n % 90))}`),
    (n) => `Guest ${n}`,
  ).map((row) => (row.row % 3 === 0 ? { ...row, verdict: 'rejected' as const, reason: 'invalid_phone' } : row));
  const scenario = await beginProven(await openCleanStore(dialect), { rows });
  const wanted = rows.map(({ row }) => row).filter((row) => row % 3 === 0);
  expect(await rowsBy(scenario, { outcomes: ['rejected'] })).toEqual(wanted);
  expect(await rowsBy(scenario, { outcomes: ['in_progress'] })).toHaveLength(count - wanted.length);
});

test.for(bothDialects)('a row has changed when its call is placed, ends or is corrected, and not otherwise: %s', async (dialect) => {
  const scenario = await mixed(dialect);
  expect(await since(scenario, noon)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(await since(scenario, noon + 1)).toEqual([1, 2, 3, 4, 5]);
  expect(await since(scenario, noon + 3 * minuteMs)).toEqual([2, 3, 4]);
  expect(await lastChange(scenario.store.db, 'spring')).toBe(noon + 5 * minuteMs);
  await settle(scenario, 'spring/3/1', 'voicemail', noon + 6 * minuteMs);
  expect(await since(scenario, noon + 6 * minuteMs)).toEqual([]);
  await settle(scenario, 'spring/3/1', 'answered', noon + 7 * minuteMs);
  expect(await since(scenario, noon + 6 * minuteMs)).toEqual([3]);
});

test.for(bothDialects)('rows that end without a call, or whose earlier call is corrected, have changed: %s', async (dialect) => {
  const endsAt = noon + 3 * hourMs;
  const rows = buildRows(numbers(2), (index) => `Guest ${index}`);
  const scenario = await beginProven(await openCleanStore(dialect), { rows, rules: { endsAt } });
  await scenario.dial(1);
  await settle(scenario, 'spring/1/1', 'busy', noon + minuteMs);
  await settle(scenario, 'spring/2/1', 'busy', noon + minuteMs);
  await scenario.store.db.updateTable('recipients').set({ due_at: endsAt }).where('row_number', '=', 2).execute();
  expect(await scenario.dial(2, noon + hourMs)).toEqual(['spring/1/2']);
  await settle(scenario, 'spring/1/1', 'no_answer', noon + 2 * hourMs);
  expect(await since(scenario, noon + 2 * hourMs)).toEqual([1]);
  await scenario.plan(3, endsAt);
  expect(await rowsBy(scenario, { outcomes: ['expired'], changedSince: endsAt })).toEqual([2]);
});

test.for(bothDialects)('values that come in after the outcome change the row: %s', async (dialect) => {
  const [number = ''] = numbers(1);
  const scenario = await beginProven(await openCleanStore(dialect), { rows: buildRows([number], () => 'Guest') });
  await scenario.dial(1);
  const record = answered('conv_1', number, noon + 5_000);
  await scenario.sweep(noon + minuteMs, [{ ...record, collected: null, evaluation: null }]);
  expect((await scenario.recipients())[0]).toMatchObject({ outcome: 'completed', changed_at: noon + minuteMs });
  await scenario.sweep(noon + 3 * minuteMs, [record]);
  expect(await since(scenario, noon + 2 * minuteMs)).toEqual([1]);
});

test.for(bothDialects)('rows that are put back in line have changed: %s', async (dialect) => {
  const scenario = await mixed(dialect);
  await settle(scenario, 'spring/5/1', 'unknown', noon + 6 * minuteMs);
  expect(await rowsBy(scenario, { outcomes: ['unresolved'] })).toEqual([5]);
  await resolveUnresolved(scenario.store, { campaignId: 'spring', now: noon + 10 * minuteMs }, 'redial');
  expect(await since(scenario, noon + 10 * minuteMs)).toEqual([5]);
  await scenario.dial(2, noon + hourMs);
  expect(await since(scenario, noon + hourMs)).toEqual([2, 4, 5]);
});

test.for(bothDialects)('a retry of an ended campaign changes the rows that it takes up: %s', async (dialect) => {
  const rows = buildRows(numbers(2), (index) => `Guest ${index}`);
  const scenario = await beginProven(await openCleanStore(dialect), { rows, rules: { retry: { maxAttempts: 1 } } });
  await scenario.dial(1);
  await settle(scenario, 'spring/1/1', 'answered', noon + minuteMs);
  await settle(scenario, 'spring/2/1', 'busy', noon + minuteMs);
  expect(await closeRound(scenario.store, { campaignId: 'spring', now: noon + hourMs }, 1)).toBe(true);
  await retryEnded(scenario.store, { campaignId: 'spring', now: noon + 2 * hourMs }, ['exhausted']);
  expect(await since(scenario, noon + 2 * hourMs)).toEqual([2]);
});

test('the next delta begins after the last change, or before it as long as others may be on their way', () => {
  expect(nextSince({ lastChange: null, now: noon, speed: 1 })).toBeNull();
  expect(nextSince({ lastChange: noon - hourMs, now: noon, speed: 1 })).toBe(noon - hourMs + 1);
  expect(nextSince({ lastChange: noon - 1_000, now: noon, speed: 1 })).toBe(noon - 1_000 - 2 * minuteMs);
  // A change of a worker whose clock is ahead of ours.
  expect(nextSince({ lastChange: noon + 5_000, now: noon, speed: 1 })).toBe(noon - 2 * minuteMs);
  // On a fast sandbox two real minutes are many of its own.
  expect(nextSince({ lastChange: noon - hourMs, now: noon, speed: 600 })).toBe(noon - hourMs - 1_200 * minuteMs);
});

test.for(bothDialects)('a job that follows the deltas sees every change, also one that was committed late: %s', async (dialect) => {
  const scenario = await mixed(dialect);
  const seen = new Map<number, string | null>();
  let from = 0;
  const delta = async (now: number): Promise<void> => {
    const next = nextSince({ lastChange: await lastChange(scenario.store.db, 'spring'), now, speed: 1 });
    for await (const row of readResults(scenario.store.db, 'spring', { ...everyResult, changedSince: from }))
      seen.set(row.row, row.disposition);
    from = next ?? from;
  };
  await delta(noon + 5 * minuteMs + 1);
  // Its time lies before the last change that was seen: its transaction began earlier and took longer.
  await settle(scenario, 'spring/5/1', 'no_answer', noon + 4 * minuteMs);
  await delta(noon + 6 * minuteMs);
  expect(seen.get(5)).toBe('no_answer');
  expect(from).toBe(noon + 3 * minuteMs);
  await delta(noon + hourMs);
  expect(from).toBe(noon + 5 * minuteMs + 1);
  expect(await since(scenario, from)).toEqual([]);
});
