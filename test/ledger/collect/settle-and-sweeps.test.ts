import { expect, test } from 'vitest';
import { readAggregates } from '../../../src/ledger/aggregates.ts';
import { closeRound, findRound } from '../../../src/ledger/campaign/rounds.ts';
import { concludeSweep } from '../../../src/ledger/collect/conclude.ts';
import { gatherWrites } from '../../../src/ledger/collect/gathered-writes.ts';
import { leaseAgent } from '../../../src/ledger/collect/sweeps.ts';
import { countOpen } from '../../../src/ledger/limits/counters.ts';
import { resolveUnresolved } from '../../../src/ledger/people/resolve.ts';
import { readResults } from '../../../src/ledger/read/result-rows.ts';
import { endCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { updateAgent } from '../../../src/ledger/updates.ts';
import { type AttemptResult, dispositions } from '../../../src/rules/disposition.ts';
import { buildRows, buildRules, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { agentId, answered, beginProven, noon, numbers, type Scenario } from '../scenario.ts';
import { bothDialects, dialects } from '../test-stores.ts';
import type { Store } from '../../../src/ledger/tx.ts';

const [first = '', second = '', third = ''] = numbers(3);
const rowsFor = (count: number) => buildRows(numbers(count), (index) => `Guest ${index}`);
const settleAt = noon + 20 * minuteMs;
/** Ten seconds to begin the POST, a minute for its answer, and a quarter of an hour for a server that hung. */
const holdAfter = noon + 70_000 + 15 * minuteMs;

/** Complete sweeps, close enough together for the settle deadline to run, up to and including `to`. */
async function sweepUntil(scenario: Scenario, from: number, to: number): Promise<void> {
  for (let now = from; now < to; now += 2 * minuteMs) await scenario.sweep(now);
  await scenario.sweep(to);
}

async function dispositionsOf(scenario: Scenario) {
  return (await scenario.attempts()).map((row) => row.disposition ?? row.state);
}

async function postUnknown(scenario: Scenario): Promise<void> {
  await scenario.plan(1);
  await scenario.post(1);
  await scenario.verdict(1, 'unknown');
}

test.for(dialects)('nobody is unreached before a complete sweep that began after the deadline: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rows: rowsFor(2) });
  await scenario.dial(1);
  await sweepUntil(scenario, noon, settleAt);
  expect(await dispositionsOf(scenario)).toEqual(['open', 'open']);
  // One that ended long after the deadline and began before it has read a list from before it.
  await store.transaction((tx) => concludeSweep(tx, agentId, { begunAt: settleAt, deepFrom: 0, now: settleAt + minuteMs }));
  expect(await dispositionsOf(scenario)).toEqual(['open', 'open']);
  await scenario.sweep(settleAt + minuteMs, [], false);
  expect(await dispositionsOf(scenario)).toEqual(['open', 'open']);
  await scenario.sweep(settleAt + minuteMs);
  expect(await dispositionsOf(scenario)).toEqual(['unreached', 'unreached']);
  expect((await scenario.recipients())[0]).toMatchObject({ state: 'waiting', called: 1, rank: 0, counted: 1 });
});

test.for(dialects)('time in which nobody looked concludes nothing: %s', async (dialect) => {
  const scenario = await beginProven(await openCleanStore(dialect), { rows: rowsFor(1) });
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs);
  const back = noon + 5 * hourMs;
  await scenario.sweep(back);
  expect(await dispositionsOf(scenario)).toEqual(['open']);
  await sweepUntil(scenario, back, back + 18 * minuteMs);
  expect(await dispositionsOf(scenario)).toEqual(['open']);
  await sweepUntil(scenario, back + 19 * minuteMs, back + 20 * minuteMs + 1);
  expect(await dispositionsOf(scenario)).toEqual(['unreached']);
});

test.for(dialects)('a record of nobody that has not been read to its end puts the conclusion off: %s', async (dialect) => {
  const scenario = await beginProven(await openCleanStore(dialect), { rows: rowsFor(1) });
  await scenario.dial(1);
  const ringing = { conversationId: 'whose', startedAt: noon + 5_000, status: 'in-progress' as const };
  await scenario.sweep(noon + minuteMs, [ringing]);
  await sweepUntil(scenario, noon + 2 * minuteMs, settleAt + 4 * minuteMs);
  expect(await dispositionsOf(scenario)).toEqual(['open']);
  const over = { ...answered('whose', '+12125550100', noon + 5_000) };
  await scenario.sweep(settleAt + 6 * minuteMs, [over]);
  expect(await dispositionsOf(scenario)).toEqual(['unreached']);
});

