import { sql } from 'kysely';
import { expect } from 'vitest';
import { Random } from '../../../src/sandbox/core/random.ts';
import { adjustAccount } from '../../../src/ledger/limits/adjustments.ts';
import { readAccount, writeAccount } from '../../../src/ledger/limits/account-pace.ts';
import { type Plan } from '../../../src/ledger/plan/planning.ts';
import { minuteMs } from '../../support/campaign-rules.ts';
import { until } from '../../support/until.ts';
import { noon, type Scenario, accountId, begin, limitsOf, told, waits } from '../scenario.ts';
import { openAt } from '../test-stores.ts';
import { test, openLedger } from '../ledger-test.ts';
import { newDatabase } from '../clean-store.ts';
import { countWaiting } from '../two-processes.ts';

test('a 429 halves the lines of every campaign of the account, once a minute, and accepted batches bring them back', async (dialect) => {
  const store = await openLedger(dialect);
  const pacing = { maxConcurrentCalls: 20, startsPerMinute: 30, batchSize: 20, refillThreshold: 1 };
  const limited = await begin(store, 'limited', pacing, 60);
  const other = await begin(store, 'other', { ...pacing, maxConcurrentCalls: 8 }, 20, 100);
  expect(await limited.plan(1)).toMatchObject({ kind: 'batch', size: 20 });
  await limited.post(1);
  await limited.verdict(1, 'not_sent', { status: 429 });
  expect(await limitsOf(limited)).toMatchObject({ own: 20, pace: 500, allowed: 10, startsPerMinute: 15 });
  expect(await limitsOf(other)).toMatchObject({ own: 8, pace: 500, allowed: 4 });
  // Told again within the minute about another batch, it is the same refusal.
  const third = await begin(store, 'third', { ...pacing, batchSize: 1 }, 1, 200);
  await third.plan(1);
  await third.post(1, noon + 30_000);
  await third.verdict(1, 'not_sent', { status: 429, now: noon + 30_000 });
  expect(await readAccount(store.db, accountId)).toMatchObject({ pace: 500, cutAt: noon });
  await limited.post(1, noon + minuteMs);
  await limited.verdict(1, 'not_sent', { k: 2, status: 429, now: noon + minuteMs });
  expect(await readAccount(store.db, accountId)).toMatchObject({ pace: 250 });
  expect(await other.plan(1, noon + minuteMs)).toMatchObject({ kind: 'batch', size: 2 });
  // Twenty calls over five lines raise it by a step, two over three lines by a part.
  await limited.post(1, noon + 2 * minuteMs);
  await limited.verdict(1, 'confirmed', { k: 3, now: noon + 2 * minuteMs });
  expect(await readAccount(store.db, accountId)).toMatchObject({ pace: 450, cutAt: noon + minuteMs });
  await other.post(1, noon + 2 * minuteMs);
  await other.verdict(1, 'confirmed', { now: noon + 2 * minuteMs });
  expect(await readAccount(store.db, accountId)).toMatchObject({ pace: 583 });
  expect(await told(limited, 'account.pace')).toEqual([
    { from: 1000, to: 500 },
    { from: 500, to: 250 },
    { from: 250, to: 450 },
  ]);
  expect(await told(other, 'account.pace')).toEqual([{ from: 450, to: 583 }]);
  // It was told all of twenty calls before: no more until they are below what is allowed now.
  expect(await limited.plan(2, noon + 4 * minuteMs)).toMatchObject(waits('capacity'));
});

test.from(openLedger)('a lost connection or a refusal says nothing about the pace', async (store) => {
  const scenario = await begin(store, 'spring', { maxConcurrentCalls: 20, batchSize: 5, refillThreshold: 1 }, 20);
  await scenario.submit(1);
  await scenario.verdict(1, 'not_sent');
  await scenario.post(1);
  await scenario.verdict(1, 'refused', { k: 2, status: 403 });
  expect(await readAccount(store.db, accountId)).toMatchObject({ pace: 1000, cutAt: 0 });
  expect(await told(scenario, 'account.pace')).toEqual([]);
});

test.from(openLedger)('a campaign that warms up begins with a tenth of its lines', async (store) => {
  const pacing = { maxConcurrentCalls: 20, batchSize: 20, refillThreshold: 5, warmUpMs: 60 * minuteMs };
  const scenario = await begin(store, 'spring', pacing, 60);
  expect(await scenario.dial(1)).toHaveLength(2);
  expect(await scenario.plan(2)).toMatchObject(waits('capacity'));
  const half = noon + 30 * minuteMs;
  expect(await limitsOf(scenario, half)).toMatchObject({ own: 20, warm: 11, allowed: 11 });
  expect(await scenario.dial(2, half)).toHaveLength(9);
  expect(await scenario.dial(3, noon + 60 * minuteMs)).toHaveLength(9);
});

