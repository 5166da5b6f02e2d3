import { expect } from 'vitest';
import { readAggregates } from '../../../src/ledger/aggregates.ts';
import { findRound } from '../../../src/ledger/campaign/rounds.ts';
import { concludeSweep } from '../../../src/ledger/collect/conclude.ts';
import { gatherWrites } from '../../../src/ledger/collect/gathered-writes.ts';
import { leaseAgent } from '../../../src/ledger/collect/sweeps.ts';
import { countOpen } from '../../../src/ledger/limits/counters.ts';
import { updateAgent } from '../../../src/ledger/updates.ts';
import { buildRules, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { agentId, answered, beginProven, noon, numbers, type Scenario, waits } from '../scenario.ts';
import { bothDialects } from '../test-stores.ts';
import type { Store } from '../../../src/ledger/tx.ts';
import { test, openLedger, beginOn } from '../ledger-test.ts';

const [first = ''] = numbers(1);
const settleAt = noon + 20 * minuteMs;
/** Ten seconds to begin the POST, a minute for its answer, a quarter of an hour for a server that hung. */
const holdAfter = noon + 70_000 + 15 * minuteMs;

/** Complete sweeps up to and including `to`, close enough together for the settle deadline to run. */
async function sweepUntil(scenario: Scenario, from: number, to: number): Promise<void> {
  for (let now = from; now < to; now += 2 * minuteMs) await scenario.sweep(now);
  await scenario.sweep(to);
}

test.from(beginOn, { rows: 2 })('nobody is unreached before a complete sweep that began after the deadline', async (scenario) => {
  await scenario.dial(1);
  await sweepUntil(scenario, noon, settleAt);
  expect(await scenario.dispositions()).toEqual(['open', 'open']);
  // One that ended long after the deadline and began before it has read a list from before it.
  await scenario.store.transaction((tx) => concludeSweep(tx, agentId, { begunAt: settleAt, deepFrom: 0, now: settleAt + minuteMs }));
  expect(await scenario.dispositions()).toEqual(['open', 'open']);
  await scenario.sweep(settleAt + minuteMs, [], false);
  expect(await scenario.dispositions()).toEqual(['open', 'open']);
  await scenario.sweep(settleAt + minuteMs);
  expect(await scenario.dispositions()).toEqual(['unreached', 'unreached']);
  expect(await scenario.row()).toMatchObject({ state: 'waiting', called: 1, rank: 0, counted: 1 });
});

test.from(beginOn, { rows: 1 })('time in which nobody looked concludes nothing', async (scenario) => {
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs);
  const back = noon + 5 * hourMs;
  await scenario.sweep(back);
  expect(await scenario.dispositions()).toEqual(['open']);
  await sweepUntil(scenario, back, back + 18 * minuteMs);
  expect(await scenario.dispositions()).toEqual(['open']);
  await sweepUntil(scenario, back + 19 * minuteMs, back + 20 * minuteMs + 1);
  expect(await scenario.dispositions()).toEqual(['unreached']);
});

test.from(beginOn, { rows: 1 })('a record of nobody that has not been read to its end puts the conclusion off', async (scenario) => {
  await scenario.dial(1);
  const ringing = { conversationId: 'whose', startedAt: noon + 5_000, status: 'in-progress' as const };
  await scenario.sweep(noon + minuteMs, [ringing]);
  await sweepUntil(scenario, noon + 2 * minuteMs, settleAt + 4 * minuteMs);
  expect(await scenario.dispositions()).toEqual(['open']);
  const over = { ...answered('whose', '+12125550100', noon + 5_000) };
  await scenario.sweep(settleAt + 6 * minuteMs, [over]);
  expect(await scenario.dispositions()).toEqual(['unreached']);
});

test.from(beginOn, { rows: 2 })('who has no record of a batch that only evidence accepted is unknown, not unreached', async (scenario) => {
  await scenario.lose(1);
  await scenario.sweep(noon + minuteMs, [answered('c1', first, noon + 5_000)]);
  expect(await scenario.batch(1)).toMatchObject({ state: 'confirmed', accepted_by: 'evidence' });
  await sweepUntil(scenario, noon + 2 * minuteMs, noon + 21 * minuteMs);
  expect(await scenario.dispositions()).toEqual(['answered', 'open']);
  await scenario.sweep(noon + 21 * minuteMs + 1);
  expect(await scenario.dispositions()).toEqual(['answered', 'unknown']);
  expect(await scenario.outcomes()).toEqual(['completed', 'unresolved']);
});