test.for(dialects)('who has no record of a batch that only evidence accepted is unknown, not unreached: %s', async (dialect) => {
  const scenario = await beginProven(await openCleanStore(dialect), { rows: rowsFor(2) });
  await postUnknown(scenario);
  await scenario.sweep(noon + minuteMs, [answered('c1', first, noon + 5_000)]);
  expect(await scenario.batch(1)).toMatchObject({ state: 'confirmed', accepted_by: 'evidence' });
  await sweepUntil(scenario, noon + 2 * minuteMs, noon + 21 * minuteMs);
  expect(await dispositionsOf(scenario)).toEqual(['answered', 'open']);
  await scenario.sweep(noon + 21 * minuteMs + 1);
  expect(await dispositionsOf(scenario)).toEqual(['answered', 'unknown']);
  expect((await scenario.recipients()).map((row) => row.outcome)).toEqual(['completed', 'unresolved']);
});

const fewer = [
  { by: 'their references', certain: true, initiated: 2, ends: ['answered', 'answered', 'released'] },
  { by: 'their numbers', certain: false, initiated: 2, ends: ['answered', 'answered', 'unreached'] },
  {
    by: 'their references, one still missing',
    certain: true,
    initiated: 3,
    ends: ['answered', 'answered', 'unreached'],
  },
];
const fewerCases = dialects.flatMap((dialect) => fewer.map((one) => ({ dialect, ...one })));

test.for(fewerCases)('of three calls $initiated were queued and two are known by $by, $dialect', async (given) => {
  const scenario = await beginProven(await openCleanStore(given.dialect), { rows: rowsFor(3) });
  await scenario.plan(1);
  await scenario.post(1);
  await scenario.verdict(1, 'confirmed', { callsInitiated: given.initiated });
  const references = (await scenario.attempts()).map((row) => (given.certain ? [row.reference ?? ''] : []));
  const records = [first, second].map((number, index) => ({
    ...answered(`c${index}`, number, noon + 5_000),
    references: references[index] ?? [],
  }));
  await scenario.sweep(noon + minuteMs, records);
  await sweepUntil(scenario, noon + 2 * minuteMs, noon + 21 * minuteMs);
  expect(await dispositionsOf(scenario)).toEqual(['answered', 'answered', 'open']);
  await scenario.sweep(noon + 21 * minuteMs + 1);
  expect(await dispositionsOf(scenario)).toEqual(given.ends);
  const released = given.ends[2] === 'released';
  expect((await scenario.recipients())[2]).toMatchObject({ state: 'waiting', counted: released ? 0 : 1 });
});

test.for(dialects)('a call that the service leaves out again and again counts in the end: %s', async (dialect) => {
  const scenario = await beginProven(await openCleanStore(dialect), { rows: rowsFor(1) });
  let now = noon;
  for (const n of [1, 2, 3, 4]) {
    await scenario.plan(n, now);
    await scenario.post(n, now);
    await scenario.verdict(n, 'confirmed', { now, callsInitiated: 0 });
    await sweepUntil(scenario, now, now + 20 * minuteMs + 1);
    now += 21 * minuteMs;
  }
  expect(await dispositionsOf(scenario)).toEqual(['released', 'released', 'released', 'failed']);
  expect((await scenario.recipients())[0]).toMatchObject({ state: 'waiting', attempts: 4, counted: 1 });
});

test.for(dialects)('a batch is held only after the latest instant at which it may still be heard of: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rows: rowsFor(2) });
  await postUnknown(scenario);
  expect(await scenario.batch(1)).toMatchObject({ state: 'unknown', hold_after: holdAfter });
  await sweepUntil(scenario, noon, holdAfter);
  expect(await scenario.batch(1)).toMatchObject({ state: 'unknown' });
  await scenario.sweep(holdAfter + 1, [], false);
  expect(await scenario.batch(1)).toMatchObject({ state: 'unknown' });
  expect(await countOpen(store.db, 'spring')).toBe(2);
  await scenario.sweep(holdAfter + 1);
  expect(await scenario.batch(1)).toMatchObject({ state: 'held', reason: 'no_evidence' });
  expect(await countOpen(store.db, 'spring')).toBe(0);
  const [recipient] = await scenario.recipients();
  expect(recipient).toMatchObject({ state: 'done', outcome: 'unresolved', reason: 'unknown' });
});

