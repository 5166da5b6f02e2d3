import { expect, test } from 'vitest';
import type { AttemptResult, Disposition } from '../../../src/rules/disposition.ts';
import { Random } from '../../../src/sandbox/core/random.ts';
import { readAggregates } from '../../../src/ledger/aggregates.ts';
import { readStatus } from '../../../src/ledger/campaign/campaign-status.ts';
import { resolveUnresolved } from '../../../src/ledger/people/resolve.ts';
import { readResults, type RecipientResult } from '../../../src/ledger/read/result-rows.ts';
import { closeRound, findRound, openRound } from '../../../src/ledger/campaign/rounds.ts';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { answered, beginProven, noon, numbers, Scenario, type ScenarioOptions } from '../scenario.ts';
import { dialects, openTestStore, type TestDialect } from '../test-stores.ts';

/** Posting window, HTTP limits and late delivery after the POST. */
const holdAfter = noon + 10_000 + minuteMs + 15 * minuteMs;

/** A campaign whose first batch was posted and never answered. */
async function loseReply(dialect: TestDialect, options: ScenarioOptions = {}): Promise<Scenario> {
  const rows = buildRows(numbers(2), (index) => `Guest ${index}`);
  const scenario = await beginProven(await openTestStore(dialect), { rows, ...options });
  await scenario.plan(1);
  await scenario.post(1);
  await scenario.post(1);
  return scenario;
}

test.for(dialects)('a batch without evidence is held only after its time and a complete sweep begun later: %s', async (dialect) => {
  const scenario = await loseReply(dialect);
  expect((await scenario.batch(1))?.hold_after).toBe(holdAfter);
  for (const at of [noon + minuteMs, holdAfter - 1, holdAfter]) {
    await scenario.sweep(at);
    expect(await scenario.batch(1)).toMatchObject({ state: 'unknown' });
  }
  await scenario.sweep(holdAfter + minuteMs, [], false);
  expect(await scenario.batch(1)).toMatchObject({ state: 'unknown' });
  await scenario.sweep(holdAfter + minuteMs);
  expect(await scenario.batch(1)).toMatchObject({ state: 'held', reason: 'no_evidence' });
  expect(await scenario.recipients()).toMatchObject([{ outcome: 'unresolved' }, { outcome: 'unresolved' }]);
  expect((await scenario.attempts())[0]).toMatchObject({ state: 'settled', disposition: 'unknown', detail: 'held' });
});

test.for(dialects)('an undecided record keeps a batch from being held: %s', async (dialect) => {
  const scenario = await loseReply(dialect);
  const ringing = { conversationId: 'somebody', startedAt: noon + 5_000, hasTranscript: true };
  await scenario.sweep(noon + minuteMs, [ringing]);
  await scenario.sweep(holdAfter + minuteMs);
  expect(await scenario.batch(1)).toMatchObject({ state: 'unknown' });
});

test.for(dialects)('one conversation proves that the batch was accepted; the others stay unknown, never unreached: %s', async (dialect) => {
  const scenario = await loseReply(dialect);
  await scenario.sweep(noon + minuteMs, [answered('conv', numbers(1)[0] ?? '', noon + 5_000)]);
  expect(await scenario.batch(1)).toMatchObject({ state: 'confirmed', accepted_by: 'evidence' });
  for (let at = noon + 2 * minuteMs; at < noon + hourMs; at += minuteMs) await scenario.sweep(at);
  expect(await scenario.attempts()).toMatchObject([
    { disposition: 'answered', evidence: 'number', conversation_id: 'conv' },
    { disposition: 'unknown', detail: 'no_record' },
  ]);
  expect(await scenario.recipients()).toMatchObject([{ outcome: 'completed' }, { outcome: 'unresolved' }]);
});

test.for(dialects)('in a batch confirmed by its reply, no record by the deadline is unreached and counts: %s', async (dialect) => {
  const scenario = await beginProven(await openTestStore(dialect), { rows: buildRows(numbers(1), () => 'G') });
  await scenario.dial(1);
  for (let at = noon; at <= noon + 20 * minuteMs; at += minuteMs) await scenario.sweep(at);
  expect((await scenario.attempts())[0]).toMatchObject({ state: 'open' });
  await scenario.sweep(noon + 21 * minuteMs);
  expect((await scenario.attempts())[0]).toMatchObject({ disposition: 'unreached', counted: 1 });
});

test.for(dialects)('time in which nobody could look does not count towards the deadline: %s', async (dialect) => {
  const scenario = await beginProven(await openTestStore(dialect), { rows: buildRows(numbers(1), () => 'G') });
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs);
  await scenario.sweep(noon + 2 * hourMs);
  expect((await scenario.attempts())[0]).toMatchObject({ state: 'open' });
});