test.from(openLedger)('a campaign with a start time warms up from then on', async (store) => {
  const startsAt = noon + 60 * minuteMs;
  const pacing = { maxConcurrentCalls: 20, batchSize: 20, refillThreshold: 5, warmUpMs: 60 * minuteMs };
  const scenario = await begin(store, 'spring', pacing, 60, 0, { startsAt });
  expect(await scenario.plan(1)).toMatchObject(waits('scheduled'));
  expect(await scenario.plan(1, startsAt)).toMatchObject({ kind: 'batch', size: 2 });
});

test.from(openLedger)('lines that come free go to a small urgent campaign first, beside a large one', async (store) => {
  await adjustAccount(store, accountId, { wish: { maxConcurrentCalls: 20, keepFree: 500 }, now: noon });
  const pacing = { maxConcurrentCalls: 50, batchSize: 20, refillThreshold: 10 };
  const large = await begin(store, 'large', { ...pacing, priority: 10 }, 300);
  const calls = await large.dial(1);
  // Half of the twenty is kept free, and nobody else wants the rest.
  expect(calls).toHaveLength(10);
  const urgent = await begin(store, 'urgent', { ...pacing, priority: 100 }, 4, 400);
  expect(await urgent.plan(1)).toMatchObject({ ...waits('share', noon + 10_000), outstanding: { open: 0 } });
  expect(await urgent.isReady()).toBe(false);
  expect(await limitsOf(large)).toMatchObject({ account: { lines: 10, free: 0, share: 6 } });
  expect(await limitsOf(urgent)).toMatchObject({ account: { lines: 10, free: 0, share: 4 }, allowed: 0 });
  // Each freed line is the urgent one's while it could use more.
  await large.settle(calls.slice(0, 3), 'answered');
  expect(await large.plan(2)).toMatchObject(waits('share'));
  expect(await large.isReady()).toBe(false);
  expect(await urgent.isReady()).toBe(true);
  const first = await urgent.dial(1);
  expect(first).toHaveLength(3);
  await large.settle(calls.slice(3, 6), 'answered');
  expect(await urgent.dial(2)).toHaveLength(1);
  // What the urgent one leaves is the large one's again.
  expect(await large.dial(2)).toHaveLength(2);
  await urgent.settle(first, 'answered');
  expect(await large.dial(3)).toHaveLength(3);
});

test.from(openLedger)('shares go by priority, and those who dial nothing have no say', async (store) => {
  await adjustAccount(store, accountId, { wish: { maxConcurrentCalls: 12 }, now: noon });
  const pacing = { maxConcurrentCalls: 50, batchSize: 50, refillThreshold: 1 };
  const one = await begin(store, 'one', { ...pacing, priority: 20 }, 60);
  const two = await begin(store, 'two', { ...pacing, priority: 10 }, 60, 100);
  expect((await limitsOf(one)).account).toMatchObject({ share: 8 });
  expect((await limitsOf(two)).account).toMatchObject({ share: 4 });
  expect(await two.dial(1)).toHaveLength(4);
  expect(await two.pause(noon, 'a look')).toBe(true);
  // Its open calls keep their lines; the one that dials has all others.
  expect((await limitsOf(one)).account).toMatchObject({ share: 8, free: 8 });
  await two.settle(
    (await two.attempts()).slice(0, 3).map((attempt) => attempt.attempt_id),
    'answered',
  );
  expect((await limitsOf(one)).account).toMatchObject({ share: 11, free: 11 });
  // A campaign that begins one call a minute leaves what it cannot use.
  const slow = await begin(store, 'slow', { ...pacing, startsPerMinute: 1, priority: 100 }, 60, 200);
  expect((await limitsOf(one)).account).toMatchObject({ share: 10 });
  expect(await slow.dial(1)).toHaveLength(1);
  expect((await limitsOf(one)).account).toMatchObject({ share: 10, free: 10 });
  // The pace is the account's: its lines shrink with it.
  await store.transaction((tx) => writeAccount(tx, accountId, { pace: 500, pace_at: noon }));
  expect(await limitsOf(one)).toMatchObject({ account: { lines: 6, share: 4, free: 4 }, allowed: 4 });
});