test.for(dialects)('nobody decides about a batch that may still be heard of: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rows: rowsFor(2) });
  await postUnknown(scenario);
  for (const decision of ['redial', 'give_up'] as const)
    expect(await resolveUnresolved(store, { campaignId: 'spring', now: noon + minuteMs }, decision)).toEqual({
      recipients: 0,
      apart: 0,
      tooEarly: 1,
      decidableAt: holdAfter,
    });
  expect(await scenario.batch(1)).toMatchObject({ state: 'unknown' });
  expect(await dispositionsOf(scenario)).toEqual(['open', 'open']);
});

test.for(dialects)('a person may have the doubtful ones called again, once: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rows: rowsFor(2) });
  await postUnknown(scenario);
  await scenario.sweep(holdAfter + 1);
  const now = noon + hourMs;
  expect(await resolveUnresolved(store, { campaignId: 'spring', now }, 'redial')).toMatchObject({
    recipients: 2,
    tooEarly: 0,
  });
  expect(await scenario.batch(1)).toMatchObject({ state: 'redial' });
  expect(await resolveUnresolved(store, { campaignId: 'spring', now }, 'redial')).toMatchObject({ recipients: 0 });
  for (const row of await scenario.recipients())
    expect(row).toMatchObject({ state: 'waiting', called: 1, rank: 0, counted: 0, due_at: now, outcome: null });
  expect(await readAggregates(store.db, 'spring', ['outcome'])).toEqual([]);
  expect(await scenario.dial(2, now)).toEqual(['spring/1/2', 'spring/2/2']);
});

test.for(dialects)('a person may give the doubtful ones up, once: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rows: rowsFor(2) });
  await postUnknown(scenario);
  await scenario.sweep(holdAfter + 1);
  const now = noon + hourMs;
  expect(await resolveUnresolved(store, { campaignId: 'spring', now }, 'give_up')).toMatchObject({ recipients: 2 });
  expect(await resolveUnresolved(store, { campaignId: 'spring', now }, 'redial')).toMatchObject({ recipients: 0 });
  expect(await scenario.batch(1)).toMatchObject({ state: 'given_up' });
  for (const row of await scenario.recipients()) expect(row).toMatchObject({ state: 'done', outcome: 'unresolved', reason: 'given_up' });
  expect(await scenario.plan(2, now)).toEqual({ kind: 'done' });
});

test.for(dialects)('a record found after its batch was held confirms it and settles its call: %s', async (dialect) => {
  const scenario = await beginProven(await openCleanStore(dialect), { rows: rowsFor(2) });
  await postUnknown(scenario);
  await scenario.sweep(holdAfter + 1);
  await scenario.sweep(holdAfter + minuteMs, [answered('c1', first, noon + 5_000)]);
  expect(await scenario.batch(1)).toMatchObject({ state: 'confirmed', accepted_by: 'evidence' });
  expect(await dispositionsOf(scenario)).toEqual(['answered', 'unknown']);
  expect((await scenario.recipients()).map((row) => row.outcome)).toEqual(['completed', 'unresolved']);
});

test.for(dialects)('a late record corrects what was concluded and calls a waiting retry off: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rows: rowsFor(2) });
  await scenario.dial(1);
  await sweepUntil(scenario, noon, settleAt + 1);
  expect(await dispositionsOf(scenario)).toEqual(['unreached', 'unreached']);
  const late = settleAt + 2 * minuteMs;
  await scenario.sweep(late, [answered('c1', first, noon + 5_000)]);
  expect(await dispositionsOf(scenario)).toEqual(['answered', 'unreached']);
  expect(await scenario.recipients()).toMatchObject([
    { state: 'done', outcome: 'completed' },
    { state: 'waiting', outcome: null },
  ]);
  expect(await readAggregates(store.db, 'spring', ['disposition'])).toMatchObject([
    { value: 'answered', count: 1 },
    { value: 'unreached', count: 1 },
  ]);
  expect(await scenario.dial(2, await scenario.lookAgain(late))).toEqual(['spring/2/2']);
});