test.for([
  { by: 'references', initiated: 2, third: 'released' },
  { by: 'numbers', initiated: 2, third: 'unreached' },
  { by: 'references', initiated: 3, third: 'unreached' },
  { by: 'batch and number', initiated: 2, third: 'released' },
])('of three calls $initiated were queued and two are known by their $by', async (dialect, { by, initiated, third }) => {
  const scenario = await beginOn(dialect, { rows: 3 });
  await scenario.submit(1);
  await scenario.verdict(1, 'confirmed', { callsInitiated: initiated });
  const records = (await scenario.attempts()).slice(0, 2).map(({ e164, reference }, index) => ({
    ...answered(`c${index}`, e164, noon + 5_000),
    references: by === 'references' ? [reference ?? ''] : [],
    batchId: by === 'batch and number' ? 'service_1' : null,
  }));
  await scenario.sweep(noon + minuteMs, records);
  await sweepUntil(scenario, noon + 2 * minuteMs, noon + 21 * minuteMs);
  expect(await scenario.dispositions()).toEqual(['answered', 'answered', 'open']);
  await scenario.sweep(noon + 21 * minuteMs + 1);
  expect(await scenario.dispositions()).toEqual(['answered', 'answered', third]);
  expect(await scenario.row(3)).toMatchObject({ state: 'waiting', counted: third === 'released' ? 0 : 1 });
});

test.from(beginOn, { rows: 1 })('a call that the service leaves out again and again counts in the end', async (scenario) => {
  let now = noon;
  for (const n of [1, 2, 3, 4]) {
    await scenario.submit(n, now);
    await scenario.verdict(n, 'confirmed', { now, callsInitiated: 0 });
    await sweepUntil(scenario, now, now + 20 * minuteMs + 1);
    now += 21 * minuteMs;
  }
  expect(await scenario.dispositions()).toEqual(['released', 'released', 'released', 'failed']);
  expect(await scenario.row()).toMatchObject({ state: 'waiting', attempts: 4, counted: 1 });
});

test.from(beginOn, { rows: 2 })('a batch is held only after the latest instant at which it may still be heard of', async (scenario) => {
  await scenario.lose(1);
  expect(await scenario.batch(1)).toMatchObject({ state: 'unknown', hold_after: holdAfter });
  await sweepUntil(scenario, noon, holdAfter);
  expect(await scenario.batch(1)).toMatchObject({ state: 'unknown' });
  await scenario.sweep(holdAfter + 1, [], false);
  expect(await scenario.batch(1)).toMatchObject({ state: 'unknown' });
  expect(await countOpen(scenario.store.db, 'spring')).toBe(2);
  await scenario.sweep(holdAfter + 1);
  expect(await scenario.batch(1)).toMatchObject({ state: 'held', reason: 'no_evidence' });
  expect(await countOpen(scenario.store.db, 'spring')).toBe(0);
  const [recipient] = await scenario.recipients();
  expect(recipient).toMatchObject({ state: 'done', outcome: 'unresolved', reason: 'unknown' });
});

test.from(beginOn, { rows: 2 })('nobody decides about a batch that may still be heard of', async (scenario) => {
  await scenario.lose(1);
  for (const decision of ['redial', 'give_up'] as const)
    expect(await scenario.resolve(decision, noon + minuteMs)).toEqual({
      recipients: 0,
      apart: 0,
      tooEarly: 1,
      decidableAt: holdAfter,
    });
  expect(await scenario.batch(1)).toMatchObject({ state: 'unknown' });
  expect(await scenario.dispositions()).toEqual(['open', 'open']);
});

