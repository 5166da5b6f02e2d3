import { expect } from 'vitest';
import { holdAccount } from '../../../src/ledger/limits/account-pace.ts';
import { unknownBackoffMs } from '../../../src/ledger/limits/safety.ts';
import { hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { beginOn, test } from '../ledger-test.ts';
import { accountId, answered, noon, numbers, type Scenario, twice, waits } from '../scenario.ts';
import type { TestDialect } from '../test-stores.ts';

const [first = '', second = ''] = numbers(2);
const batchesOf = (batchSize: number) => ({ pacing: { batchSize, refillThreshold: 1 } });
const roundOf = ({ store }: Scenario) => store.db.selectFrom('rounds').selectAll().executeTakeFirstOrThrow();

async function posted(dialect: TestDialect, rows = 2): Promise<Scenario> {
  const scenario = await beginOn(dialect, { rows, rules: batchesOf(rows) });
  await scenario.submit(1);
  return scenario;
}

/** As `posted`; the worker that was about to send it is gone. */
async function unknown(dialect: TestDialect, rows = 2): Promise<Scenario> {
  const scenario = await posted(dialect, rows);
  await scenario.post(1);
  return scenario;
}

// prettier-ignore
const consequences = [
  { verdict: 'confirmed', batch: { state: 'confirmed', accepted_by: 'reply', service_batch_id: 'service_1', calls_initiated: 20 },
    attempt: { state: 'open', posted_at: noon }, recipient: { state: 'open', counted: 0 }, round: { unknown_streak: 0, refused_streak: 0 },
    campaign: 'running' },
  { verdict: 'not_sent', batch: { state: 'not_sent', accepted_by: null, service_batch_id: null },
    attempt: { state: 'planned', settled_at: null }, recipient: { state: 'open', counted: 0 },
    round: { unknown_streak: 1, refused_streak: 2 }, campaign: 'running' },
  { verdict: 'unknown', batch: { state: 'unknown', accepted_by: null, unknown_since: noon + 1, hold_after: noon + 70_000 + 15 * minuteMs },
    attempt: { state: 'open', posted_at: noon }, recipient: { state: 'open', counted: 0 },
    round: { unknown_streak: 2, refused_streak: 2, blocked_until: noon + 1 + minuteMs }, campaign: 'running' },
  { verdict: 'refused', batch: { state: 'refused', accepted_by: null, service_batch_id: null },
    attempt: { state: 'released', reason: 'refused_403', counted: 0 },
    recipient: { state: 'waiting', counted: 0, called: 0, rank: 50, due_at: noon + 1 }, round: { unknown_streak: 1, refused_streak: 2 },
    campaign: 'paused' },
] as const;

test.for(consequences)('what follows from the verdict $verdict', async (dialect, { verdict, ...expected }) => {
  const scenario = await posted(dialect);
  await scenario.store.db.updateTable('rounds').set({ unknown_streak: 1, refused_streak: 2 }).execute();
  await scenario.verdict(1, verdict, { now: noon + 1, status: verdict === 'refused' ? 403 : null });
  expect(await scenario.batch(1)).toMatchObject({ ...expected.batch, verdict_at: noon + 1 });
  expect(await scenario.attempts()).toMatchObject(twice(expected.attempt));
  expect(await scenario.recipients()).toMatchObject(twice(expected.recipient));
  expect(await roundOf(scenario)).toMatchObject(expected.round);
  expect(await scenario.campaign()).toMatchObject({ state: expected.campaign });
  expect(await scenario.posts()).toMatchObject([{ k: 1, verdict, verdict_at: noon + 1 }]);
});

test.from(unknown)('a reply that is slower than the evidence adds what only it tells', async (scenario) => {
  await scenario.sweep(noon + minuteMs, [answered('c1', first, noon + 5_000)]);
  expect(await scenario.batch(1)).toMatchObject({ accepted_by: 'evidence', service_batch_id: null });
  expect(await scenario.verdict(1, 'confirmed', { now: noon + 2 * minuteMs, callsInitiated: 2 })).toBe('confirmed');
  expect(await scenario.batch(1)).toMatchObject({ accepted_by: 'reply', service_batch_id: 'service_1', calls_initiated: 2 });
  expect(await scenario.dispositions()).toEqual(['answered', 'open']);
});

test.for([
  { verdict: 'not_sent', status: 429 },
  { verdict: 'refused', status: 401 },
  { verdict: 'refused', status: 422 },
  { verdict: 'unknown', status: 500 },
] as const)('a call that was seen outranks a late $verdict $status', async (dialect, { verdict, status }) => {
  const scenario = await unknown(dialect);
  await scenario.sweep(noon + minuteMs, [answered('c1', first, noon + 5_000)]);
  expect(await scenario.verdict(1, verdict, { status, now: noon + 2 * minuteMs })).toBe('confirmed');
  expect(await scenario.batch(1)).toMatchObject({ state: 'confirmed', accepted_by: 'evidence' });
  expect(await scenario.dispositions()).toEqual(['answered', 'open']);
  expect(await scenario.batch(2)).toBeUndefined();
  expect(await scenario.campaign()).toMatchObject({ state: 'running' });
});

test.for([400, 422].flatMap((status) => [1, 2, 7, 20].map((size) => ({ status, size }))))(
  'of $size calls refused with $status, all but the guilty one are made once',
  async (dialect, { status, size }) => {
    // The first answer comes late, when the batch is already given up as unknown.
    const scenario = await unknown(dialect, size);
    const guilty = numbers(size).at(Math.floor(size / 2)) ?? '';
    const accepted: string[] = [];
    let now = noon;
    // The service is believed when a list read a minute later shows nothing else.
    const refuse = async (n: number, message: string | null = null) => {
      expect(await scenario.verdict(n, 'refused', { status, message, now })).toBe('refused');
      const before = await scenario.attempts();
      await scenario.sweep(now + 60_000);
      expect(await scenario.attempts()).toEqual(before);
      now += 60_001;
      await scenario.sweep(now);
    };
    await refuse(1, `bad number ${guilty}`);
    let n = 2;
    for (; ; n += 1) {
      const plan = await scenario.plan(n, now);
      if (plan.kind !== 'batch') break;
      expect(plan.size).toBeLessThan(size);
      await scenario.post(n, now);
      const calls = (await scenario.attempts()).filter((row) => row.state === 'posting').map((row) => row.e164);
      expect(calls).toHaveLength(plan.size);
      if (calls.includes(guilty)) await refuse(n);
      else {
        accepted.push(...calls);
        await scenario.verdict(n, 'confirmed', { callsInitiated: calls.length, now });
      }
    }
    expect(n - 1).toBeLessThanOrEqual(1 + 2 * Math.ceil(Math.log2(size)));
    expect([...accepted, guilty].toSorted()).toEqual(numbers(size).toSorted());
    const ended = (await scenario.recipients()).filter((row) => row.state === 'done');
    expect(ended).toMatchObject([{ e164: guilty, outcome: 'undialable', reason: 'invalid_number' }]);
    expect(await scenario.campaign()).toMatchObject({ state: 'running' });
  },
);

test('many single calls refused in a row stop the campaign, an accepted one between them does not', async (dialect) => {
  const scenario = await beginOn(dialect, { rows: 12, rules: batchesOf(1) });
  let now = noon;
  const refuse = async (n: number) => {
    await scenario.submit(n, now);
    await scenario.verdict(n, 'refused', { status: 422, now });
    now += 60_001;
    await scenario.sweep(now);
  };
  for (const n of [1, 2, 3, 4]) await refuse(n);
  await scenario.dial(5, now);
  for (const n of [6, 7, 8, 9]) await refuse(n);
  expect(await scenario.campaign()).toMatchObject({ state: 'running' });
  await refuse(10);
  expect(await scenario.campaign()).toMatchObject({ state: 'paused' });
  expect(await scenario.plan(11, now)).toMatchObject(waits('paused'));
  // A person has looked: it counts anew.
  await scenario.resume(now);
  await refuse(11);
  expect(await scenario.campaign()).toMatchObject({ state: 'running' });
});

test.for([
  { status: 401, words: 'SVC_API_KEY' },
  { status: 402, words: 'payment' },
  { status: 404, words: 'agent or the caller number' },
  { status: 413, words: 'batch_size' },
  { status: 422, words: 'as a whole', wholeRequest: true },
  ...[403, 405, 415, 418].map((status) => ({ status, words: `(${status})`, wholeRequest: false })),
])('a refusal with $status pauses in our words, not in those of the service', async (dialect, { status, words, wholeRequest = false }) => {
  const scenario = await posted(dialect);
  const message = `call to ${first} denied for account sk_live_123`;
  await scenario.verdict(1, 'refused', { status, message, serviceRequestId: 'req_7', wholeRequest });
  const { state, stateReason } = await scenario.campaign();
  expect(state).toBe('paused');
  expect(stateReason).toContain(words);
  expect(stateReason).toContain(`(${status})`);
  expect(stateReason).not.toMatch(/denied|sk_live|\+1/);
  expect(await scenario.recipients()).toMatchObject(twice({ state: 'waiting', counted: 0, called: 0, rank: 50 }));
  expect(await scenario.batch(2)).toBeUndefined();
  const events = await scenario.store.db.selectFrom('events').selectAll().where('type', '!=', 'attempt.posted').execute();
  expect(JSON.stringify([await scenario.batch(1), events])).not.toMatch(/denied|sk_live/);
  expect(await scenario.posts()).toMatchObject([{ status, service_request_id: 'req_7', message }]);
});

test('the back-off doubles from half a minute to a quarter of an hour', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 50].map((streak) => unknownBackoffMs(streak) / 1_000)).toEqual([30, 60, 120, 240, 480, 900, 900, 900]);
});

