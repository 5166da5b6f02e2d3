import { expect, test, vi } from 'vitest';
import type * as BatchStates from '../../../src/ledger/batch-state.ts';
import { isFull, someOf } from '../../support/depth.ts';
import { drawMix } from '../../world/inputs/draw-mix.ts';
import { Drive } from '../../world/drive.ts';
import { range } from '../../world/run-mixes.ts';

/** Disables the guard of "never call twice": every process believes it moved the batch. */
vi.mock('../../../src/ledger/batch-state.ts', (): typeof BatchStates => ({
  compareAndSetBatch: async (tx, batchId, { to }) => {
    await tx.updateTable('batches').set({ state: to }).where('batch_id', '=', batchId).execute();
    return true;
  },
}));

test('a ledger whose compare-and-set always succeeds is caught dialling twice', async () => {
  const caught: number[] = [];
  const wanted = someOf([1, 2, 3]).length;
  // Earlier seeds take long and are not caught.
  for (const seed of range(isFull ? 1 : 8, 60)) {
    const mix = drawMix(seed);
    if (!mix.strikes?.some(({ point }) => point === 'place: dies after')) continue;
    const { breaches, proven } = await new Drive(mix).run();
    if (!breaches.some(({ rule }) => rule === 'an attempt dialled twice')) continue;
    caught.push(seed);
    expect(proven.map(({ rule }) => rule)).toContain('dialled_twice');
    if (caught.length === wanted) break;
  }
  expect(caught).toHaveLength(wanted);
});
