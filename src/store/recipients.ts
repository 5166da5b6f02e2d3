import type { Outcome } from '../domain/outcome.ts';
import { changeAggregates, type AggregateChange } from './aggregates.ts';
import { appendEvents, type NewEvent } from './events.ts';
import type { Queries } from './open-store.ts';

export interface Finish {
  recipientId: string;
  outcome: Outcome;
  reason: string | null;
}

/**
 * Gives recipients their final outcome, or corrects it: what is counted and logged follows the change, and repeating it
 * changes nothing.
 */
export async function finishRecipients(
  tx: Queries,
  campaignId: string,
  finishes: readonly Finish[],
  now: number,
): Promise<void> {
  const changes: AggregateChange[] = [];
  const events: NewEvent[] = [];
  for (const { recipientId, outcome, reason } of finishes) {
    const before = await tx
      .selectFrom('recipients')
      .select(['outcome', 'reason'])
      .where('recipient_id', '=', recipientId)
      .executeTakeFirstOrThrow();
    await tx
      .updateTable('recipients')
      .set({ state: 'done', outcome, reason })
      .where('recipient_id', '=', recipientId)
      .execute();
    if (before.outcome === outcome && before.reason === reason) continue;
    if (before.outcome !== null) changes.push({ kind: 'outcome', key: '', value: before.outcome, delta: -1 });
    changes.push({ kind: 'outcome', key: '', value: outcome, delta: 1 });
    events.push({ at: now, campaignId, type: 'recipient.outcome', recipientId, data: { outcome, reason } });
  }
  await changeAggregates(tx, campaignId, changes);
  await appendEvents(tx, events);
}

/** Puts a recipient back in line. `dueAt` is the earliest instant of the next attempt. */
export async function requeueRecipient(
  tx: Queries,
  campaignId: string,
  recipient: { recipient_id: string; outcome: Outcome | null; posted: boolean },
  dueAt: number,
): Promise<void> {
  if (recipient.outcome !== null) {
    await changeAggregates(tx, campaignId, [{ kind: 'outcome', key: '', value: recipient.outcome, delta: -1 }]);
  }
  await tx
    .updateTable('recipients')
    .set({ state: 'waiting', tier: recipient.posted ? 0 : 1, due_at: dueAt, outcome: null, reason: null })
    .where('recipient_id', '=', recipient.recipient_id)
    .execute();
}
