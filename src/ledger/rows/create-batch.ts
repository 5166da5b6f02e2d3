import type { Selectable } from 'kysely';
import { openAttemptStates } from '../../domain/ledger.ts';
import { attemptIdOf } from '../../domain/ids.ts';
import type { JsonObject } from '../../domain/conversation-override.ts';
import type { NewEvent } from '../../domain/events.ts';
import { appendEvents } from '../events.ts';
import type { Queries } from '../open-ledger.ts';
import type { Database } from '../schema.ts';

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
  /** Calls with the same words are kept from being open together. */
  wordsKept: boolean;
}

/**
 * Writes a batch in state `intent` with one new attempt per recipient, in the caller's transaction. Left out is whose number, or whose
 * words, another open call has taken meanwhile. Answers how many attempts the batch has; with none there is no batch.
 */
export async function createBatch(tx: Queries, batch: NewBatch): Promise<number> {
  const { batchId, campaignId, now } = batch;
  const attempts = await insertAttempts(tx, batch);
  if (attempts.length === 0) return 0;
  await tx
    .insertInto('batches')
    .values({
      batch_id: batchId,
      campaign_id: campaignId,
      round: batch.round,
      n: batch.n,
      state: 'intent',
      size: attempts.length,
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
  await tx
    .updateTable('recipients')
    .set((eb) => ({ state: 'open', attempts: eb('attempts', '+', 1) }))
    .where(
      'recipient_id',
      'in',
      attempts.map((attempt) => attempt.recipient_id),
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
  return attempts.length;
}

async function insertAttempts(tx: Queries, batch: NewBatch): Promise<{ attempt_id: string; recipient_id: string }[]> {
  const { batchId, campaignId, now, wordsKept } = batch;
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
      words_key: wordsKept ? recipient.words_key : null,
    };
  });
  // Whoever else plans at the same moment takes numbers and words in the same order, so that nobody waits for each other in a circle.
  const sorted = attempts.toSorted((a, b) => (a.e164 < b.e164 ? -1 : 1));
  const inserted = new Set<string>();
  for (let start = 0; start < sorted.length; start += 500) {
    const rows = await tx
      .insertInto('attempts')
      .values(sorted.slice(start, start + 500))
      .onConflict((conflict) => conflict.doNothing())
      .returning('attempt_id')
      .execute();
    for (const row of rows) inserted.add(row.attempt_id);
  }
  for (const attempt of attempts) if (!inserted.has(attempt.attempt_id)) await requireHolder(tx, attempt);
  return attempts.filter((attempt) => inserted.has(attempt.attempt_id));
}

/** Only an open call to the same number, or with the same words, may keep an attempt from being planned. */
async function requireHolder(
  tx: Queries,
  attempt: { attempt_id: string; agent_id: string; e164: string; words_key: string | null },
): Promise<void> {
  const holder = await tx
    .selectFrom('attempts')
    .select('attempt_id')
    .where('state', 'in', openAttemptStates)
    .where((eb) =>
      eb.or([
        eb('e164', '=', attempt.e164),
        eb.and([eb('agent_id', '=', attempt.agent_id), eb('words_key', '=', attempt.words_key)]),
      ]),
    )
    .executeTakeFirst();
  if (holder === undefined)
    throw new Error(`attempt ${attempt.attempt_id} could not be planned, and nothing stands in its way`);
}
