import type { NewEvent } from '../../rules/events.ts';
import type { Outcome } from '../../rules/outcome.ts';
import { changeAggregates, type AggregateChange } from '../aggregates.ts';
import { appendEvents } from '../events.ts';
import { groupBy } from '../../rules/collections.ts';
import { partsOf } from '../parts.ts';
import { prepared } from '../prepared.ts';
import type { At, Tx } from '../tx.ts';
import { endCallbacksOf } from './promises.ts';
import { updateRecipient } from '../updates.ts';
import type { RecipientRow } from '../schema.ts';

export interface Finish {
  recipientId: string;
  outcome: Outcome;
  reason: string | null;
}

/** Sets or corrects final outcomes, with counts and log. Idempotent. */
export async function finishRecipients(tx: Tx, at: At, finishes: readonly Finish[]): Promise<void> {
  for (const part of partsOf(finishes)) await finishPart(tx, at, part);
}

async function readOutcomes(
  tx: Tx,
  ids: readonly string[],
): Promise<Pick<RecipientRow, 'recipient_id' | 'outcome' | 'reason' | 'promise_id'>[]> {
  const [only] = ids;
  if (only !== undefined && ids.length === 1) return (await selectRecipient(tx, { recipientId: only })).rows;
  const query = tx.selectFrom('recipients').select(['recipient_id', 'outcome', 'reason', 'promise_id']);
  return query.where('recipient_id', 'in', ids).execute();
}

async function finishPart(tx: Tx, { campaignId, now }: At, finishes: readonly Finish[]): Promise<void> {
  const ids = finishes.map(({ recipientId }) => recipientId);
  const rows = await readOutcomes(tx, ids);
  const before = new Map(rows.map((row) => [row.recipient_id, row]));
  const changes: AggregateChange[] = [];
  const events: NewEvent[] = [];
  for (const { recipientId, outcome, reason } of finishes) {
    const known = before.get(recipientId);
    if (known === undefined) throw new Error('a recipient that is to get its outcome is not in the database');
    if (known.outcome === outcome && known.reason === reason) continue;
    if (known.outcome !== null) changes.push({ kind: 'outcome', value: known.outcome, delta: -1 });
    changes.push({ kind: 'outcome', value: outcome, delta: 1 });
    events.push({ at: now, campaignId, type: 'recipient.outcome', recipientId, data: { outcome, reason } });
  }
  for (const sameEnd of groupBy(finishes, ({ outcome, reason }) => `${outcome} ${reason}`).values()) {
    const { outcome, reason } = sameEnd[0] as Finish;
    const end = { state: 'done', outcome, reason, changed_at: now } as const;
    const ended = sameEnd.map(({ recipientId }) => recipientId);
    const [only] = ended;
    if (only !== undefined && ended.length === 1) await updateRecipient(tx, only, end);
    else await tx.updateTable('recipients').set(end).where('recipient_id', 'in', ended).execute();
  }
  await endCallbacksOf(
    tx,
    { campaignId, now },
    finishes.map(({ recipientId, reason }) => ({
      recipient_id: recipientId,
      promise_id: before.get(recipientId)?.promise_id ?? null,
      reason,
    })),
  );
  await changeAggregates(tx, campaignId, changes);
  await appendEvents(tx, events);
}

const selectRecipient = prepared((tx: Tx, { recipientId }: { recipientId: string }) =>
  tx.selectFrom('recipients').selectAll().where('recipient_id', '=', recipientId),
);

export async function requireRecipient(tx: Tx, recipientId: string): Promise<RecipientRow> {
  const [row] = (await selectRecipient(tx, { recipientId })).rows;
  if (row === undefined) throw new Error('a recipient that is asked for is not in the database');
  return row;
}

export interface Requeue {
  recipient_id: string;
  outcome: Outcome | null;
  dueAt: number;
}

export async function requeueRecipient(tx: Tx, { campaignId, now }: At, recipient: Requeue): Promise<void> {
  const { recipient_id: recipientId, outcome, dueAt } = recipient;
  if (outcome !== null) await changeAggregates(tx, campaignId, [{ kind: 'outcome', value: outcome, delta: -1 }]);
  await updateRecipient(tx, recipientId, { state: 'waiting', due_at: dueAt, outcome: null, reason: null, changed_at: now });
}

/** As `requeueRecipient`, if no other log line shows that the outcome is taken back. */
export async function takeBackOutcome(tx: Tx, at: At, recipient: Requeue): Promise<void> {
  await requeueRecipient(tx, at, recipient);
  if (recipient.outcome === null) return;
  const { recipient_id: recipientId } = recipient;
  const data = { outcome: null, reason: null };
  await appendEvents(tx, [{ at: at.now, campaignId: at.campaignId, type: 'recipient.outcome', recipientId, data }]);
}
