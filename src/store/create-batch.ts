import type { Selectable } from 'kysely';
import type { JsonObject } from '../domain/conversation-override.ts';
import { appendEvents, type NewEvent } from './events.ts';
import type { Queries } from './open-store.ts';
import type { Database } from './schema.ts';

/** Fills the campaign's templates from one row's cells; null when a value is missing (the import refuses such rows). */
export type RenderRecipient = (
  cells: readonly string[],
) => { firstMessage: string | null; variables: Record<string, string> | null; override?: JsonObject } | null;

export interface NewBatch {
  batchId: string;
  campaignId: string;
  round: number;
  n: number;
  now: number;
  agentId: string;
  /** Id of the imported number that calls. */
  caller: string;
  reference: ((attemptId: string) => string) | null;
  recipients: readonly { row: Selectable<Database['recipients']>; openingLine: string | null }[];
}

export function attemptIdOf(recipientId: string, number: number): string {
  return `${recipientId}/${number}`;
}

/** Writes a batch in state `intent` with one new attempt per recipient, in the caller's transaction. */
export async function createBatch(tx: Queries, batch: NewBatch): Promise<void> {
  const { batchId, campaignId, now } = batch;
  await tx
    .insertInto('batches')
    .values({
      batch_id: batchId,
      campaign_id: campaignId,
      round: batch.round,
      n: batch.n,
      state: 'intent',
      size: batch.recipients.length,
      posts: 0,
      planned_at: now,
      first_submit_at: null,
      first_posted_at: null,
      hold_after: null,
      verdict_at: null,
      service_batch_id: null,
      calls_initiated: null,
      accepted_by: null,
      reason: null,
      progress_at: null,
      unknown_since: null,
      caller: batch.caller,
    })
    .execute();
  const attempts = batch.recipients.map(({ row: recipient, openingLine }, position) => {
    const attemptId = attemptIdOf(recipient.recipient_id, recipient.attempts + 1);
    return {
      attempt_id: attemptId,
      recipient_id: recipient.recipient_id,
      campaign_id: campaignId,
      batch_id: batchId,
      position,
      number: recipient.attempts + 1,
      agent_id: batch.agentId,
      e164: recipient.e164 ?? '',
      person: recipient.external_id,
      state: 'planned' as const,
      reference: batch.reference?.(attemptId) ?? null,
      opening_line: openingLine,
      planned_at: now,
      posted_at: null,
      settled_at: null,
      disposition: null,
      detail: null,
      counted: 0,
      reason: null,
      conversation_id: null,
      evidence: null,
      screened: null,
      screened_at: null,
    };
  });
  for (let start = 0; start < attempts.length; start += 500) {
    await tx
      .insertInto('attempts')
      .values(attempts.slice(start, start + 500))
      .execute();
  }
  await tx
    .updateTable('recipients')
    .set((eb) => ({ state: 'open', attempts: eb('attempts', '+', 1) }))
    .where(
      'recipient_id',
      'in',
      batch.recipients.map(({ row }) => row.recipient_id),
    )
    .execute();
  const events: NewEvent[] = [{ at: now, campaignId, type: 'batch.planned', batchId, data: { size: attempts.length } }];
  for (const attempt of attempts) {
    events.push({
      at: now,
      campaignId,
      type: 'attempt.planned',
      recipientId: attempt.recipient_id,
      attemptId: attempt.attempt_id,
      batchId,
    });
  }
  await appendEvents(tx, events);
}
