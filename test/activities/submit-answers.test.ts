import { expect, test } from 'vitest';
import { RateLimitedError } from '../../src/service/port/errors.ts';
import type { FaultRuleInput } from '../../src/sandbox/faults/rule.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { beginProven, agentId } from '../ledger/scenario.ts';
import { dialects } from '../ledger/test-stores.ts';
import { submittingWorker } from '../support/submitting-worker.ts';
import { hourMs, minuteMs } from '../support/campaign-rules.ts';
import { leaseAgent, releaseLease } from '../../src/ledger/collect/sweeps.ts';
import { startWorld, type ClockWorker, type ClockWorld } from './clock-world.ts';
import type { Store } from '../../src/ledger/tx.ts';

/** None shows whether calls are placed. `placed`: how many the service places anyway. */
const answers: { what: string; effect: FaultRuleInput['effect']; placed: number }[] = [
  { what: 'a connection that breaks before the service acts', effect: { type: 'reset', when: 'before' }, placed: 0 },
  { what: 'a connection that breaks once it has acted', effect: { type: 'reset', when: 'after' }, placed: 4 },
  { what: 'a failure (500) before it acts', effect: { type: 'error', status: 500, when: 'before' }, placed: 0 },
  { what: 'a failure (503) once it has acted', effect: { type: 'error', status: 503, when: 'after' }, placed: 4 },
  { what: 'a page from something in front of it', effect: { type: 'html', status: 502, when: 'after' }, placed: 4 },
  { what: 'a success that cannot be read', effect: { type: 'html', status: 200, when: 'after' }, placed: 4 },
  { what: 'a success that breaks off', effect: { type: 'truncate', ending: 'broken' }, placed: 4 },
];
const cases = dialects.flatMap((dialect) => answers.map((answer) => ({ dialect, ...answer })));

test.for(cases)('after $what a batch is in doubt, and is not sent again: $dialect', async (given) => {
  const world = await startWorld({ faults: [{ operation: 'batch_calls', nth: 1, effect: given.effect }] });
  const store = await openCleanStore(given.dialect);
  await world.import(store);
  const worker = world.worker(store);
  expect(await worker.dial(1)).toBe('unknown');
  expect(await worker.dial(1)).toBe('unknown');
  expect(await worker.plan(2)).toMatchObject({ kind: 'wait', outstanding: true });
  const posts = world.sandbox.journal().filter(({ operation }) => operation === 'batch_calls');
  expect(posts).toHaveLength(1);
  expect(world.sandbox.calls()).toHaveLength(given.placed);
});

const facts = { method: 'POST', path: '/', requestId: null };
const failures = [
  { what: 'a defect of the client', failure: new TypeError('not a function') },
  {
    what: 'a 429 that names a batch',
    failure: new RateLimitedError(facts, { retryAfterMs: 1_000, code: null, batchId: 'service_1' }),
  },
];
const failureCases = dialects.flatMap((dialect) => failures.map((failure) => ({ dialect, ...failure })));

test.for(failureCases)('$what leaves a batch in doubt as well: $dialect', async ({ dialect, failure }) => {
  const scenario = await beginProven(await openCleanStore(dialect));
  await scenario.plan(1);
  const worker = submittingWorker(scenario.store, {
    meanwhile: () => Promise.reject(failure),
  });
  const input = { batchId: scenario.batchId(1) };
  const doubt = { kind: 'verdict', state: 'unknown' };
  expect(await worker.submit(input)).toMatchObject(doubt);
  expect(await worker.submit(input)).toMatchObject(doubt);
  expect(worker.posts).toEqual([`${input.batchId}/1`]);
});

type Dialect = (typeof dialects)[number];
type Limited = Extract<FaultRuleInput['effect'], { type: 'rate_limited' }>;

/** A planned batch of four, at a service that answers its first POST with 429, and one without requests. */
async function beginLimited(
  dialect: Dialect,
  { speed = 1, ...effect }: Omit<Limited, 'type'> & { speed?: number },
): Promise<{ world: ClockWorld; worker: ClockWorker }> {
  const effects = { type: 'rate_limited', ...effect } as const;
  const world = await startWorld({ faults: [{ operation: 'batch_calls', nth: 1, effect: effects }] }, speed);
  const store = await openCleanStore(dialect);
  await world.import(store);
  const worker = world.worker(store);
  expect(await worker.plan(1)).toMatchObject({ kind: 'batch', size: 4 });
  return { world, worker };
}

const asked = dialects.flatMap((dialect) =>
  [1, 60].flatMap((speed) => (['seconds', 'date'] as const).map((retryAfter) => ({ dialect, speed, retryAfter }))),
);

