import { fetch } from 'undici';
import { expect, test } from 'vitest';
import { readEvents } from '../../src/ledger/events.ts';
import { leaseAgent } from '../../src/ledger/collect/sweeps.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { startHttpService } from '../service/convai/loopback-servers.ts';
import { agentId, noon } from '../ledger/scenario.ts';
import { dialects } from '../ledger/test-stores.ts';
import { hourMs, minuteMs } from '../support/campaign-rules.ts';
import { startWorld, type ClockWorld } from './clock-world.ts';
import { campaignId } from './steps.ts';
import type { Store } from '../../src/ledger/tx.ts';

async function stepsOf(store: Store): Promise<unknown[]> {
  const events = await readEvents(store.db, campaignId, { afterSeq: 0, limit: 1000, types: ['clock.stepped'] });
  return events.map(({ data }) => data);
}

async function accountOf(store: Store) {
  return store.db.selectFrom('accounts').selectAll().executeTakeFirstOrThrow();
}

/** Each POST, and whether the service's instants of its calls lie within its bounds, to the second. */
async function boundsOf(store: Store, world: ClockWorld) {
  const posts = await store.db.selectFrom('posts').selectAll().orderBy('batch_id').orderBy('k').execute();
  const calls = world.sandbox.calls();
  return posts.map((post) => ({
    verdict: post.verdict,
    widthMs: (post.service_to ?? NaN) - (post.service_from ?? NaN),
    holds: calls
      .filter((call) => call.requestId === `${post.batch_id}/${post.k}`)
      .every(({ queuedAt }) => queuedAt >= (post.service_from ?? NaN) && queuedAt < (post.service_to ?? NaN) + 1_000),
  }));
}

test.for(dialects)('a POST stands between two times of the service, whatever the clocks of two workers show: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const world = await startWorld();
  await world.import(store, { pacing: { batchSize: 2 } });
  const [dialling, sweeping] = [world.worker(store, 5_000), world.worker(store)];
  expect(await sweeping.sweep()).toMatchObject({ kind: 'complete' });
  expect(await dialling.dial(1)).toBe('confirmed');
  world.real += 20_000;
  dialling.aheadMs -= 8_000;
  expect(await dialling.dial(2)).toBe('confirmed');
  expect(await boundsOf(store, world)).toEqual([
    { verdict: 'confirmed', widthMs: 0, holds: true },
    { verdict: 'confirmed', widthMs: 20_000, holds: true },
  ]);
  expect(world.sandbox.calls()).toHaveLength(4);
  expect(await stepsOf(store)).toEqual([]);
});

test('a reading that is older than a minute is made anew before a POST, a younger one is not', async () => {
  const store = await openCleanStore('sqlite');
  const world = await startWorld();
  await world.import(store, { pacing: { batchSize: 1 } });
  const worker = world.worker(store);
  const reads = () => world.sandbox.journal().filter((entry) => entry.operation === 'list_conversations').length;
  expect(await worker.dial(1)).toBe('confirmed');
  const first = reads();
  world.real += 59_000;
  expect(await worker.dial(2)).toBe('confirmed');
  expect(reads()).toBe(first);
  world.real += 61_000;
  expect(await worker.dial(3)).toBe('confirmed');
  expect(reads()).toBe(first + 1);
  expect((await boundsOf(store, world)).map(({ widthMs }) => widthMs)).toEqual([0, 59_000, 0]);
});

test.for([
  { effect: { type: 'rate_limited', seconds: 5 }, verdict: 'not_sent' },
  { effect: { type: 'error', status: 422 }, verdict: 'refused' },
  { effect: { type: 'error', status: 500, when: 'after' }, verdict: 'unknown' },
] as const)('an answer outside 2xx tells the time of its POST too: $verdict', async ({ effect, verdict }) => {
  const store = await openCleanStore('sqlite');
  const world = await startWorld({ faults: [{ operation: 'batch_calls', nth: 1, effect }] });
  await world.import(store);
  await world.worker(store).dial(1);
  const [post] = await store.db.selectFrom('posts').selectAll().execute();
  expect(post).toMatchObject({ verdict, service_from: noon, service_to: noon });
});

test('a service that was restarted with its clock 28 minutes back: its time is read before anything is sent', async () => {
  const store = await openCleanStore('sqlite');
  const speed = 20;
  const world = await startWorld({}, speed);
  await world.import(store, { pacing: { batchSize: 2 } });
  const worker = world.worker(store);
  expect(await worker.dial(1)).toBe('confirmed');
  world.real += 10_000;
  await worker.sweep();
  await world.stop();
  expect(await worker.sweep()).toMatchObject({ kind: 'failed' });
  expect(await worker.dial(2)).toMatch(/clock could not be read/);
  world.real += 83_000;
  // By its clock 15 minutes have passed.
  expect(await worker.dial(2)).toBe('released');
  // The service's clock stood still while it was down; the worker keeps the clock it knew.
  world.serviceOffMs = -83_000 * speed;
  await world.start();
  world.real += 7_000;
  expect(await worker.dial(3)).toBe('confirmed');
  const [, second] = await store.db.selectFrom('posts').selectAll().orderBy('batch_id').execute();
  expect(second).toMatchObject({ k: 1, service_from: world.serviceNow(), service_to: world.serviceNow() });
  expect(second?.posted_at).toBe(world.serviceNow() + 83_000 * speed);
  const [step, ...others] = (await stepsOf(store)) as { clock: string; byMs: number }[];
  expect(others).toEqual([]);
  expect(step?.clock).toBe('service');
  expect(Math.abs((step?.byMs ?? 0) + 83_000 * speed)).toBeLessThan(30_000);
  // At least the latest time that an earlier POST may carry.
  expect((await accountOf(store)).stepped_at).toBeGreaterThan(second?.posted_at ?? Infinity);
});

