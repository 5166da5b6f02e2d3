import { ApplicationFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import type { Store } from '../../src/ledger/open-ledger.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { beginProven } from '../ledger/scenario.ts';
import { bothDialects } from '../ledger/test-stores.ts';
import { submittingWorker } from '../support/submitting-worker.ts';

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
  // What is known of the request goes into the workflow, where a person finds it.
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
