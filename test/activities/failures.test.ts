import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { expect, test, onTestFinished, vi } from 'vitest';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import { StandbyError } from '../../src/ledger/postgres/writer-pool.ts';
import { toFailure } from '../../activities/failures.ts';
import { createActivities } from '../../activities/index.ts';
import { RateLimitedError } from '../../src/service/port/errors.ts';
import type { ServiceClock } from '../../src/service/port/service-clock.ts';
import { asActivity } from '../support/activity-context.ts';
import { collect } from '../../activities/collect.ts';
import type { ConvaiClient } from '../../src/service/convai/client.ts';
import { leaseAgent } from '../../src/ledger/collect/sweeps.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { agentId, beginProven, noon } from '../ledger/scenario.ts';
import { until } from '../support/until.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import { bothDialects } from '../ledger/test-stores.ts';
import { submittingWorker } from '../support/submitting-worker.ts';
import type { Store } from '../../src/ledger/tx.ts';

const gone = async (): Promise<never> => {
  throw Object.assign(new Error('no row for +12125550100'), { code: 'SQLITE_IOERR' });
};

/** Every dependency fails with a phone number in its message. */
const nothing = new Proxy({ serviceClock: gone } as unknown as ActivityDependencies, {
  get: (target, name) => {
    if (name === 'serviceClock') return target.serviceClock;
    if (name === 'limits') return { heartbeatEveryMs: 1_000, httpTimeoutMs: 1_000 };
    if (name === 'stopping') return new AbortController().signal;
    throw Object.assign(new Error('no row for +12125550100'), { code: 'SQLITE_IOERR' });
  },
});

test('whichever activity fails, its failure holds the code of the error and none of its words', async () => {
  const activities = createActivities(nothing);
  const failures = await Promise.all(
    Object.entries(activities).map(async ([name, activity]) => {
      const work = () => (activity as (input: object) => Promise<unknown>)({ batchId: 'spring/1/1', change: 'pause' });
      return [name, await asActivity(work).catch((error: unknown) => error)] as const;
    }),
  );
  expect(failures).toHaveLength(13);
  for (const [name, failure] of failures) {
    expect(failure, name).toBeInstanceOf(ApplicationFailure);
    expect(failure, name).toMatchObject({ type: 'Database', cause: undefined });
    expect((failure as Error).message, name).toMatch(/^(Error SQLITE_IOERR|TypeError)$/);
  }
});

test('what the service asks to be left alone for is time on its own clock, whatever was asked', async () => {
  const limit = new RateLimitedError(
    { method: 'GET', path: '/v1/convai/agents', requestId: null },
    { retryAfterMs: 60_000, code: null, batchId: null },
  );
  const clock = { toRealMs: (ms) => ms / 60 } as Pick<ServiceClock, 'toRealMs'> as ServiceClock;
  expect(await toFailure(limit, { serviceClock: async () => clock })).toMatchObject({ nextRetryDelay: 1_000 });
  // Without a clock it errs on the long side.
  expect(await toFailure(limit, { serviceClock: gone })).toMatchObject({ nextRetryDelay: 60_000 });
});

test('an activity that is cancelled says so to Temporal', async () => {
  const cancelled = new CancelledFailure('CANCELLED');
  expect(await toFailure(cancelled, { serviceClock: gone })).toBe(cancelled);
  const astray = await toFailure(new StandbyError(), { serviceClock: gone });
  expect(astray).toMatchObject({ type: 'Database', nextRetryDelay: 5_000 });
  expect(astray.message).toMatch(/^the database answers as a read-only standby\./);
  // Where attempts are limited, the retry policy sets the delay.
  expect(await toFailure(new StandbyError(), { serviceClock: gone }, null)).toMatchObject({ nextRetryDelay: undefined });
});