test.for(asked)(
  'a Retry-After in $retryAfter is waited for in full by the same batch, at speed $speed: $dialect',
  async ({ dialect, ...given }) => {
    const { world, worker } = await beginLimited(dialect, { seconds: 300, ...given });
    const waitMs = 300_000 / given.speed;
    expect(await worker.submit(1)).toMatchObject({ type: 'RateLimited', nextRetryDelay: waitMs });
    world.real += waitMs - 1;
    expect(await worker.submit(1)).toMatchObject({ type: 'Blocked' });
    expect(world.sandbox.calls()).toEqual([]);
    world.real += 1;
    expect(await worker.submit(1)).toBe('confirmed');
    expect(world.sandbox.calls()).toHaveLength(4);
  },
);

test.for(dialects)('without a Retry-After the retry policy says how long a batch waits: %s', async (dialect) => {
  const { world, worker } = await beginLimited(dialect, { retryAfter: 'none' });
  expect(await worker.submit(1)).toMatchObject({ type: 'RateLimited', nextRetryDelay: undefined });
  // Once the list has shown nothing else for a minute, no call was placed.
  world.real += minuteMs;
  expect(await worker.submit(1)).toBe('confirmed');
  expect(world.sandbox.calls()).toHaveLength(4);
});

test.for(dialects)(
  'a batch whose Retry-After is longer than a submit may take is released at once, and nobody is dialled early: %s',
  async (dialect) => {
    const { world, worker } = await beginLimited(dialect, { seconds: 3_600 });
    expect(await worker.submit(1)).toMatchObject({ type: 'RateLimited', nextRetryDelay: 1 });
    expect(await worker.submit(1)).toBe('released');
    world.real += hourMs - 1;
    expect(await worker.plan(2)).toMatchObject({ kind: 'wait', reason: 'blocked' });
    expect(world.sandbox.calls()).toEqual([]);
    world.real += 1;
    await worker.sweep();
    expect(await worker.plan(2)).toMatchObject({ kind: 'batch', size: 4 });
    expect(await worker.submit(2)).toBe('confirmed');
    expect(world.sandbox.calls()).toHaveLength(4);
  },
);

test.for(dialects)('records are left alone for as long as the service asks for, at speed 60: %s', async (dialect) => {
  const effect = { type: 'rate_limited', seconds: 60 } as const;
  const world = await startWorld({ faults: [{ operation: 'list_conversations', nth: 1, effect }] }, 60);
  const store = await openCleanStore(dialect);
  await world.import(store);
  const worker = world.worker(store);
  const reads = () => world.sandbox.journal().filter(({ operation }) => operation === 'list_conversations').length;
  expect(await worker.sweep()).toMatchObject({ kind: 'failed', waitMs: 1_000 });
  world.real += 999;
  expect(await worker.sweep()).toMatchObject({ kind: 'failed', waitMs: 1 });
  expect(reads()).toBe(1);
  world.real += 1;
  expect(await worker.sweep()).toMatchObject({ kind: 'complete', waitMs: 0 });
});

const denied: FaultRuleInput = {
  operation: 'batch_calls',
  nth: 1,
  effect: { type: 'rate_limited', seconds: 70, when: 'after' },
};

/** The batch was denied but called; its records are listed, but not read yet. */
async function startDenied(store: Store): Promise<{ world: ClockWorld; dial: () => Promise<string> }> {
  const world = await startWorld({ faults: [denied] });
  await world.import(store, { pacing: { batchSize: 2 } }, 2);
  const worker = world.worker(store);
  const dial = () => worker.dial(1);
  expect(await dial()).toContain('RateLimited');
  expect(world.sandbox.calls()).toHaveLength(2);
  world.real += 5 * minuteMs;
  return { world, dial };
}

test.for(dialects)('after a 429 nobody is called again while another process reads the list: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const { world, dial } = await startDenied(store);
  expect(await leaseAgent(store, { agentId, owner: 'another process', forMs: minuteMs })).toBe(true);
  expect(await dial()).toContain('Blocked');
  await releaseLease(store, agentId, 'another process');
  world.real += minuteMs;
  expect(await dial()).toBe('confirmed');
  expect(world.sandbox.calls()).toHaveLength(2);
});

test.for(dialects)('after a 429 nobody is called again while the list cannot be read: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const { world, dial } = await startDenied(store);
  world.sandbox.addFaults([{ operation: 'list_conversations', times: 1, effect: { type: 'error', status: 403 } }]);
  expect(await dial()).toContain('Blocked');
  world.real += minuteMs;
  expect(await dial()).toBe('confirmed');
  expect(world.sandbox.calls()).toHaveLength(2);
});