test('a service that was away for seconds: its time is read at once, and the batch goes out', async () => {
  const store = await openCleanStore('sqlite');
  const world = await startWorld();
  await world.import(store, { pacing: { batchSize: 2 } });
  const worker = world.worker(store);
  expect(await worker.dial(1)).toBe('confirmed');
  await world.stop();
  expect(await worker.sweep()).toMatchObject({ kind: 'failed' });
  world.real += 5_000;
  await world.start();
  expect(await worker.dial(2)).toBe('confirmed');
  expect(await store.db.selectFrom('posts').select('service_from').orderBy('batch_id').execute()).toEqual([
    { service_from: noon },
    { service_from: noon + 5_000 },
  ]);
});

test.for([-28 * minuteMs, 28 * minuteMs])('a worker that begins anew finds a clock that was set meanwhile: %i ms', async (byMs) => {
  const store = await openCleanStore('sqlite');
  const world = await startWorld();
  await world.import(store);
  const kept = { ...store, now: async () => world.real };
  await world.worker(kept).sweep();
  world.real += 3 * hourMs;
  await world.worker(kept).sweep();
  expect(await stepsOf(store)).toEqual([]);
  world.serviceOffMs = byMs;
  world.real += minuteMs;
  await world.worker(kept).sweep();
  expect(await stepsOf(store)).toMatchObject([{ clock: 'service' }]);
  expect((await accountOf(store)).stepped_at).toBeGreaterThanOrEqual(world.real);
});

test.for([
  { clock: 'machine', byMs: -2 * minuteMs, seen: [] },
  { clock: 'machine', byMs: -4 * minuteMs, seen: [{ clock: 'machine', byMs: -4 * minuteMs }] },
  { clock: 'machine', byMs: 4 * minuteMs, seen: [{ clock: 'machine', byMs: 4 * minuteMs }] },
  { clock: 'service', byMs: -2 * minuteMs, seen: [] },
  { clock: 'service', byMs: -4 * minuteMs, seen: [{ clock: 'service' }] },
  { clock: 'service', byMs: 4 * minuteMs, seen: [{ clock: 'service' }] },
] as const)('more than half of the tolerance is a step: $clock by $byMs ms', async ({ clock, byMs, seen }) => {
  const store = await openCleanStore('sqlite');
  const world = await startWorld();
  await world.import(store);
  const worker = world.worker(store);
  await worker.sweep();
  world.real += 20_000;
  if (clock === 'machine') worker.aheadMs += byMs;
  else world.serviceOffMs += byMs;
  await worker.sweep();
  world.real += 20_000;
  await worker.sweep();
  expect(await stepsOf(store)).toMatchObject(seen);
  // Everything posted by the old clock lies before the step.
  const { stepped_at: steppedAt } = await accountOf(store);
  expect(steppedAt >= noon + 20_000).toBe(seen.length > 0);
});

test('a sandbox that runs fast has no steps, however late its answers are noticed', async () => {
  const store = await openCleanStore('sqlite');
  const world = await startWorld({}, 3_600);
  await world.import(store);
  const worker = world.worker(store);
  for (let sweep = 0; sweep < 5; sweep += 1) {
    await worker.sweep();
    world.real += 10_000 + sweep * 1_234;
  }
  expect(await stepsOf(store)).toEqual([]);
});

test.for([6 * minuteMs, -6 * minuteMs])('clocks that are too far apart dial nobody, and it is told: %i ms', async (byMs) => {
  const store = await openCleanStore('sqlite');
  const world = await startWorld();
  await world.import(store);
  const worker = world.worker(store, -byMs);
  expect(await worker.dial(1)).toBe("Blocked: The service's clock and this machine's are too far apart");
  expect(world.sandbox.calls()).toEqual([]);
  expect((await accountOf(store)).clocks_apart_ms).toBe(byMs);
  worker.aheadMs = 0;
  expect(await worker.dial(1)).toBe('confirmed');
  expect((await accountOf(store)).clocks_apart_ms).toBe(0);
});