test.for(dialects)('an opt-out that is heard of late stops every campaign of the database: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rows: rowsFor(1) });
  await scenario.dial(1);
  await sweepUntil(scenario, noon, settleAt + 1);
  const optedOut = { ...answered('c1', first, noon + 5_000), collected: { opt_out: true } };
  await scenario.sweep(settleAt + 2 * minuteMs, [optedOut]);
  expect(await scenario.recipients()).toMatchObject([{ state: 'done', outcome: 'opted_out' }]);
  expect(await store.db.selectFrom('suppressions').selectAll().execute()).toMatchObject([
    { e164: first, scope: 'account', source: 'call:spring/1/1', expires_at: null },
  ]);
  const autumn = await beginProven(store, { campaignId: 'autumn', rows: rowsFor(2), now: noon + hourMs });
  expect(await autumn.dial(1, noon + hourMs)).toEqual(['autumn/2/1']);
  expect((await autumn.recipients())[0]).toMatchObject({ outcome: 'suppressed' });
});

test.for(dialects)('who may still be heard of is not made unknown by a short settle time: %s', async (dialect) => {
  const timing = { ...buildRules().timing, settleMs: 2 * minuteMs };
  const scenario = await beginProven(await openCleanStore(dialect), { rows: rowsFor(2), rules: { timing } });
  await postUnknown(scenario);
  await scenario.sweep(noon + minuteMs, [answered('c1', first, noon + 5_000)]);
  await sweepUntil(scenario, noon + 2 * minuteMs, holdAfter);
  expect(await dispositionsOf(scenario)).toEqual(['answered', 'open']);
  await scenario.sweep(holdAfter + 1);
  expect(await dispositionsOf(scenario)).toEqual(['answered', 'unknown']);
});

test.for(dialects)('who turns out to be reached while another call is open is not called a third time: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rows: rowsFor(1) });
  const settle = (attemptId: string, disposition: 'busy' | 'answered', now: number) => {
    const result = { disposition, detail: null, counted: true };
    return store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now }, [{ attemptId, result }]));
  };
  await scenario.dial(1);
  await settle('spring/1/1', 'busy', noon + minuteMs);
  await scenario.dial(2, noon + hourMs);
  await settle('spring/1/1', 'answered', noon + hourMs + 1);
  // The newer call is left to its own end.
  expect((await scenario.recipients())[0]).toMatchObject({ state: 'open', outcome: null });
  await settle('spring/1/2', 'busy', noon + hourMs + minuteMs);
  expect((await scenario.recipients())[0]).toMatchObject({ state: 'done', outcome: 'completed', counted: 2 });
  expect(await scenario.plan(3, noon + 9 * hourMs)).toEqual({ kind: 'done' });
});

