import { expect, test } from 'vitest';
import type { Disposition } from '../../../src/rules/disposition.ts';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { verifyLog } from '../../../src/verify/log.ts';
import { buildRows, minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { listRows, told, upload } from '../edit-world.ts';
import { beginProven, noon, numbers, type Scenario } from '../scenario.ts';
import { dialects, type TestDialect } from '../test-stores.ts';

const oneByOne = { maxConcurrentCalls: 1, startsPerMinute: null, batchSize: 1, refillThreshold: 1 };
/** As the rules of these campaigns have it for a line that was busy. */
const busyMs = 5 * minuteMs;

function rowsWith(priorities: readonly (number | null)[]) {
  const rows = buildRows(numbers(priorities.length), (index) => `Guest ${index} of ours`);
  return rows.map((row, index) => ({ ...row, priority: priorities[index] ?? null }));
}

async function settle({ store, campaignId }: Scenario, attemptId: string, disposition: Disposition, now: number): Promise<void> {
  const result = { disposition, detail: null, counted: true };
  await store.transaction((tx) => settleAttempts(tx, { campaignId, now }, [{ attemptId, result }]));
}

/** Places one call after the other, a minute apart; every third first call finds the line busy. Answers who was called in which minute. */
async function callAll(scenario: Scenario, minutes: number): Promise<{ row: number; retry: boolean }[]> {
  const calls: { row: number; retry: boolean }[] = [];
  let firsts = 0;
  for (let n = 1; n <= minutes; n++) {
    const now = noon + n * minuteMs;
    const [attemptId = ''] = await scenario.dial(n, now);
    const [, row, number] = attemptId.split('/').map(Number);
    const retry = number !== 1;
    if (!retry) firsts += 1;
    calls.push({ row: row ?? 0, retry });
    await settle(scenario, attemptId, !retry && firsts % 3 === 0 ? 'busy' : 'answered', now + 1);
  }
  return calls;
}

async function begin(dialect: TestDialect, priorities: readonly (number | null)[]): Promise<Scenario> {
  return beginProven(await openCleanStore(dialect), { rows: rowsWith(priorities), rules: { pacing: oneByOne } });
}

test.for(dialects)('first calls go by priority, 1 first; a row that says none has 50; equals go in file order: %s', async (dialect) => {
  const scenario = await begin(dialect, [null, 100, 51, 50, 1, 49, 1]);
  const calls = await callAll(scenario, 7);
  const firsts = calls.filter(({ retry }) => !retry).map(({ row }) => row);
  expect(firsts).toEqual([5, 7, 6, 1, 4, 3, 2]);
  expect((await verifyLog(scenario.store.db, 'spring')).rules.flatMap(({ violations }) => violations)).toEqual([]);
});

test.for(dialects)(
  'however many first calls of priority 1 wait, retries are dialled at the same times as without any: %s',
  async (dialect) => {
    const minutes = 40;
    const retriesOf = async (priority: number | null) => {
      const calls = await callAll(await begin(dialect, Array<number | null>(minutes).fill(priority)), minutes);
      const busy: number[] = [];
      let firsts = 0;
      for (const [minute, { retry }] of calls.entries()) if (!retry && (firsts += 1) % 3 === 0) busy.push(minute);
      const dialled = calls.flatMap(({ retry }, minute) => (retry ? [minute] : []));
      // Each is dialled in the first minute after its delay.
      expect(dialled).toEqual(busy.map((minute) => minute + busyMs / minuteMs + 1).filter((minute) => minute < minutes));
      return dialled;
    };
    const dialled = await retriesOf(1);
    expect(dialled.length).toBeGreaterThan(5);
    expect(dialled).toEqual(await retriesOf(null));
  },
);

test.for(dialects)('a corrected priority moves a row that nobody has called, and no retry: %s', async (dialect) => {
  const rows = listRows(4).map((row) => ({ ...row, priority: 50 }));
  const scenario = await beginProven(await openCleanStore(dialect), { rows, rules: { pacing: oneByOne } });
  const [first = ''] = await scenario.dial(1, noon);
  await settle(scenario, first, 'busy', noon);
  const corrected = [100, 50, 50, 2].flatMap((priority, at) => rows.slice(at, at + 1).map((row) => ({ ...row, priority })));
  expect(told(await upload(scenario.store, corrected))).toEqual(['corrected', 'unchanged', 'unchanged', 'corrected']);
  expect((await scenario.recipients()).map(({ rank }) => rank)).toEqual([0, 50, 50, 2]);
  expect(await scenario.dial(2, noon + busyMs)).toEqual(['spring/1/2']);
});