test.from(openLedger)('of equals that share one line each has its turn', async (store) => {
  await adjustAccount(store, accountId, { wish: { maxConcurrentCalls: 1 }, now: noon });
  const pacing = { maxConcurrentCalls: 5, batchSize: 5, refillThreshold: 1 };
  const all = [];
  for (const index of [0, 1, 2]) all.push(await begin(store, `equal-${index}`, pacing, 3, index * 100));
  const turns: string[] = [];
  const planned = [1, 1, 1];
  for (let at = noon; turns.length < 9; at += 10_000) {
    expect(at).toBeLessThan(noon + 100 * 10_000);
    for (const [index, scenario] of all.entries()) {
      const n = planned[index] ?? 0;
      if ((await scenario.plan(n, at)).kind !== 'batch') continue;
      planned[index] = n + 1;
      turns.push(scenario.campaignId);
      await scenario.settle(await scenario.dial(n, at), 'answered', at);
    }
  }
  for (let turn = 0; turn < 9; turn += 3) expect(new Set(turns.slice(turn, turn + 3)).size).toBe(3);
});

test.both('a campaign that comes while another one takes all lines does not take them once more', async (dialect) => {
  const location = await newDatabase(dialect);
  const store = await openAt(location);
  await adjustAccount(store, accountId, { wish: { maxConcurrentCalls: 7 }, now: noon });
  const pacing = { maxConcurrentCalls: 50, batchSize: 50, refillThreshold: 1 };
  const one = await begin(store, 'one', pacing, 20);
  const comeAndPlan = async () => (await begin(store, 'two', { ...pacing, priority: 100 }, 20, 100)).plan(1);
  const plans = async (): Promise<Plan[]> => {
    if (dialect === 'sqlite') return Promise.all([one.plan(1), comeAndPlan()]);
    const other = await openAt(location);
    const begun: Promise<Plan>[] = [];
    await other.transaction(async (tx) => {
      // The first has counted the lines and cannot write yet; the second counts them now.
      await sql`lock table attempts in exclusive mode`.execute(tx);
      begun.push(one.plan(1));
      await until('the first is about to write', async () => (await countWaiting(store)) >= 1);
      begun.push(comeAndPlan());
      await until('the second waits too', async () => (await countWaiting(store)) >= 2);
    });
    return Promise.all(begun);
  };
  expect(await plans()).toMatchObject([
    { kind: 'batch', size: 7 },
    { kind: 'wait', reason: 'share' },
  ]);
});

test('three campaigns share an account to their ends, never above its lines, and the most urgent ends first', async (dialect) => {
  const store = await openLedger(dialect);
  const random = new Random('share', 1);
  await adjustAccount(store, accountId, { wish: { maxConcurrentCalls: 7 }, now: noon });
  const running: { scenario: Scenario; n: number; open: string[] }[] = [];
  for (const [index, priority] of [1, 10, 100].entries()) {
    const pacing = { maxConcurrentCalls: 6, batchSize: 4, refillThreshold: 2, priority };
    const scenario = await begin(store, `p${priority}`, pacing, 14, index * 100);
    running.push({ scenario, n: 1, open: [] });
  }
  const ended: string[] = [];
  for (let tick = 0; running.length > 0; tick += 1) {
    expect(tick).toBeLessThan(200);
    const now = noon + tick * 10_000;
    for (const campaign of running) {
      const plan = await campaign.scenario.plan(campaign.n, now);
      if (plan.kind === 'done') ended.push(campaign.scenario.campaignId);
      if (plan.kind === 'batch') {
        campaign.open.push(...(await campaign.scenario.dial(campaign.n, now)));
        campaign.n += 1;
      }
      // One with people and lines is never told to wait for others without end.
      if (plan.kind === 'wait' && plan.outstanding.open === 0) expect(plan.until).not.toBeNull();
      const open = running.reduce((sum, each) => sum + each.open.length, 0);
      expect(open).toBeLessThanOrEqual(7);
    }
    for (const campaign of running) {
      const over = campaign.open.filter(() => random.chance(0.3));
      campaign.open = campaign.open.filter((attemptId) => !over.includes(attemptId));
      await campaign.scenario.settle(over, 'answered', now);
    }
    const left = running.filter(({ scenario }) => !ended.includes(scenario.campaignId));
    running.splice(0, running.length, ...left);
  }
  expect(ended).toHaveLength(3);
  expect(ended[0]).toBe('p100');
});
