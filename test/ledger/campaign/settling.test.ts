import { expect } from 'vitest';
import type { Disposition } from '../../../src/rules/disposition.ts';
import { Random } from '../../../src/sandbox/core/random.ts';
import { readAggregates } from '../../../src/ledger/aggregates.ts';
import { readStatus } from '../../../src/ledger/campaign/campaign-status.ts';
import { findRound, openRound } from '../../../src/ledger/campaign/rounds.ts';
import { readResults, type RecipientResult } from '../../../src/ledger/read/result-rows.ts';
import { buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { beginOn, test, unjudged } from '../ledger-test.ts';
import { answered, beginProven, noon, numbers, type Scenario } from '../scenario.ts';

const [first = '', second = ''] = numbers(2);
/** Posting window, HTTP limits and late delivery after the POST. */
const holdAfter = noon + 10_000 + minuteMs + 15 * minuteMs;

test.from(beginOn, { rows: 2 })('an undecided record keeps a batch from being held', async (scenario) => {
  await scenario.lose(1);
  const ringing = { conversationId: 'somebody', startedAt: noon + 5_000, hasTranscript: true };
  await scenario.sweep(noon + minuteMs, [ringing]);
  await scenario.sweep(holdAfter + minuteMs);
  expect(await scenario.batch(1)).toMatchObject({ state: 'unknown' });
});

test('a round closes when nothing is left to do, once, and the next begins when somebody waits', async (dialect) => {
  const scenario = await beginOn(dialect, { rows: 2 });
  const { store } = scenario;
  await scenario.lose(1);
  expect(await scenario.close()).toBe(false);
  await scenario.sweep(holdAfter + minuteMs);
  const end = holdAfter + 2 * minuteMs;
  for (const at of [end, end + 1]) expect(await scenario.close(at)).toBe(true);
  expect(await findRound(store.db, 'spring', 1)).toMatchObject({ endedAt: end });
  expect(await scenario.campaign()).toMatchObject({ state: 'completed', round: 1 });
  expect(await openRound(store, 'spring', end)).toBeUndefined();
  await scenario.resolve('redial', end);
  // A worker that stood still while the round ended plans nothing in it any more.
  expect(await scenario.plan(2, end)).toEqual({ kind: 'done' });
  const next = await openRound(store, 'spring', end);
  expect(next).toMatchObject({ round: 2, workflowId: 'campaign/spring/2', endedAt: null });
  expect(await openRound(store, 'spring', end)).toEqual(next);
  expect(await scenario.campaign()).toMatchObject({ state: 'running', round: 2 });
});

const dispositions = ['answered', 'voicemail', 'busy', 'no_answer', 'unreached', 'failed', 'opted_out', 'unknown'] as const;

async function recount(scenario: Scenario): Promise<Record<string, number>> {
  const counts = new Map<string, number>();
  const add = (kind: string, value: string) => counts.set(`${kind} ${value}`, (counts.get(`${kind} ${value}`) ?? 0) + 1);
  for (const row of await scenario.recipients()) if (row.outcome !== null) add('outcome', row.outcome);
  for (const row of await scenario.attempts()) if (row.state === 'settled') add('disposition', row.disposition ?? '');
  return Object.fromEntries(counts);
}

test.from(beginOn, { rows: 8 })('running counts equal a recount after any corrections', async (scenario) => {
  const random = new Random('corrections', 1);
  let now = noon;
  for (let n = 1; n <= 6; n += 1) {
    now += hourMs;
    const { kind } = await scenario.plan(n, now);
    if (kind === 'batch') await scenario.dial(n, now);
    for (let change = 0; change < 25; change += 1) {
      const attempts = (await scenario.attempts()).filter((row) => row.state === 'open' || row.state === 'settled');
      const { attempt_id: id } = random.pick(attempts as [(typeof attempts)[number], ...typeof attempts]);
      const disposition: Disposition = random.pick(dispositions);
      for (let times = random.chance(0.3) ? 2 : 1; times > 0; times -= 1)
        await scenario.settle(id, disposition, now, { counted: disposition !== 'failed' });
      const kept = (await readAggregates(scenario.store.db, 'spring')).map((row) => [`${row.kind} ${row.value}`, row.count]);
      expect(Object.fromEntries(kept)).toEqual(await recount(scenario));
    }
    if (kind !== 'batch') break;
  }
  const rows = await scenario.recipients();
  for (const { recipient_id: id, counted, state, outcome } of rows) {
    const own = (await scenario.attempts()).filter((row) => row.recipient_id === id && row.state !== 'released');
    expect([id, counted]).toEqual([id, own.filter((row) => row.counted === 1).length]);
    expect([id, state === 'open']).toEqual([id, own.some((row) => row.state !== 'settled')]);
    expect([id, outcome !== null]).toEqual([id, state === 'done']);
    // Who was reached by any of the calls is not called again.
    if (own.some((row) => row.disposition === 'answered')) expect(state).not.toBe('waiting');
  }
  const status = await readStatus(scenario.store.db, await scenario.campaign());
  expect(status.done).toBe(rows.filter((row) => row.state === 'done').length);
});

test('collected values and evaluations are counted once each, however often they are read', async (dialect) => {
  const scenario = await beginOn(dialect, { rows: 2 });
  await scenario.dial(1);
  await scenario.sweep(
    noon + minuteMs,
    [first, second].map((number, index) => answered(`conv_${index}`, number, noon + 5_000)),
  );
  await scenario.sweep(noon + 2 * minuteMs);
  const counts = (await readAggregates(scenario.store.db, 'spring')).filter((row) => row.kind === 'collected');
  expect(counts).toEqual([{ kind: 'collected', key: 'appointment', value: 'confirmed', count: 2 }]);
});

test('results come in file order, whatever the order of the calls, page by page', async (dialect) => {
  unjudged();
  const number = (index: number) => `+1${201 + Math.floor(index / 90)}55501${String(10 + (index % 90))}`;
  const list = Array.from({ length: 1_203 }, (_, index) => number(index));
  const rows = buildRows(list, (index) => `Guest ${index}`);
  const scenario = await beginOn(dialect, { rows: rows.toReversed() });
  const [called = ''] = await scenario.dial(1);
  await scenario.settle(called, 'busy', noon + minuteMs);
  await scenario.dial(2, noon + hourMs);
  await scenario.settle('spring/1/2', 'answered', noon + 2 * hourMs, { detail: 'silent' });
  const results: RecipientResult[] = [];
  for await (const row of readResults(scenario.store.db, 'spring')) results.push(row);
  expect(results.map(({ row, cells }) => [row, cells])).toEqual(rows.map(({ row, cells }) => [row, cells]));
  const dialed = { firstDialedAt: noon, lastDialedAt: noon + hourMs };
  expect(results[0]).toMatchObject({ outcome: 'completed', attempts: 2, disposition: 'answered', detail: 'silent', ...dialed });
  expect(results.at(-1)).toMatchObject({ row: 1_203, outcome: 'in_progress', attempts: 0, disposition: null });
});

test.from(beginOn, { rows: 1 })('an opt-out heard in a call is a suppression for every campaign', async (spring) => {
  const autumn = await beginProven(spring.store, { campaignId: 'autumn', rows: 1 });
  await spring.dial(1);
  await spring.sweep(noon + minuteMs, [{ ...answered('conv', first, noon + 5_000), collected: { opt_out: true } }]);
  expect(await spring.outcomes()).toEqual(['opted_out']);
  expect(await autumn.plan(1, noon + hourMs)).toEqual({ kind: 'done' });
  expect(await autumn.outcomes()).toEqual(['suppressed']);
});
