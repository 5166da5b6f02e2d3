import { expect, test } from 'vitest';
import type { NotedPost, RequestNotes } from '../../activities/request-notes.ts';
import { RateLimitedError } from '../../src/service/port/errors.ts';
import { changeCampaignState } from '../../src/ledger/rows/campaigns.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { beginProven, noon } from '../ledger/scenario.ts';
import { dialects } from '../ledger/test-stores.ts';
import { openNoWitness } from '../support/activity-context.ts';
import { submittingWorker } from '../support/submitting-worker.ts';
import type { Store } from '../../src/ledger/tx.ts';

const rules = { pacing: { batchSize: 2, refillThreshold: 1, maxConcurrentCalls: 6 } };

/** The first batch is planned; also what Temporal keeps of its submit between tries. */
async function begin(dialect: (typeof dialects)[number]) {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rules });
  await scenario.plan(1);
  const thenPlan = { campaignId: scenario.campaignId, round: 1, batchNumber: 2 };
  let kept: NotedPost | null = null;
  const openRequestNotes = (given: Partial<RequestNotes> = {}) => {
    const requestNotes = { ...openNoWitness(), last: kept, ...given };
    return { ...requestNotes, note: async (post: NotedPost) => void (requestNotes.last = kept = post), get last() { return requestNotes.last; } }; // prettier-ignore
  };
  const worker = (given: Partial<RequestNotes> = {}, of = store, meanwhile = async () => {}) =>
    submittingWorker(of, { openRequestNotes: () => openRequestNotes(given), meanwhile });
  return { store, scenario, worker, input: { batchId: scenario.batchId(1), thenPlan }, kept: () => kept };
}

const firstOf = (...batches: number[]) => batches.map((n) => `spring/1/${n}/1`);

test.for(dialects)('a submit goes on until the planner has nothing to send: %s', async (dialect) => {
  const { scenario, worker, input, kept } = await begin(dialect);
  const { submit, posts } = worker();
  const said = { kind: 'verdict', batchId: scenario.batchId(3), state: 'confirmed' };
  expect(await submit(input)).toMatchObject({ ...said, planned: { kind: 'wait', reason: 'collecting' } });
  expect(posts).toEqual(firstOf(1, 2, 3));
  expect(kept()).toEqual({ batchId: scenario.batchId(3), k: 1 });
  // The answer was lost: the next try starts like this one.
  const again = worker();
  expect(await again.submit(input)).toMatchObject(said);
  expect(again.posts).toEqual([]);
});

test.for(dialects)('it ends with the batch under way when it may not go on: %s', async (dialect) => {
  const { scenario, worker, input } = await begin(dialect);
  const { submit, posts } = worker({ mayGoOn: false });
  const planned = { kind: 'batch', batchId: scenario.batchId(2), size: 2 };
  expect(await submit(input)).toEqual({ kind: 'verdict', batchId: input.batchId, state: 'confirmed', planned });
  expect(posts).toEqual(firstOf(1));
  expect(await scenario.batch(2)).toMatchObject({ state: 'intent', posts: 0 });
});

test.for(dialects)('a pause that is granted while a batch is sent keeps the next one back: %s', async (dialect) => {
  const { store, scenario, worker, input } = await begin(dialect);
  const at = { campaignId: scenario.campaignId, now: noon };
  const { submit, posts } = worker({}, store, async () => {
    await store.transaction((tx) => changeCampaignState(tx, at, { to: 'paused', reason: 'by hand' }));
  });
  const planned = { kind: 'wait', reason: 'paused' };
  expect(await submit(input)).toMatchObject({ batchId: scenario.batchId(1), state: 'confirmed', planned });
  expect(posts).toEqual(firstOf(1));
});

test.for(dialects)('a worker that dies in the second request leaves that one in doubt: %s', async (dialect) => {
  const { scenario, worker, input } = await begin(dialect);
  let requests = 0;
  const dying = worker({}, undefined, () => {
    requests += 1;
    return requests === 1 ? Promise.resolve() : new Promise(() => {});
  });
  void dying.submit(input);
  await expect.poll(() => requests).toBe(2);
  const heir = worker();
  expect(await heir.submit(input)).toMatchObject({ batchId: scenario.batchId(2), state: 'unknown' });
  expect(dying.posts).toEqual(firstOf(1, 2));
  expect(heir.posts).toEqual([]);
});

test.for(dialects)('a 429 to the second request is waited out by the same submit, which Temporal was told of: %s', async (dialect) => {
  const { scenario, worker, input, kept } = await begin(dialect);
  const facts = { method: 'POST', path: '/', requestId: null };
  let requests = 0;
  const { submit, posts } = worker({}, undefined, async () => {
    requests += 1;
    if (requests === 2) throw new RateLimitedError(facts, { retryAfterMs: 5_000, code: null, batchId: null });
  });
  await expect(submit(input)).rejects.toMatchObject({ type: 'RateLimited' });
  expect(posts).toEqual(firstOf(1, 2));
  expect(kept()).toEqual({ batchId: scenario.batchId(2), k: 1 });
  expect(await scenario.batch(2)).toMatchObject({ state: 'not_sent' });
  expect(await scenario.batch(3)).toBeUndefined();
});

test.for(dialects)('a ledger without the last request that was noted ends the run: %s', async (dialect) => {
  const { store, scenario, worker, input } = await begin(dialect);
  await worker().submit(input);
  await store.db.deleteFrom('posts').execute();
  await store.db.deleteFrom('attempts').where('batch_id', '!=', input.batchId).execute();
  await store.db.deleteFrom('batches').where('batch_id', '!=', input.batchId).execute();
  await store.db.updateTable('attempts').set({ state: 'planned' }).execute();
  await store.db.updateTable('batches').set({ state: 'intent', posts: 0 }).execute();
  const { submit, posts } = worker();
  await expect(submit(input)).rejects.toMatchObject({ type: 'LedgerOlder', nonRetryable: true });
  expect(posts).toEqual([]);
  expect(await scenario.campaign()).toMatchObject({ state: 'failed' });
});

function breakingWhen(store: Store, isTime: () => Promise<boolean>): Store {
  return {
    ...store,
    transaction: async (work) => {
      if (await isTime()) throw new Error('the database broke');
      return store.transaction(work);
    },
  };
}

test.for(dialects)('a planner that fails does not hold up the verdict: %s', async (dialect) => {
  const { store, scenario, worker, input } = await begin(dialect);
  const isConfirmed = async () => (await scenario.batch(1))?.state === 'confirmed';
  const { submit, posts } = worker({}, breakingWhen(store, isConfirmed));
  expect(await submit(input)).toEqual({ kind: 'verdict', batchId: input.batchId, state: 'confirmed' });
  expect(posts).toEqual(firstOf(1));
  expect(await scenario.batch(2)).toBeUndefined();
});

test.for(dialects)('nor does a next batch that cannot be sent: %s', async (dialect) => {
  const { store, scenario, worker, input } = await begin(dialect);
  const isPlanned = async () => (await scenario.batch(2)) !== undefined;
  const { submit, posts } = worker({}, breakingWhen(store, isPlanned));
  const planned = { kind: 'batch', batchId: scenario.batchId(2), size: 2 };
  expect(await submit(input)).toEqual({ kind: 'verdict', batchId: input.batchId, state: 'confirmed', planned });
  expect(posts).toEqual(firstOf(1));
});