test.from(beginOn, { rows: 2 })('a person may have the doubtful ones called again, once', async (scenario) => {
  await scenario.lose(1);
  await scenario.sweep(holdAfter + 1);
  const now = noon + hourMs;
  expect(await scenario.resolve('redial', now)).toMatchObject({
    recipients: 2,
    tooEarly: 0,
  });
  expect(await scenario.batch(1)).toMatchObject({ state: 'redial' });
  expect(await scenario.resolve('redial', now)).toMatchObject({ recipients: 0 });
  for (const row of await scenario.recipients())
    expect(row).toMatchObject({ state: 'waiting', called: 1, rank: 0, counted: 0, due_at: now, outcome: null });
  expect(await readAggregates(scenario.store.db, 'spring', ['outcome'])).toEqual([]);
  expect(await scenario.dial(2, now)).toEqual(['spring/1/2', 'spring/2/2']);
});

test.from(beginOn, { rows: 2 })('a person may give the doubtful ones up, once', async (scenario) => {
  await scenario.lose(1);
  await scenario.sweep(holdAfter + 1);
  const now = noon + hourMs;
  expect(await scenario.resolve('give_up', now)).toMatchObject({ recipients: 2 });
  expect(await scenario.resolve('redial', now)).toMatchObject({ recipients: 0 });
  expect(await scenario.batch(1)).toMatchObject({ state: 'given_up' });
  for (const row of await scenario.recipients()) expect(row).toMatchObject({ state: 'done', outcome: 'unresolved', reason: 'given_up' });
  expect(await scenario.plan(2, now)).toEqual({ kind: 'done' });
});

test.from(beginOn, { rows: 2 })('a record found after its batch was held confirms it and settles its call', async (scenario) => {
  await scenario.lose(1);
  await scenario.sweep(holdAfter + 1);
  await scenario.sweep(holdAfter + minuteMs, [answered('c1', first, noon + 5_000)]);
  expect(await scenario.batch(1)).toMatchObject({ state: 'confirmed', accepted_by: 'evidence' });
  expect(await scenario.dispositions()).toEqual(['answered', 'unknown']);
  expect(await scenario.outcomes()).toEqual(['completed', 'unresolved']);
});

test.from(beginOn, { rows: 2 })('a late record corrects what was concluded and calls a waiting retry off', async (scenario) => {
  await scenario.dial(1);
  await sweepUntil(scenario, noon, settleAt + 1);
  expect(await scenario.dispositions()).toEqual(['unreached', 'unreached']);
  const late = settleAt + 2 * minuteMs;
  await scenario.sweep(late, [answered('c1', first, noon + 5_000)]);
  expect(await scenario.dispositions()).toEqual(['answered', 'unreached']);
  expect(await scenario.recipients()).toMatchObject([
    { state: 'done', outcome: 'completed' },
    { state: 'waiting', outcome: null },
  ]);
  expect(await readAggregates(scenario.store.db, 'spring', ['disposition'])).toMatchObject([
    { value: 'answered', count: 1 },
    { value: 'unreached', count: 1 },
  ]);
  expect(await scenario.dial(2, await scenario.lookAgain(late))).toEqual(['spring/2/2']);
});

test('who may still be heard of is not made unknown by a short settle time', async (dialect) => {
  const timing = { ...buildRules().timing, settleMs: 2 * minuteMs };
  const scenario = await beginOn(dialect, { rows: 2, rules: { timing } });
  await scenario.lose(1);
  await scenario.sweep(noon + minuteMs, [answered('c1', first, noon + 5_000)]);
  await sweepUntil(scenario, noon + 2 * minuteMs, holdAfter);
  expect(await scenario.dispositions()).toEqual(['answered', 'open']);
  await scenario.sweep(holdAfter + 1);
  expect(await scenario.dispositions()).toEqual(['answered', 'unknown']);
});

test.from(beginOn, { rows: 1 })('who turns out to be reached while another call is open is not called a third time', async (scenario) => {
  await scenario.dial(1);
  await scenario.settle('spring/1/1', 'busy', noon + minuteMs);
  await scenario.dial(2, noon + hourMs);
  await scenario.settle('spring/1/1', 'answered', noon + hourMs + 1);
  // The newer call is left to its own end.
  expect(await scenario.row()).toMatchObject({ state: 'open', outcome: null });
  await scenario.settle('spring/1/2', 'busy', noon + hourMs + minuteMs);
  expect(await scenario.row()).toMatchObject({ state: 'done', outcome: 'completed', counted: 2 });
  expect(await scenario.plan(3, noon + 9 * hourMs)).toEqual({ kind: 'done' });
});

