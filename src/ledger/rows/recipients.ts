import type { Outcome } from '../../domain/outcome.ts';
import { changeAggregates, type AggregateChange } from '../aggregates.ts';
import type { NewEvent } from '../../domain/events.ts';
import { appendEvents } from '../events.ts';
import type { Queries } from '../open-ledger.ts';

const rowsPerStatement = 500;

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
  for (let start = 0; start < finishes.length; start += rowsPerStatement)
    await finishPart(tx, campaignId, finishes.slice(start, start + rowsPerStatement), now);
}

async function finishPart(tx: Queries, campaignId: string, finishes: readonly Finish[], now: number): Promise<void> {
  const rows = await tx
    .selectFrom('recipients')
    .select(['recipient_id', 'outcome', 'reason'])
    .where(
      'recipient_id',
      'in',
      finishes.map(({ recipientId }) => recipientId),
    )
    .execute();
  const before = new Map(rows.map((row) => [row.recipient_id, row]));
  const sameEnd = new Map<string, Finish[]>();
  const changes: AggregateChange[] = [];
  const events: NewEvent[] = [];
  for (const finish of finishes) {
    const { recipientId, outcome, reason } = finish;
    const known = before.get(recipientId);
    if (known === undefined) throw new Error('a recipient that is to get its outcome is not in the database');
    const end = JSON.stringify([outcome, reason]);
    sameEnd.set(end, [...(sameEnd.get(end) ?? []), finish]);
    if (known.outcome === outcome && known.reason === reason) continue;
    if (known.outcome !== null) changes.push({ kind: 'outcome', key: '', value: known.outcome, delta: -1 });
    changes.push({ kind: 'outcome', key: '', value: outcome, delta: 1 });
    events.push({ at: now, campaignId, type: 'recipient.outcome', recipientId, data: { outcome, reason } });
  }
  for (const group of sameEnd.values()) {
    const ids = group.map(({ recipientId }) => recipientId);
    const end = { outcome: group[0]?.outcome ?? null, reason: group[0]?.reason ?? null };
    await tx
      .updateTable('recipients')
      .set({ state: 'done', ...end, changed_at: now })
      .where('recipient_id', 'in', ids)
      .execute();
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
  now: number,
): Promise<void> {
  if (recipient.outcome !== null) {
    await changeAggregates(tx, campaignId, [{ kind: 'outcome', key: '', value: recipient.outcome, delta: -1 }]);
  }
  await tx
    .updateTable('recipients')
    .set({
      state: 'waiting',
      tier: recipient.posted ? 0 : 1,
      due_at: dueAt,
      outcome: null,
      reason: null,
      changed_at: now,
    })
    .where('recipient_id', '=', recipient.recipient_id)
    .execute();
}

/** As `requeueRecipient`, where nothing else in the log tells that an outcome is taken back. */
export async function takeBackOutcome(
  tx: Queries,
  campaignId: string,
  recipient: Parameters<typeof requeueRecipient>[2],
  dueAt: number,
  now: number,
): Promise<void> {
  await requeueRecipient(tx, campaignId, recipient, dueAt, now);
  if (recipient.outcome === null) return;
  const { recipient_id: recipientId } = recipient;
  const data = { outcome: null, reason: null };
  await appendEvents(tx, [{ at: now, campaignId, type: 'recipient.outcome', recipientId, data }]);
}
