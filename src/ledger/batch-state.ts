import type { BatchState } from '../domain/ledger.ts';
import { batchTransitions } from '../domain/ledger.ts';
import type { Queries } from './open-ledger.ts';

/** Moves a batch to `to` if it is in one of `from`, and answers whether this call moved it: of two callers, one is told yes. */
export type CompareAndSetBatch = (
  tx: Queries,
  batchId: string,
  from: readonly BatchState[],
  to: BatchState,
) => Promise<boolean>;

export const compareAndSetBatch: CompareAndSetBatch = async (tx, batchId, from, to) => {
  const legal = from.filter((state) => batchTransitions[state].includes(to));
  if (legal.length === 0) return false;
  const result = await tx
    .updateTable('batches')
    .set({ state: to })
    .where('batch_id', '=', batchId)
    .where('state', 'in', legal)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
};
