import { ApplicationFailure } from '@temporalio/common';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import { createActivities } from '../../activities/index.ts';
import type { ServiceClock } from '../../src/convai/service-clock.ts';
import type { Store } from '../../src/store/open-store.ts';
import { openCleanStore } from '../store/clean-store.ts';
import { beginProven, noon } from '../store/scenario.ts';
import { dialects } from '../store/test-stores.ts';
import { openNoWitness } from '../support/activity-context.ts';

/** A worker whose service takes every batch, with what happens to the ledger meanwhile. */
function workerOf(store: Store, meanwhile: () => Promise<void> = async () => {}) {
  let posts = 0;
  const client = {
    clockReadings: () => ({ last: null, ageMs: 0, answeredMsAgo: 0, connectionFailed: false }),
    placeBatchCalls: async () => {
      posts += 1;
      await meanwhile();
      return { batchId: 'service_1', callsInitiated: 6 };
    },
  };
  const deps = {
    store,
    client: client as unknown as ActivityDependencies['client'],
    accountId: 'http://service',
    serviceClock: async () => ({ speed: 1, now: () => noon, toRealMs: (ms: number) => ms }) as ServiceClock,
    logger: pino({ level: 'silent' }),
    nowReal: () => noon,
    monotonicMs: () => 0,
    openWitness: openNoWitness,
    limits: { postingWindowMs: 10_000, httpTimeoutMs: 60_000 },
  } as ActivityDependencies;
  return { ...createActivities(deps), posts: () => posts };
}

async function failureOf(
  work: Promise<unknown>,
): Promise<Pick<ApplicationFailure, 'type' | 'nonRetryable' | 'details'>> {
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

test.for(dialects)('a batch that the ledger has lost before it was sent ends the run: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store);
  await scenario.plan(1);
  await forget(store);
  const worker = workerOf(store);
  expect(await failureOf(worker.submit({ batchId: scenario.batchId(1) }))).toEqual(older(false));
  expect(worker.posts()).toBe(0);
  const message = "The ledger is older than the campaign's progress: batch spring/1/1 is missing.";
  expect(await scenario.campaign()).toMatchObject({ state: 'failed', stateReason: message });
});

test.for(dialects)(
  'so does one that it loses while it is sent, once its verdict is to be written: %s',
  async (dialect) => {
    const store = await openCleanStore(dialect);
    const scenario = await beginProven(store);
    await scenario.plan(1);
    const worker = workerOf(store, () => forget(store));
    const result = await worker.submit({ batchId: scenario.batchId(1) });
    // What is known of the request goes into the workflow, where a person finds it.
    expect(result).toMatchObject({
      kind: 'unrecorded',
      verdict: { verdict: 'confirmed', serviceBatchId: 'service_1' },
    });
    if (result.kind !== 'unrecorded') return;
    expect(await failureOf(worker.recordPostVerdict(result.verdict))).toEqual(older(false));
    expect(await scenario.campaign()).toMatchObject({ state: 'failed' });
  },
);

test.for(dialects)('and one of whose request it knows nothing any more: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store);
  await scenario.plan(1);
  const worker = workerOf(store, async () => {
    await store.db.deleteFrom('posts').execute();
    await store.db.updateTable('attempts').set({ state: 'planned' }).execute();
    await store.db.updateTable('batches').set({ state: 'intent', posts: 0 }).execute();
  });
  const result = await worker.submit({ batchId: scenario.batchId(1) });
  if (result.kind !== 'unrecorded') throw new Error('the verdict was written');
  expect(await failureOf(worker.recordPostVerdict(result.verdict))).toEqual(older(true));
  expect(await failureOf(worker.plan({ campaignId: 'spring', round: 1, n: 2 }))).toEqual(older(true));
  expect(await scenario.attempts()).toHaveLength(6);
});
