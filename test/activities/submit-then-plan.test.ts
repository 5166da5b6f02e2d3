import { expect, test } from 'vitest';
import type { Store } from '../../src/ledger/open-ledger.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { beginProven } from '../ledger/scenario.ts';
import { dialects } from '../ledger/test-stores.ts';
import { submittingWorker } from '../support/submitting-worker.ts';

const rules = { pacing: { batchSize: 2, refillThreshold: 1, maxConcurrentCalls: 4 } };

async function begin(dialect: (typeof dialects)[number]) {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rules });
  await scenario.plan(1);
  const thenPlan = { campaignId: scenario.campaignId, round: 1, batchNumber: 2 };
  return { store, scenario, input: { batchId: scenario.batchId(1), thenPlan } };
}

test.for(dialects)(
  'a batch that is sent brings the plan of the next one along, the same each time: %s',
  async (dialect) => {
    const { store, scenario, input } = await begin(dialect);
    const worker = submittingWorker(store);
    const planned = { kind: 'batch', batchId: scenario.batchId(2), size: 2 };
    const said = { kind: 'verdict', state: 'confirmed', planned };
    expect(await worker.submit(input)).toEqual(said);
    expect(await worker.submit(input)).toEqual(said);
    expect(worker.posts).toEqual([`${input.batchId}/1`]);
    expect(await scenario.batch(2)).toMatchObject({ state: 'intent', posts: 0 });
  },
);

test.for(dialects)('a planner that fails does not hold up the verdict: %s', async (dialect) => {
  const { store, scenario, input } = await begin(dialect);
  let transactions = 0;
  const breaking: Store = {
    ...store,
    transaction: (work) => {
      transactions += 1;
      // The dial transaction and the verdict come first.
      return transactions > 2 ? Promise.reject(new Error('the database broke')) : store.transaction(work);
    },
  };
  const { submit, posts } = submittingWorker(breaking);
  expect(await submit(input)).toEqual({ kind: 'verdict', state: 'confirmed' });
  expect(transactions).toBe(3);
  expect(posts).toEqual([`${input.batchId}/1`]);
  expect(await scenario.batch(2)).toBeUndefined();
});