test.for([4 * minuteMs, -4 * minuteMs])('hours that are open by one clock alone are closed: %i ms', async (aheadMs) => {
  const store = await openCleanStore('sqlite');
  const world = await startWorld();
  // The window opens or closes two minutes from noon, so that one clock is on the wrong side.
  const at = 7 * 60 + (aheadMs > 0 ? 2 : -2);
  const hours = aheadMs > 0 ? [{ from: at, to: 20 * 60 }] : [{ from: 60, to: at + 10 }];
  const week = Object.fromEntries(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => [day, hours]));
  await world.import(store, { calendar: { hours: week, closedOn: [] } });
  expect(await world.worker(store, aheadMs).dial(1)).toBe('released');
  expect(world.sandbox.calls()).toEqual([]);
  const [row] = await store.db.selectFrom('recipients').select(['state', 'outcome', 'due_at']).execute();
  expect(row).toMatchObject({ state: 'waiting', outcome: null });
  expect((row?.due_at ?? 0) - noon).toBeGreaterThanOrEqual(minuteMs);
});

test.for(dialects)('a lease is not lost to a worker whose clock is an hour ahead: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const world = await startWorld();
  await world.import(store);
  expect(await leaseAgent(store, { agentId, owner: 'one', forMs: minuteMs })).toBe(true);
  expect(await world.worker(store, hourMs).sweep()).toMatchObject({ kind: 'busy' });
});

test.for(dialects)('a clock that was set back unseen before a POST: its bounds hold the time of the answer: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const world = await startWorld();
  await world.import(store, { pacing: { batchSize: 2 } });
  const worker = world.worker(store);
  expect(await worker.dial(1)).toBe('confirmed');
  world.serviceOffMs = -28 * minuteMs;
  expect(await worker.dial(2)).toBe('confirmed');
  expect(await boundsOf(store, world)).toEqual([
    { verdict: 'confirmed', widthMs: 0, holds: true },
    { verdict: 'confirmed', widthMs: 0, holds: true },
  ]);
  await worker.sweep();
  expect(await stepsOf(store)).toMatchObject([{ clock: 'service' }]);
});

/** Proxies everything without the time: no Date, or one with a cache's Age. */
async function hideTheTime(world: ClockWorld, age: string | null): Promise<string> {
  const { baseUrl } = await startHttpService((response, { method, url, headers, body }) => {
    response.sendDate = false;
    const sent = { 'x-api-key': String(headers['x-api-key']), 'content-type': 'application/json' };
    const id = headers['x-request-id'] === undefined ? {} : { 'x-request-id': String(headers['x-request-id']) };
    fetch(world.url + url, { method, headers: { ...sent, ...id }, ...(method === 'POST' ? { body } : {}) })
      .then(async (answer) => {
        const told = age === null ? {} : { date: answer.headers.get('date') ?? '', age };
        response.writeHead(answer.status, { 'content-type': 'application/json', ...told });
        response.end(await answer.text());
      })
      .catch(() => response.destroy());
  });
  return baseUrl;
}

test.for([null, '60'])('a service whose time is not told, or comes from a cache, holds nothing up: Age %s', async (age) => {
  const store = await openCleanStore('sqlite');
  const world = await startWorld();
  await world.import(store, { pacing: { batchSize: 2 } });
  const worker = world.worker(store, 0, await hideTheTime(world, age));
  expect(await worker.sweep()).toMatchObject({ kind: 'complete' });
  expect(await worker.dial(1)).toBe('confirmed');
  world.real += 10 * minuteMs;
  expect(await worker.dial(2)).toBe('confirmed');
  const posts = await store.db.selectFrom('posts').select(['service_from', 'service_to']).execute();
  const untold = { service_from: null, service_to: null };
  expect(posts).toEqual([untold, untold]);
  expect(world.sandbox.calls()).toHaveLength(4);
});

test('at 60 times a changed agent voids its pilot within ten minutes of the service, and no call is planned meanwhile', async () => {
  const store = await openCleanStore('sqlite');
  const world = await startWorld({}, 60);
  await world.import(store, { pilot: { rows: 3, pick: 'first', next: 'ask' }, pacing: { batchSize: 1, maxConcurrentCalls: 4 } }, 6);
  const worker = world.worker(store);
  const standing = async () => (await store.db.selectFrom('campaigns').select(['pilot_state', 'pilot_agent']).execute())[0];
  expect(await worker.dial(1)).toBe('confirmed');
  expect(await standing()).toMatchObject({ pilot_state: 'calling', pilot_agent: expect.any(String) as string });
  const change = { name: 'another', conversation_config: { agent: { prompt: { prompt: 'Sell.' } } } };
  const headers = { 'xi-api-key': 'sk_sandbox_ok', 'x-api-key': 'sk_sandbox_ok', 'content-type': 'application/json' };
  const changed = await fetch(`${world.url}/v1/convai/agents/${agentId}`, { method: 'PATCH', headers, body: JSON.stringify(change) });
  expect(changed.status).toBe(200);
  // Service time.
  world.real += 10_000;
  expect((await worker.plan(2)).kind).toBe('wait');
  expect(await standing()).toMatchObject({ pilot_state: 'asked' });
});
