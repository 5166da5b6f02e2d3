import { expect, test, vi } from 'vitest';
import type * as BatchStates from '../../src/ledger/batch-state.ts';
import type * as Locks from '../../src/ledger/locks.ts';
import { bothDialects } from '../ledger/test-stores.ts';
import { besideSubmit, insideSubmit, isAimedAt } from './aim.ts';
import { designOf } from './design.ts';
import { openPlace } from './places.ts';
import { runCase } from './run-weaves.ts';
import { scenarios, type Scenario } from './scenarios.ts';

const without = vi.hoisted(() => ({ guard: '' }));

/** Disables the guard of "never call twice": every process believes it moved the batch. */
vi.mock('../../src/ledger/batch-state.ts', async (load): Promise<typeof BatchStates> => {
  const { compareAndSetBatch } = await load<typeof BatchStates>();
  return {
    compareAndSetBatch: async (tx, batchId, change) => {
      if (without.guard !== 'compare-and-set') return compareAndSetBatch(tx, batchId, change);
      await tx.updateTable('batches').set({ state: change.to }).where('batch_id', '=', batchId).execute();
      return true;
    },
  };
});

/** The lock by which a do-not-call entry and a dial about to commit wait for each other. */
vi.mock('../../src/ledger/locks.ts', async (load): Promise<typeof Locks> => {
  const locks = await load<typeof Locks>();
  return {
    ...locks,
    lockToDial: async (...given) => {
      if (without.guard !== 'lock of the do-not-call list') await locks.lockToDial(...given);
    },
  };
});

test.for([
  { guard: 'compare-and-set', database: 'sqlite', aim: besideSubmit('submit'), says: ['two calls at once', 'submit (beside)'] },
  {
    guard: 'lock of the do-not-call list',
    database: 'postgres',
    aim: insideSubmit('suppress'),
    says: ['called though stopped by a person'],
  },
] as const)('without the $guard, what comes to a submit meanwhile is caught', async ({ guard, database, aim, says }, { skip }) => {
  skip(!bothDialects.includes(database), `DIALECTS leaves ${database} out`);
  without.guard = guard;
  const place = await openPlace(database);
  const cases = await designOf(place, scenarios[0] as Scenario);
  let found = '';
  for (const each of cases.filter((one) => isAimedAt(aim, one))) {
    found = (await runCase(place, each)).story;
    if (found !== '') break;
  }
  for (const words of says) expect(found).toContain(words);
});