test.from(beginOn, { rules: batchesOf(1) })('an answer, or the evidence of one, ends the row of unknown batches', async (scenario) => {
  let now = noon;
  const lose = async (n: number) => {
    now += hourMs;
    await scenario.sweep(now);
    await scenario.lose(n, now);
    return (await roundOf(scenario)).unknown_streak;
  };
  expect([await lose(1), await lose(2)]).toEqual([1, 2]);
  await scenario.sweep(now + minuteMs, [answered('c2', second, now + 5_000)]);
  expect(await roundOf(scenario)).toMatchObject({ unknown_streak: 0 });
  expect([await lose(3), await lose(4)]).toEqual([1, 2]);
  await scenario.verdict(4, 'confirmed', { now });
  // The first verdict of that POST was "unknown", and it stays.
  expect(await roundOf(scenario)).toMatchObject({ unknown_streak: 2 });
  now += hourMs;
  await scenario.sweep(now);
  await scenario.dial(5, now);
  expect(await roundOf(scenario)).toMatchObject({ unknown_streak: 0 });
  expect(await lose(6)).toBe(1);
  expect(await scenario.campaign()).toMatchObject({ state: 'running' });
});

test.from(posted)('a planned batch of a campaign with an unknown one is held back too', async (scenario) => {
  // Refused for one of its calls, and no record denies it: its halves are planned.
  await scenario.verdict(1, 'refused', { status: 422 });
  const now = noon + 60_001;
  await scenario.sweep(now);
  await scenario.post(2, now);
  await scenario.verdict(2, 'unknown', { now });
  expect(await scenario.post(3, now + 1)).toEqual({ kind: 'blocked', until: now + 30_001 });
  // No read has succeeded since.
  const later = now + 10 * minuteMs;
  expect(await scenario.post(3, later)).toEqual({ kind: 'blocked', until: later + 30_000 });
  await scenario.sweep(later);
  expect(await scenario.post(3, later)).toMatchObject({ kind: 'post' });
});