test.for(dialects)('a record that comes after everything else corrects the disposition: %s', async (dialect) => {
  const scenario = await loseReply(dialect);
  await scenario.sweep(holdAfter + minuteMs);
  await scenario.sweep(holdAfter + 2 * minuteMs, [answered('late', numbers(1)[0] ?? '', noon + 5 * minuteMs)]);
  expect((await scenario.attempts())[0]).toMatchObject({ disposition: 'answered', conversation_id: 'late' });
  expect((await scenario.recipients())[0]).toMatchObject({ state: 'done', outcome: 'completed' });
});

test.for(dialects)('nobody may decide about a batch that something may yet be heard of: %s', async (dialect) => {
  const scenario = await loseReply(dialect);
  const early = await resolveUnresolved(scenario.store, { campaignId: 'spring', now: noon + minuteMs }, 'redial');
  expect(early).toEqual({ recipients: 0, apart: 0, tooEarly: 1, decidableAt: holdAfter });
  expect(await scenario.batch(1)).toMatchObject({ state: 'unknown' });
});

test.for(dialects)('redial puts the doubtful recipients back in line, uncounted, once: %s', async (dialect) => {
  const scenario = await loseReply(dialect);
  await scenario.sweep(holdAfter + minuteMs);
  const now = holdAfter + 2 * minuteMs;
  expect(await resolveUnresolved(scenario.store, { campaignId: 'spring', now }, 'redial')).toMatchObject({
    recipients: 2,
    tooEarly: 0,
  });
  expect(await resolveUnresolved(scenario.store, { campaignId: 'spring', now }, 'redial')).toMatchObject({
    recipients: 0,
  });
  expect(await scenario.batch(1)).toMatchObject({ state: 'redial' });
  expect(await scenario.recipients()).toMatchObject([
    { state: 'waiting', called: 1, rank: 0, counted: 0, outcome: null, due_at: now },
    { state: 'waiting', called: 1, rank: 0, counted: 0, outcome: null, due_at: now },
  ]);
  expect(await scenario.dial(2, now)).toEqual(['spring/1/2', 'spring/2/2']);
  expect(await readAggregates(scenario.store.db, 'spring')).toEqual([{ kind: 'disposition', key: '', value: 'unknown', count: 2 }]);
});

test.for(dialects)('giving up keeps the outcome and is not asked about again: %s', async (dialect) => {
  const scenario = await loseReply(dialect);
  await scenario.sweep(holdAfter + minuteMs);
  expect(await resolveUnresolved(scenario.store, { campaignId: 'spring', now: noon + hourMs }, 'give_up')).toMatchObject({ recipients: 2 });
  expect(await resolveUnresolved(scenario.store, { campaignId: 'spring', now: noon + hourMs }, 'redial')).toMatchObject({ recipients: 0 });
  expect(await scenario.batch(1)).toMatchObject({ state: 'given_up' });
  expect((await scenario.recipients())[0]).toMatchObject({ outcome: 'unresolved', reason: 'given_up', counted: 1 });
});

test.for(dialects)('a round closes when nothing is left to do, once, and the next begins when somebody waits: %s', async (dialect) => {
  const scenario = await loseReply(dialect);
  const { store } = scenario;
  expect(await closeRound(store, { campaignId: 'spring', now: noon }, 1)).toBe(false);
  await scenario.sweep(holdAfter + minuteMs);
  const end = holdAfter + 2 * minuteMs;
  expect(await closeRound(store, { campaignId: 'spring', now: end }, 1)).toBe(true);
  expect(await closeRound(store, { campaignId: 'spring', now: end + 1 }, 1)).toBe(true);
  expect(await findRound(store.db, 'spring', 1)).toMatchObject({ endedAt: end });
  expect(await scenario.campaign()).toMatchObject({ state: 'completed', round: 1 });
  expect(await openRound(store, 'spring', end)).toBeUndefined();
  await resolveUnresolved(store, { campaignId: 'spring', now: end }, 'redial');
  // A worker that stood still while the round ended plans nothing in it any more.
  expect(await scenario.plan(2, end)).toEqual({ kind: 'done' });
  const next = await openRound(store, 'spring', end);
  expect(next).toMatchObject({ round: 2, workflowId: 'campaign/spring/2', endedAt: null });
  expect(await openRound(store, 'spring', end)).toEqual(next);
  expect(await scenario.campaign()).toMatchObject({ state: 'running', round: 2 });
});

test.for(dialects)('calls that the service did not queue go back in line when every match is certain: %s', async (dialect) => {
  const rows = buildRows(numbers(3), (index) => `Guest ${index}`);
  const scenario = await beginProven(await openTestStore(dialect), { rows });
  await scenario.plan(1);
  await scenario.post(1);
  await scenario.verdict(1, 'confirmed', { callsInitiated: 1 });
  const record = { ...answered('conv', numbers(1)[0] ?? '', noon + 5_000), batchId: 'service_1' };
  await scenario.sweep(noon + minuteMs, [record]);
  for (let at = noon + 2 * minuteMs; at <= noon + 25 * minuteMs; at += minuteMs) await scenario.sweep(at);
  expect(await scenario.attempts()).toMatchObject([
    { disposition: 'answered', evidence: 'batch_and_number' },
    { state: 'released', reason: 'not_queued', counted: 0 },
    { state: 'released', reason: 'not_queued', counted: 0 },
  ]);
});

