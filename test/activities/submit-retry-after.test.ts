import { expect, test } from 'vitest';
import type { FaultRuleInput } from '../../src/sandbox/faults/rule.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { dialects } from '../ledger/test-stores.ts';
import { hourMs, minuteMs } from '../support/campaign-rules.ts';
import { startWorld, type ClockWorker, type ClockWorld } from './clock-world.ts';

type Dialect = (typeof dialects)[number];
type Limited = Extract<FaultRuleInput['effect'], { type: 'rate_limited' }>;

/** A batch of four that is planned, before a service that answers its first POST with 429, and one that is never asked for calls. */
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
  // The word that nobody is called is believed when the list has shown nothing else for a minute.
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