// Nobody is back in line who may have been called.
const inDoubt = { state: 'done', outcome: 'unresolved' };

test.for([
  { before: 'unknown', verdict: 'confirmed', status: 200, after: 'confirmed', attempt: 'open', row: { state: 'open' } },
  { before: 'unknown', verdict: 'refused', status: 401, after: 'refused', attempt: 'released', row: { state: 'waiting' } },
  { before: 'held', verdict: 'refused', status: 401, after: 'held', attempt: 'settled', row: inDoubt },
  { before: 'held', verdict: 'not_sent', status: 429, after: 'held', attempt: 'settled', row: inDoubt },
  { before: 'held', verdict: 'confirmed', status: 200, after: 'confirmed', attempt: 'settled', row: inDoubt },
] as const)('a batch that is $before is $after after a late $verdict', async (dialect, given) => {
  const scenario = await unknown(dialect);
  if (given.before === 'held') await scenario.sweep(noon + hourMs);
  expect(await scenario.batch(1)).toMatchObject({ state: given.before });
  const { verdict, status, after } = given;
  expect(await scenario.verdict(1, verdict, { status, now: noon + 2 * hourMs })).toBe(after);
  expect(await scenario.recipients()).toMatchObject(twice(given.row));
  expect(await scenario.attempts()).toMatchObject(twice({ state: given.attempt }));
  expect(await scenario.campaign()).toMatchObject({ state: after === 'refused' ? 'paused' : 'running' });
});

test.from(posted)('a late "not sent" puts the people back in line and holds the account', async (scenario) => {
  await scenario.store.transaction((tx) => holdAccount(tx, accountId, noon));
  await scenario.post(1);
  const now = noon + minuteMs;
  expect(await scenario.verdict(1, 'not_sent', { status: 429, notBefore: noon + hourMs, now })).toBe('released');
  expect(await scenario.recipients()).toMatchObject(twice({ state: 'waiting', due_at: now, counted: 0 }));
  expect(await scenario.plan(2, now)).toMatchObject(waits('blocked', noon + hourMs));
  await scenario.sweep(now + minuteMs);
  const redialled = await scenario.dial(2, noon + hourMs);
  expect(redialled).toEqual(['spring/1/2', 'spring/2/2']);
  await scenario.settle(redialled, 'answered', noon + hourMs);
  expect(await scenario.recipients()).toMatchObject(twice({ outcome: 'completed', counted: 1 }));
});
