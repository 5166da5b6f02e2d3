import { expect, test } from 'vitest';
import { LedgerOlderError } from '../../src/ledger/ledger-older.ts';
import type { Store } from '../../src/ledger/open-ledger.ts';
import { buildRows } from '../support/campaign-rules.ts';
import { openCleanStore } from './clean-store.ts';
import { beginProven, noon, numbers, type Scenario } from './scenario.ts';
import { bothDialects, type TestDialect } from './test-stores.ts';

const pacing = { maxConcurrentCalls: 50, startsPerMinute: null, batchSize: 2, refillThreshold: 1 };

async function begin(dialect: TestDialect): Promise<Scenario> {
  const rows = buildRows(numbers(6), (index) => `Guest ${index}`);
  return beginProven(await openCleanStore(dialect), { rows, rules: { pacing } });
}

/** The database as a backup from before the batch was planned has it. */
async function forget(store: Store, batchId: string): Promise<void> {
  for (const table of ['posts', 'attempts', 'batches'] as const) await store.db.deleteFrom(table).where('batch_id', '=', batchId).execute();
}

/** The database as a backup from before the batch was sent has it. */
async function unsend(store: Store, batchId: string, state: 'intent' | 'not_sent' | 'posting'): Promise<void> {
  await store.db.deleteFrom('posts').where('batch_id', '=', batchId).execute();
  await store.db.updateTable('attempts').set({ state: 'planned' }).where('batch_id', '=', batchId).execute();
  await store.db.updateTable('batches').set({ state, posts: 0 }).where('batch_id', '=', batchId).execute();
}

const caught = (work: Promise<unknown>) => work.then(String, (error: unknown) => error);

test.for(bothDialects)('a batch that is missing when it is to be sent is not looked for again: %s', async (dialect) => {
  const scenario = await begin(dialect);
  await scenario.plan(1);
  await forget(scenario.store, scenario.batchId(1));
  const error = await caught(scenario.post(1));
  expect(error).toBeInstanceOf(LedgerOlderError);
  expect(error).toMatchObject({
    message: "The ledger is older than the campaign's progress: batch spring/1/1 is missing.",
    lost: { missing: 1, submitted: false },
  });
});

test.for(bothDialects)('nor is one whose verdict is to be written, or whose request is unknown: %s', async (dialect) => {
  const scenario = await begin(dialect);
  await scenario.plan(1);
  await scenario.post(1);
  await unsend(scenario.store, scenario.batchId(1), 'intent');
  expect(await caught(scenario.verdict(1, 'confirmed'))).toMatchObject({
    name: 'LedgerOlderError',
    message: "The ledger is older than the campaign's progress: request 1 of batch spring/1/1 is missing.",
    lost: { missing: 1, submitted: true },
  });
  await forget(scenario.store, scenario.batchId(1));
  expect(await caught(scenario.verdict(1, 'confirmed'))).toBeInstanceOf(LedgerOlderError);
});

const states = bothDialects.flatMap((dialect) => (['intent', 'not_sent', 'posting'] as const).map((state) => ({ dialect, state })));

test.for(states)('nobody asks for a batch while the one before it is $state: $dialect', async ({ dialect, state }) => {
  const scenario = await begin(dialect);
  await scenario.dial(1);
  await unsend(scenario.store, scenario.batchId(1), state);
  expect(await caught(scenario.plan(2))).toMatchObject({
    name: 'LedgerOlderError',
    message: "The ledger is older than the campaign's progress: batch 1 of spring has no verdict.",
    lost: { missing: 1, submitted: true },
  });
  expect(await scenario.attempts()).toHaveLength(2);
});

test.for(bothDialects)('whoever finds that another caller sent nothing is told to come again: %s', async (dialect) => {
  const scenario = await begin(dialect);
  await scenario.plan(1);
  await scenario.post(1);
  const { store } = scenario;
  // Between the two transactions of the second caller the first one learns that nothing was sent.
  let transactions = 0;
  const between: Store = {
    ...store,
    transaction: async (work) => {
      transactions += 1;
      if (transactions === 2) await scenario.verdict(1, 'not_sent');
      return store.transaction(work);
    },
  };
  expect(await scenario.post(1, noon + 1, between)).toEqual({ kind: 'blocked', until: noon + 1 });
  expect(await scenario.post(1, noon + 2)).toMatchObject({ kind: 'post', k: 2 });
});