/** Numbers in [0, 1) from a seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function recount(store: Store, table: 'recipients' | 'attempts') {
  const column = table === 'recipients' ? 'outcome' : 'disposition';
  const rows = await store.db
    .selectFrom(table)
    .select((eb) => [eb.ref(column as never).as('value'), eb.fn.countAll<number>().as('count')])
    .where(column as never, 'is not', null)
    .groupBy(column as never)
    .orderBy(column as never)
    .execute();
  return rows as { value: string; count: number }[];
}

const seeds = process.env['SEED'] === undefined ? [1, 2] : [Number(process.env['SEED'])];
const seedCases = dialects.flatMap((dialect) => seeds.map((seed) => ({ dialect, seed })));

test.for(seedCases)('the counts equal a recount after 150 settlements and corrections: seed $seed, $dialect', async (given) => {
  const store = await openCleanStore(given.dialect);
  const random = seeded(given.seed);
  const retry = { ...buildRules().retry, maxAttempts: 4 };
  const pacing = { maxConcurrentCalls: 12, startsPerMinute: null, batchSize: 6, refillThreshold: 1 };
  const scenario = await beginProven(store, { rows: rowsFor(30), rules: { retry, pacing } });
  const posted: string[] = [];
  let now = noon;
  let n = 1;
  for (let step = 0; step < 150; step += 1) {
    now += 3 * minuteMs;
    if (random() < 0.3 || posted.length === 0) {
      const plan = await scenario.plan(n, now);
      if (plan.kind === 'batch') {
        posted.push(...(await scenario.dial(n, now)));
        n += 1;
      }
    }
    const disposition = dispositions[Math.floor(random() * dispositions.length)] ?? 'busy';
    const counted = disposition !== 'failed' || random() < 0.2;
    const result: AttemptResult = { disposition, detail: random() < 0.2 ? 'silent' : null, counted };
    // Mostly the latest ones, else one of long ago is corrected.
    const back = Math.floor(random() ** 2 * posted.length);
    const attemptId = posted[posted.length - 1 - back] ?? '';
    await store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now }, [{ attemptId, result }]));
  }
  const counts = async (kind: 'outcome' | 'disposition') =>
    (await readAggregates(store.db, 'spring', [kind])).map(({ value, count }) => ({ value, count }));
  expect(await counts('outcome')).toEqual(await recount(store, 'recipients'));
  expect(await counts('disposition')).toEqual(await recount(store, 'attempts'));
  expect((await counts('disposition')).length).toBeGreaterThan(5);

  const attempts = await scenario.attempts();
  for (const recipient of await scenario.recipients()) {
    const own = attempts.filter((row) => row.recipient_id === recipient.recipient_id && row.state !== 'released');
    const open = own.filter((row) => row.state !== 'settled');
    const counted = own.filter((row) => row.counted === 1).length;
    expect([recipient.recipient_id, recipient.counted]).toEqual([recipient.recipient_id, counted]);
    expect([recipient.recipient_id, recipient.state === 'open']).toEqual([recipient.recipient_id, open.length === 1]);
    expect(recipient.outcome !== null).toBe(recipient.state === 'done');
    // Whoever was reached by any of the calls is not called again.
    if (own.some((row) => row.disposition === 'answered')) expect(recipient.state).not.toBe('waiting');
  }
});

test.for(dialects)('a round ends only when nothing of it is left: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rows: rowsFor(1) });
  const close = (now: number) => closeRound(store, { campaignId: 'spring', now }, 1);
  expect(await close(noon)).toBe(false);
  await scenario.plan(1);
  expect(await close(noon)).toBe(false);
  await scenario.post(1);
  expect(await close(noon)).toBe(false);
  await scenario.verdict(1, 'confirmed', { callsInitiated: 1 });
  expect(await close(noon)).toBe(false);
  // Settled, and its results are still to come.
  const lagging = { ...answered('c1', first, noon + 5_000), collected: null, evaluation: null };
  await scenario.sweep(noon + minuteMs, [lagging]);
  expect(await dispositionsOf(scenario)).toEqual(['answered']);
  expect(await close(noon + minuteMs)).toBe(false);
  await scenario.sweep(noon + 2 * minuteMs, [answered('c1', first, noon + 5_000)]);
  expect(await findRound(store.db, 'spring', 1)).toMatchObject({ endedAt: null });
  expect(await close(noon + 2 * minuteMs)).toBe(true);
  expect(await scenario.campaign()).toMatchObject({ state: 'completed' });
  expect(await close(noon + hourMs)).toBe(true);
  expect(await findRound(store.db, 'spring', 1)).toMatchObject({ endedAt: noon + 2 * minuteMs });
});

test.for(dialects)('a waiting retry and a doubtful batch keep a round open: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const pacing = { maxConcurrentCalls: 50, startsPerMinute: null, batchSize: 1, refillThreshold: 1 };
  const scenario = await beginProven(store, { rows: rowsFor(2), rules: { pacing } });
  const [attemptId = ''] = await scenario.dial(1);
  await postAnother(scenario);
  const busy = { disposition: 'busy' as const, detail: null, counted: true };
  await store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now: noon }, [{ attemptId, result: busy }]));
  await endCampaign(store, { campaignId: 'spring', now: noon }, { why: 'cancelled' });
  expect(await closeRound(store, { campaignId: 'spring', now: noon }, 1)).toBe(false);
  // The planner gives the waiting one its outcome, and the doubtful batch is still waited for.
  expect(await scenario.plan(3)).toMatchObject({ kind: 'wait', reason: 'collecting' });
  expect(await closeRound(store, { campaignId: 'spring', now: noon }, 1)).toBe(false);
  await scenario.sweep(holdAfter + 1);
  expect(await closeRound(store, { campaignId: 'spring', now: holdAfter + 1 }, 1)).toBe(true);
  expect(await scenario.campaign()).toMatchObject({ state: 'cancelled' });
  expect((await scenario.recipients()).map((row) => row.outcome)).toEqual(['cancelled', 'unresolved']);
});

async function postAnother(scenario: Scenario): Promise<void> {
  await scenario.plan(2);
  await scenario.post(2);
  await scenario.verdict(2, 'unknown');
}

test.for(dialects)('results stream in file order, one row for each row of the list: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const count = 1_203;
  const rows = buildRows(
    Array.from({ length: count }, (_, index) => `+1212555${String(index).padStart(4, '0')}`),
    (index) => `Guest ${index}`,
  );
  const scenario = await beginProven(store, { rows: rows.toReversed() });
  const [attemptId = ''] = await scenario.dial(1);
  const settle = (id: string, result: AttemptResult, now: number) =>
    store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now }, [{ attemptId: id, result }]));
  await settle(attemptId, { disposition: 'busy', detail: null, counted: true }, noon + minuteMs);
  await scenario.dial(2, noon + hourMs);
  await settle('spring/1/2', { disposition: 'answered', detail: 'silent', counted: true }, noon + 2 * hourMs);

  const results = [];
  for await (const result of readResults(store.db, 'spring')) results.push(result);
  expect(results.map((result) => [result.row, result.cells])).toEqual(rows.map((row) => [row.row, row.cells]));
  expect(results[0]).toMatchObject({
    outcome: 'completed',
    attempts: 2,
    disposition: 'answered',
    detail: 'silent',
    firstDialedAt: noon,
    lastDialedAt: noon + hourMs,
  });
  expect(results.at(-1)).toMatchObject({ row: count, outcome: 'in_progress', attempts: 0, disposition: null });
});

test.for(dialects)('one process at a time sweeps an agent, until its lease runs out: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const lease = (owner: string, now: number) => leaseAgent({ ...store, now: async () => now }, { agentId, owner, forMs: minuteMs });
  const both = await Promise.all([lease('one', noon), lease('other', noon)]);
  expect(both.filter(Boolean)).toHaveLength(1);
  const [holder, waiting] = both[0] ? ['one', 'other'] : ['other', 'one'];
  expect(await lease(waiting ?? '', noon + minuteMs - 1)).toBe(false);
  expect(await lease(holder ?? '', noon + 1)).toBe(true);
  expect(await lease(waiting ?? '', noon + minuteMs + 1)).toBe(true);
  expect(await lease(holder ?? '', noon + minuteMs + 2)).toBe(false);
});

test.for(dialects)('three people in one batch: each is settled by its own record alone: %s', async (dialect) => {
  const scenario = await beginProven(await openCleanStore(dialect), { rows: rowsFor(3) });
  await scenario.dial(1);
  const records = [answered('c3', third, noon + 5_000), { ...answered('c1', first, noon + 5_000), callResult: 'voicemail' as const }];
  await scenario.sweep(noon + minuteMs, records);
  await scenario.sweep(noon + minuteMs, records);
  expect(await dispositionsOf(scenario)).toEqual(['voicemail', 'open', 'answered']);
  expect((await scenario.attempts()).map((row) => row.conversation_id)).toEqual(['c1', null, 'c3']);
});

const agents = Array.from({ length: 30 }, (_, n) => `agent_${String(n).padStart(2, '0')}`);

/** A store with agents, and how many transactions it was asked for. */
async function begin(dialect: (typeof bothDialects)[number]) {
  const store = await openCleanStore(dialect);
  const values = agents.map((agent_id) => ({ agent_id, lease_until_real: 0 }));
  await store.db.insertInto('agents').values(values).execute();
  let transactions = 0;
  const counted: Store['transaction'] = (work) => {
    transactions += 1;
    return store.transaction(work);
  };
  const failed: string[] = [];
  const writes = gatherWrites({ dialect: store.dialect, transaction: counted }, (id) => failed.push(id));
  const read = async () => {
    const rows = await store.db.selectFrom('agents').select(['agent_id', 'read_ok_at']).orderBy('agent_id').execute();
    return rows.filter((row) => row.read_ok_at === 7).map((row) => row.agent_id);
  };
  return { writes, failed, read, transactions: () => transactions };
}

test.runIf(bothDialects.includes('sqlite'))('what is gathered commits together, and the rest when it is asked for', async () => {
  const { writes, failed, read, transactions } = await begin('sqlite');
  for (const id of agents) await writes.add({ id, work: (tx) => updateAgent(tx, id, { read_ok_at: 7 }) });
  expect(await read()).toEqual(agents.slice(0, 25));
  await writes.flush();
  expect(await read()).toEqual(agents);
  expect(transactions()).toBe(2);
  expect(failed).toEqual([]);
});

test.for(bothDialects)('a write that fails takes none of the others with it: %s', async (dialect) => {
  const { writes, failed, read } = await begin(dialect);
  const bad = 'agent_03';
  for (const id of agents) {
    const work: Parameters<typeof writes.add>[0]['work'] = async (tx) => {
      await updateAgent(tx, id, { read_ok_at: 7 });
      if (id === bad) throw new Error('it cannot be written');
    };
    await writes.add({ id, work });
  }
  await writes.flush();
  expect(await read()).toEqual(agents.filter((id) => id !== bad));
  expect(failed).toEqual([bad]);
});