test.from(beginOn, { rows: 1 })('a round ends only when nothing of it is left', async (scenario) => {
  const close = (now: number) => scenario.close(now);
  expect(await close(noon)).toBe(false);
  await scenario.plan(1);
  expect(await close(noon)).toBe(false);
  await scenario.post(1);
  expect(await close(noon)).toBe(false);
  await scenario.verdict(1, 'confirmed', { callsInitiated: 1 });
  expect(await close(noon)).toBe(false);
  const lagging = { ...answered('c1', first, noon + 5_000), collected: null, evaluation: null };
  await scenario.sweep(noon + minuteMs, [lagging]);
  expect(await scenario.dispositions()).toEqual(['answered']);
  expect(await close(noon + minuteMs)).toBe(false);
  await scenario.sweep(noon + 2 * minuteMs, [answered('c1', first, noon + 5_000)]);
  expect(await findRound(scenario.store.db, 'spring', 1)).toMatchObject({ endedAt: null });
  expect(await close(noon + 2 * minuteMs)).toBe(true);
  expect(await scenario.campaign()).toMatchObject({ state: 'completed' });
  expect(await close(noon + hourMs)).toBe(true);
  expect(await findRound(scenario.store.db, 'spring', 1)).toMatchObject({ endedAt: noon + 2 * minuteMs });
});

test.from(openLedger)('a waiting retry and a doubtful batch keep a round open', async (store) => {
  const pacing = { batchSize: 1, refillThreshold: 1 };
  const scenario = await beginProven(store, { rows: 2, rules: { pacing } });
  const [attemptId = ''] = await scenario.dial(1);
  await scenario.lose(2);
  await scenario.settle(attemptId, 'busy');
  await scenario.end('cancelled');
  expect(await scenario.close()).toBe(false);
  // The planner ends the waiting one, and still waits for the doubtful batch.
  expect(await scenario.plan(3)).toMatchObject(waits('collecting'));
  expect(await scenario.close()).toBe(false);
  await scenario.sweep(holdAfter + 1);
  expect(await scenario.close(holdAfter + 1)).toBe(true);
  expect(await scenario.campaign()).toMatchObject({ state: 'cancelled' });
  expect(await scenario.outcomes()).toEqual(['cancelled', 'unresolved']);
});

test.from(openLedger)('one process at a time sweeps an agent, until its lease runs out', async (store) => {
  const lease = (owner: string, now: number) => leaseAgent({ ...store, now: async () => now }, { agentId, owner, forMs: minuteMs });
  const both = await Promise.all([lease('one', noon), lease('other', noon)]);
  expect(both.filter(Boolean)).toHaveLength(1);
  const [holder, waiting] = both[0] ? ['one', 'other'] : ['other', 'one'];
  expect(await lease(waiting ?? '', noon + minuteMs - 1)).toBe(false);
  expect(await lease(holder ?? '', noon + 1)).toBe(true);
  expect(await lease(waiting ?? '', noon + minuteMs + 1)).toBe(true);
  expect(await lease(holder ?? '', noon + minuteMs + 2)).toBe(false);
});

const agents = Array.from({ length: 30 }, (_, n) => `agent_${String(n).padStart(2, '0')}`);

async function begin(dialect: (typeof bothDialects)[number]) {
  const store = await openLedger(dialect);
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

test.sqlite('what is gathered commits together, and the rest when it is asked for', async (dialect) => {
  const { writes, failed, read, transactions } = await begin(dialect);
  for (const id of agents) await writes.add({ id, work: (tx) => updateAgent(tx, id, { read_ok_at: 7 }) });
  expect(await read()).toEqual(agents.slice(0, 25));
  await writes.flush();
  expect(await read()).toEqual(agents);
  expect(transactions()).toBe(2);
  expect(failed).toEqual([]);
});

test.both.from(begin)('a write that fails takes none of the others with it', async ({ writes, failed, read }) => {
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
