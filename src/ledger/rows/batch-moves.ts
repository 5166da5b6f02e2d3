import type { EventData, NewEvent } from '../../rules/events.ts';
import type { BatchState } from '../../rules/ledger.ts';
import { compareAndSetBatch } from '../batch-state.ts';
import { appendEvents } from '../events.ts';
import type { Tx } from '../tx.ts';
import { updateBatch } from '../updates.ts';

export function batchStateEvent(batch: { campaign_id: string; batch_id: string }, at: number, data: EventData['batch.state']): NewEvent {
  return { at, campaignId: batch.campaign_id, type: 'batch.state', batchId: batch.batch_id, data };
}

interface BatchMove {
  from: readonly BatchState[];
  event: EventData['batch.state'];
  now: number;
  changes?: Parameters<typeof updateBatch>[2];
}

/** As `compareAndSetBatch`, and logs it. */
export async function moveBatch(
  tx: Tx,
  batch: { campaign_id: string; batch_id: string },
  { from, event, now, changes }: BatchMove,
): Promise<boolean> {
  if (!(await compareAndSetBatch(tx, batch.batch_id, { from, to: event.state }))) return false;
  if (changes !== undefined) await updateBatch(tx, batch.batch_id, changes);
  await appendEvents(tx, [batchStateEvent(batch, now, event)]);
  return true;
}