async function startCollect(listConversationsPage: () => Promise<never>) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store);
  await scenario.dial(1);
  let realMs = 0;
  const timed = { ...store, now: async () => realMs };
  const deps = buildDependencies({
    store: timed,
    client: { listConversationsPage } as unknown as ConvaiClient,
    accountId: (await scenario.campaign()).accountId,
    nowReal: () => noon + realMs,
    monotonicMs: () => realMs,
    limits: { leaseMs: 30_000 },
  });
  let beats = 0;
  const work = asActivity(() => collect(deps, { campaignId: 'spring' }), { heartbeat: () => (beats += 1) });
  return {
    store: timed,
    work,
    beatsIn: async (ms: number) => {
      const before = beats;
      for (let passed = 0; passed < ms; passed += 1_000) {
        realMs += 1_000;
        await vi.advanceTimersByTimeAsync(1_000);
      }
      return beats - before;
    },
  };
}

test('a collect whose request never ends is heard of no more, and its list may be read by another worker', async () => {
  let isAsked = false;
  let fail!: (error: Error) => void;
  const run = await startCollect(() => {
    isAsked = true;
    return new Promise((_, reject) => (fail = reject));
  });
  await until('the service is asked', () => isAsked);
  // Twice a request's limits: for the answer, and for delays before sending.
  expect(await run.beatsIn(120_000)).toBe(120);
  expect(await leaseAgent(run.store, { agentId, owner: 'other', forMs: 1_000 })).toBe(false);
  expect(await run.beatsIn(120_000)).toBe(0);
  expect(await leaseAgent(run.store, { agentId, owner: 'other', forMs: 1_000 })).toBe(true);
  fail(new Error('the test is over'));
  await expect(run.work).rejects.toThrow();
});

async function failureOf(work: Promise<unknown>): Promise<Pick<ApplicationFailure, 'type' | 'nonRetryable' | 'details'>> {
  const thrown = await work.then(JSON.stringify, (error: unknown) => error);
  if (!(thrown instanceof ApplicationFailure)) throw new Error(`no failure: ${String(thrown)}`);
  const { type, nonRetryable, details } = thrown;
  return { type, nonRetryable, details };
}

async function forget(store: Store): Promise<void> {
  for (const table of ['posts', 'attempts', 'batches'] as const) await store.db.deleteFrom(table).execute();
}

const older = (submitted: boolean) => ({
  type: 'LedgerOlder',
  nonRetryable: true,
  details: [{ missing: 1, submitted }],
});

test.for(bothDialects)('a batch that the ledger has lost before it was sent ends the run: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store);
  await scenario.plan(1);
  await forget(store);
  const worker = submittingWorker(store);
  expect(await failureOf(worker.submit({ batchId: scenario.batchId(1) }))).toEqual(older(false));
  expect(worker.posts).toEqual([]);
  const message = "The ledger is older than the campaign's progress: batch spring/1/1 is missing.";
  expect(await scenario.campaign()).toMatchObject({ state: 'failed', stateReason: message });
});

test.for(bothDialects)('so does one that it loses while it is sent, once its verdict is to be written: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store);
  await scenario.plan(1);
  const worker = submittingWorker(store, { meanwhile: () => forget(store) });
  const result = await worker.submit({ batchId: scenario.batchId(1) });
  // What is known of the request goes into the workflow's result, for the operator.
  expect(result).toMatchObject({
    kind: 'unrecorded',
    verdict: { verdict: 'confirmed', serviceBatchId: 'service_1' },
  });
  if (result.kind !== 'unrecorded') return;
  expect(await failureOf(worker.recordPostVerdict(result.verdict))).toEqual(older(false));
  expect(await scenario.campaign()).toMatchObject({ state: 'failed' });
});

test.for(bothDialects)('and one of whose request it knows nothing any more: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store);
  await scenario.plan(1);
  const worker = submittingWorker(store, {
    meanwhile: async () => {
      await store.db.deleteFrom('posts').execute();
      await store.db.updateTable('attempts').set({ state: 'planned' }).execute();
      await store.db.updateTable('batches').set({ state: 'intent', posts: 0 }).execute();
    },
  });
  const result = await worker.submit({ batchId: scenario.batchId(1) });
  if (result.kind !== 'unrecorded') throw new Error('the verdict was written');
  expect(await failureOf(worker.recordPostVerdict(result.verdict))).toEqual(older(true));
  expect(await failureOf(worker.plan({ campaignId: 'spring', round: 1, batchNumber: 2 }))).toEqual(older(true));
  expect(await scenario.attempts()).toHaveLength(6);
});
