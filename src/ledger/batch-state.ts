import type { BatchState } from '../rules/ledger.ts';
import { batchTransitions } from '../rules/ledger.ts';
import { preparedByShape } from './prepared.ts';
import type { Tx } from './tx.ts';

/** Moves a batch from one of `from` to `to`; of two callers only one gets true. The one guard of "never call twice". */
export async function compareAndSetBatch(
  tx: Tx,
  batchId: string,
  { from, to }: { from: readonly BatchState[]; to: BatchState },
): Promise<boolean> {
  const legal = from.filter((state) => batchTransitions[state].includes(to));
  if (legal.length === 0) return false;
  const { numAffectedRows } = await moveFrom(tx, legal.join(' '), { batchId, to });
  return numAffectedRows === 1n;
}

const moveFrom = preparedByShape(
  (legal) =>
    (tx: Tx, { batchId, to }: { batchId: string; to: BatchState }) =>
      tx
        .updateTable('batches')
        .set({ state: to })
        .where('batch_id', '=', batchId)
        .where('state', 'in', legal.split(' ') as BatchState[]),
);
