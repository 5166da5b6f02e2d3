import { expect, test, vi } from 'vitest';
import type * as BatchStates from '../../src/ledger/batch-state.ts';
import { emptyWeaves, runCase } from './run-weaves.ts';
import { mostLines } from './story.ts';
import { designOf } from './design.ts';
import { scenarios, type Scenario } from './scenarios.ts';
import { openPlace } from './weaves-suite.ts';

/** The guard of "never call twice", disabled: everyone who asks is told that it was they who moved the batch. */
vi.mock('../../src/ledger/batch-state.ts', (): typeof BatchStates => ({
  compareAndSetBatch: async (tx, batchId, { to }) => {
    await tx.updateTable('batches').set({ state: to }).where('batch_id', '=', batchId).execute();
    return true;
  },
}));

test('without the compare-and-set, a second worker at the request of a submit is caught dialling twice, and told in few lines', async () => {
  const place = await openPlace('sqlite', 'compare');
  const cases = await designOf(place, scenarios[0] as Scenario);
  const weaves = emptyWeaves();
  for (const each of cases) {
    if (each.kind !== 'beside' || each.intervention.beside?.act !== 'submit') continue;
    await runCase(place, each, weaves);
    if (weaves.broken.length > 0) break;
  }
  const [story = ''] = weaves.broken;
  expect(story).toContain('two calls at once');
  expect(story).toContain('submit (beside)');
  expect(story.split('\n').length).toBeLessThanOrEqual(mostLines);
});