const dispositions: Disposition[] = ['answered', 'voicemail', 'busy', 'no_answer', 'unreached', 'failed', 'opted_out', 'unknown'];

async function recount(scenario: Scenario): Promise<Record<string, number>> {
  const counts = new Map<string, number>();
  const add = (kind: string, value: string) => counts.set(`${kind} ${value}`, (counts.get(`${kind} ${value}`) ?? 0) + 1);
  for (const row of await scenario.recipients()) if (row.outcome !== null) add('outcome', row.outcome);
  for (const row of await scenario.attempts()) if (row.state === 'settled') add('disposition', row.disposition ?? '');
  return Object.fromEntries(counts);
}

test.for(dialects)('running counts equal a recount after any corrections: %s', async (dialect) => {
  const rows = buildRows(numbers(8), (index) => `Guest ${index}`);
  const scenario = await beginProven(await openTestStore(dialect), { rows });
  const random = new Random('corrections', 1);
  let now = noon;
  for (let n = 1; n <= 6; n += 1) {
    now += hourMs;
    const plan = await scenario.plan(n, now);
    if (plan.kind === 'batch') {
      await scenario.post(n, now);
      await scenario.verdict(n, 'confirmed', { now });
    }
    for (let change = 0; change < 25; change += 1) {
      const attempts = (await scenario.attempts()).filter((row) => row.state === 'open' || row.state === 'settled');
      const attempt = random.pick(attempts as [(typeof attempts)[number], ...typeof attempts]);
      const disposition = random.pick(dispositions as [Disposition, ...Disposition[]]);
      const result: AttemptResult = { disposition, detail: null, counted: disposition !== 'failed' };
      const settlement = { attemptId: attempt.attempt_id, result };
      await scenario.store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now }, [settlement]));
      if (random.chance(0.3)) await scenario.store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now }, [settlement]));
      const kept = (await readAggregates(scenario.store.db, 'spring')).map((row) => [`${row.kind} ${row.value}`, row.count]);
      expect(Object.fromEntries(kept)).toEqual(await recount(scenario));
    }
    if (plan.kind !== 'batch') break;
  }
  const status = await readStatus(scenario.store.db, await scenario.campaign());
  expect(status.done).toBe((await scenario.recipients()).filter((row) => row.state === 'done').length);
});

test.for(dialects)('collected values and evaluations are counted once each, however often they are read: %s', async (dialect) => {
  const scenario = await beginProven(await openTestStore(dialect), {
    rows: buildRows(numbers(2), (index) => `G${index}`),
  });
  await scenario.dial(1);
  const records = numbers(2).map((number, index) => answered(`conv_${index}`, number, noon + 5_000));
  await scenario.sweep(noon + minuteMs, records);
  await scenario.sweep(noon + 2 * minuteMs);
  const counts = await readAggregates(scenario.store.db, 'spring');
  expect(counts.filter((row) => row.kind === 'collected')).toEqual([
    { kind: 'collected', key: 'appointment', value: 'confirmed', count: 2 },
  ]);
});

test.for(dialects)('results come in file order, whatever the order of the calls, page by page: %s', async (dialect) => {
  const number = (index: number) => `+1${201 + Math.floor(index / 90)}55501${String(10 + (index % 90))}`;
  const rows = buildRows(
    Array.from({ length: 1_203 }, (_, index) => number(index)),
    (index) => `Guest ${index}`,
  );
  const scenario = await beginProven(await openTestStore(dialect), { rows: rows.toReversed() });
  await scenario.dial(1);
  const results: RecipientResult[] = [];
  for await (const row of readResults(scenario.store.db, 'spring')) results.push(row);
  expect(results.map((row) => row.row)).toEqual(rows.map((row) => row.row));
  expect(results.map((row) => row.cells)).toEqual(rows.map((row) => row.cells));
  expect(results.filter((row) => row.attempts > 0)).toHaveLength(20);
  expect(results.every((row) => row.outcome === 'in_progress')).toBe(true);
});

test.for(dialects)('an opt-out heard in a call is a suppression for every campaign: %s', async (dialect) => {
  const store = await openTestStore(dialect);
  const rows = buildRows(numbers(1), () => 'Guest');
  const spring = await beginProven(store, { rows });
  const autumn = await beginProven(store, { campaignId: 'autumn', rows });
  await spring.dial(1);
  await spring.sweep(noon + minuteMs, [{ ...answered('conv', numbers(1)[0] ?? '', noon + 5_000), collected: { opt_out: true } }]);
  expect((await spring.recipients())[0]).toMatchObject({ outcome: 'opted_out' });
  expect(await autumn.plan(1, noon + hourMs)).toEqual({ kind: 'done' });
  expect((await autumn.recipients())[0]).toMatchObject({ outcome: 'suppressed' });
});
