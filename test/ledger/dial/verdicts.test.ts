import { expect, test } from 'vitest';
import type { BatchState } from '../../../src/rules/ledger.ts';
import { resumeCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { unknownBackoffMs } from '../../../src/ledger/limits/safety.ts';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import type { VerdictInput } from '../../../src/ledger/dial/posts.ts';
import { holdAccount } from '../../../src/ledger/limits/account-pace.ts';
import { buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { answered, beginProven, noon, numbers, type Scenario } from '../scenario.ts';
import { openCleanStore } from '../clean-store.ts';
import { dialects } from '../test-stores.ts';

const twice = <Value>(value: Value): Value[] => [value, value];
const two = buildRows(numbers(2), (index) => `Guest ${index}`);
const [first = ''] = numbers(2);

function roundOf({ store }: Scenario) {
  return store.db.selectFrom('rounds').selectAll().executeTakeFirstOrThrow();
}

async function posted(dialect: 'sqlite' | 'postgres', rows = two): Promise<Scenario> {
  const pacing = { maxConcurrentCalls: 50, startsPerMinute: null, batchSize: rows.length, refillThreshold: 1 };
  const scenario = await beginProven(await openCleanStore(dialect), { rows, rules: { pacing } });
  await scenario.plan(1);
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
const consequenceCases = dialects.flatMap((dialect) => consequences.map((one) => ({ dialect, ...one })));

test.for(consequenceCases)('what follows from the verdict $verdict: $dialect', async (expected) => {
  const scenario = await posted(expected.dialect);
  await scenario.store.db.updateTable('rounds').set({ unknown_streak: 1, refused_streak: 2 }).execute();
  await scenario.verdict(1, expected.verdict, { now: noon + 1, status: expected.verdict === 'refused' ? 403 : null });
  expect(await scenario.batch(1)).toMatchObject({ ...expected.batch, verdict_at: noon + 1 });
  for (const attempt of await scenario.attempts()) expect(attempt).toMatchObject(expected.attempt);
  for (const recipient of await scenario.recipients()) expect(recipient).toMatchObject(expected.recipient);
  expect(await roundOf(scenario)).toMatchObject(expected.round);
  expect(await scenario.campaign()).toMatchObject({ state: expected.campaign });
  const posts = await scenario.store.db.selectFrom('posts').selectAll().execute();
  expect(posts).toMatchObject([{ k: 1, verdict: expected.verdict, verdict_at: noon + 1 }]);
});

test.for(dialects)('a reply that is slower than the evidence adds what only it tells: %s', async (dialect) => {
  const scenario = await posted(dialect);
  await scenario.post(1);
  await scenario.sweep(noon + minuteMs, [answered('c1', first, noon + 5_000)]);
  expect(await scenario.batch(1)).toMatchObject({ accepted_by: 'evidence', service_batch_id: null });
  expect(await scenario.verdict(1, 'confirmed', { now: noon + 2 * minuteMs, callsInitiated: 2 })).toBe('confirmed');
  expect(await scenario.batch(1)).toMatchObject({
    accepted_by: 'reply',
    service_batch_id: 'service_1',
    calls_initiated: 2,
  });
  expect((await scenario.attempts()).map((row) => row.state)).toEqual(['settled', 'open']);
});

const denials: { verdict: VerdictInput['verdict']; status: number | null }[] = [
  { verdict: 'not_sent', status: 429 },
  { verdict: 'refused', status: 401 },
  { verdict: 'refused', status: 422 },
  { verdict: 'unknown', status: 500 },
];
const denialCases = dialects.flatMap((dialect) => denials.map((denial) => ({ dialect, ...denial })));

test.for(denialCases)('a call that was seen outranks a late $verdict $status: $dialect', async (denial) => {
  const scenario = await posted(denial.dialect);
  await scenario.post(1);
  await scenario.sweep(noon + minuteMs, [answered('c1', first, noon + 5_000)]);
  const { dialect: _dialect, verdict, status } = denial;
  expect(await scenario.verdict(1, verdict, { status, now: noon + 2 * minuteMs })).toBe('confirmed');
  expect(await scenario.batch(1)).toMatchObject({ state: 'confirmed', accepted_by: 'evidence' });
  expect((await scenario.attempts()).map((row) => row.state)).toEqual(['settled', 'open']);
  expect(await scenario.batch(2)).toBeUndefined();
  expect(await scenario.campaign()).toMatchObject({ state: 'running' });
});

const refusals = dialects.flatMap((dialect) => [400, 422].flatMap((status) => [1, 2, 7].map((size) => ({ dialect, status, size }))));

test.for(refusals)('of $size calls refused with $status, all but the guilty one are made once: $dialect', async (given) => {
  const rows = buildRows(numbers(given.size), (index) => `Guest ${index}`);
  const scenario = await posted(given.dialect, rows);
  const guilty = numbers(given.size).at(Math.floor(given.size / 2)) ?? '';
  // The first answer comes late, when the batch is already given up as unknown.
  await scenario.post(1);
  const accepted: string[] = [];
  const posts = async () => (await scenario.attempts()).filter((row) => row.state === 'posting');
  let now = noon;
  // The service's word is believed when a list that was read a minute later shows nothing else.
  const refuse = async (n: number, message: string | null = null) => {
    expect(await scenario.verdict(n, 'refused', { status: given.status, message, now })).toBe('refused');
    const before = await scenario.attempts();
    await scenario.sweep(now + 60_000);
    expect(await scenario.attempts()).toEqual(before);
    now += 60_001;
    await scenario.sweep(now);
  };
  await refuse(1, `bad number ${guilty}`);
  for (let n = 2; ; n += 1) {
    const plan = await scenario.plan(n, now);
    if (plan.kind !== 'batch') break;
    expect(plan.size).toBeLessThan(given.size);
    await scenario.post(n, now);
    const calls = (await posts()).map((row) => row.e164);
    expect(calls).toHaveLength(plan.size);
    if (calls.includes(guilty)) await refuse(n);
    else {
      accepted.push(...calls);
      await scenario.verdict(n, 'confirmed', { callsInitiated: calls.length, now });
    }
  }
  expect(accepted.toSorted()).toEqual(
    numbers(given.size)
      .filter((number) => number !== guilty)
      .toSorted(),
  );
  const ended = (await scenario.recipients()).filter((row) => row.state === 'done');
  expect(ended).toMatchObject([{ e164: guilty, outcome: 'undialable', reason: 'invalid_number' }]);
  expect(await scenario.campaign()).toMatchObject({ state: 'running' });
});

test.for(dialects)('many single calls refused in a row stop the campaign, an accepted one between them does not: %s', async (dialect) => {
  const rows = buildRows(numbers(12), (index) => `Guest ${index}`);
  const pacing = { maxConcurrentCalls: 50, startsPerMinute: null, batchSize: 1, refillThreshold: 1 };
  const scenario = await beginProven(await openCleanStore(dialect), { rows, rules: { pacing } });
  let now = noon;
  const refuse = async (n: number) => {
    expect(await scenario.plan(n, now)).toMatchObject({ kind: 'batch', size: 1 });
    await scenario.post(n, now);
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
  expect(await scenario.plan(11, now)).toMatchObject({ kind: 'wait', reason: 'paused' });
  // A person has looked: it counts anew.
  await resumeCampaign(scenario.store, { campaignId: 'spring', now });
  await refuse(11);
  expect(await scenario.campaign()).toMatchObject({ state: 'running' });
});

const pauses = [401, 402, 403, 404, 405, 413, 415, 418];
const pauseCases = dialects.flatMap((dialect) => pauses.map((status) => ({ dialect, status })));

test.for(pauseCases)('a refusal with $status pauses in our words, not in those of the service: $dialect', async (given) => {
  const scenario = await posted(given.dialect);
  const message = `call to ${first} denied for account sk_live_123`;
  await scenario.verdict(1, 'refused', { status: given.status, message, serviceRequestId: 'req_7' });
  const { state, stateReason } = await scenario.campaign();
  expect(state).toBe('paused');
  expect(stateReason).toContain(`(${given.status})`);
  expect(stateReason).not.toMatch(/denied|sk_live|\+1/);
  const batch = await scenario.batch(1);
  const events = await scenario.store.db.selectFrom('events').selectAll().where('type', '!=', 'attempt.posted').execute();
  expect(JSON.stringify([batch, events])).not.toMatch(/denied|sk_live/);
  expect(await scenario.store.db.selectFrom('posts').selectAll().execute()).toMatchObject([
    { status: given.status, service_request_id: 'req_7', message },
  ]);
});

test('the back-off doubles from half a minute to a quarter of an hour', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 50].map((streak) => unknownBackoffMs(streak) / 1_000)).toEqual([30, 60, 120, 240, 480, 900, 900, 900]);
});

test.for(dialects)('an answer, or the evidence of one, ends the row of unknown batches: %s', async (dialect) => {
  const pacing = { maxConcurrentCalls: 50, startsPerMinute: null, batchSize: 1, refillThreshold: 1 };
  const rows = buildRows(numbers(6), (index) => `Guest ${index}`);
  const scenario = await beginProven(await openCleanStore(dialect), { rows, rules: { pacing } });
  let now = noon;
  const lose = async (n: number) => {
    now += hourMs;
    await scenario.sweep(now);
    expect(await scenario.plan(n, now)).toMatchObject({ kind: 'batch' });
    await scenario.post(n, now);
    await scenario.verdict(n, 'unknown', { now });
    return (await roundOf(scenario)).unknown_streak;
  };
  expect([await lose(1), await lose(2)]).toEqual([1, 2]);
  const [number = ''] = numbers(6).slice(1);
  await scenario.sweep(now + minuteMs, [answered('c2', number, now + 5_000)]);
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

test.for(dialects)('a planned batch of a campaign with an unknown one is held back too: %s', async (dialect) => {
  const scenario = await posted(dialect);
  // Refused for one of its calls, and no record says otherwise: its halves are planned.
  await scenario.verdict(1, 'refused', { status: 422 });
  const now = noon + 60_001;
  await scenario.sweep(now);
  await scenario.post(2, now);
  await scenario.verdict(2, 'unknown', { now });
  expect(await scenario.post(3, now + 1)).toEqual({ kind: 'blocked', until: now + 30_001 });
  // No read has succeeded since, however long ago it was.
  const later = now + 10 * minuteMs;
  expect(await scenario.post(3, later)).toEqual({ kind: 'blocked', until: later + 30_000 });
  await scenario.sweep(later);
  expect(await scenario.post(3, later)).toMatchObject({ kind: 'post' });
});

const late: { state: BatchState; verdict: VerdictInput['verdict']; status: number; after: BatchState }[] = [
  { state: 'held', verdict: 'refused', status: 401, after: 'held' },
  { state: 'held', verdict: 'not_sent', status: 429, after: 'held' },
  { state: 'held', verdict: 'confirmed', status: 200, after: 'confirmed' },
];
const lateCases = dialects.flatMap((dialect) => late.map((one) => ({ dialect, ...one })));

test.for(lateCases)('a batch that is $state is $after after a late $verdict: $dialect', async (given) => {
  const scenario = await posted(given.dialect);
  await scenario.post(1);
  await scenario.sweep(noon + hourMs);
  expect(await scenario.batch(1)).toMatchObject({ state: given.state });
  const { verdict, status } = given;
  expect(await scenario.verdict(1, verdict, { status, now: noon + 2 * hourMs })).toBe(given.after);
  // Nobody is back in line who may have been called.
  expect((await scenario.recipients()).map((row) => [row.state, row.outcome])).toEqual(twice(['done', 'unresolved']));
  expect(await scenario.campaign()).toMatchObject({ state: 'running' });
});

test.for(dialects)('a late "not sent" puts the people back in line and holds the account: %s', async (dialect) => {
  const scenario = await posted(dialect);
  await scenario.store.transaction((tx) => holdAccount(tx, 'http://service', noon));
  await scenario.post(1);
  const now = noon + minuteMs;
  expect(await scenario.verdict(1, 'not_sent', { status: 429, notBefore: noon + hourMs, now })).toBe('released');
  expect(await scenario.recipients()).toMatchObject(twice({ state: 'waiting', due_at: now, counted: 0 }));
  expect(await scenario.plan(2, now)).toMatchObject({ kind: 'wait', reason: 'blocked', until: noon + hourMs });
  await scenario.sweep(now + minuteMs);
  const redialled = await scenario.dial(2, noon + hourMs);
  expect(redialled).toEqual(['spring/1/2', 'spring/2/2']);
  const result = { disposition: 'answered' as const, detail: null, counted: true };
  const settlements = redialled.map((attemptId) => ({ attemptId, result }));
  await scenario.store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now: noon + hourMs }, settlements));
  expect(await scenario.recipients()).toMatchObject(twice({ outcome: 'completed', counted: 1 }));
});
