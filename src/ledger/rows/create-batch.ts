import { openAttemptStates } from '../../rules/ledger.ts';
import { attemptIdOf, batchIdOf } from '../../rules/ids.ts';
import type { JsonObject } from '../../rules/conversation-override.ts';
import type { NewEvent } from '../../rules/events.ts';
import { appendEvents } from '../events.ts';
import { partsOf } from '../parts.ts';
import { sparingOthers, undoably, unusableText } from './row-fault.ts';
import { isStorable } from '../../rules/text.ts';
import type { Finish } from './recipients.ts';
import type { Tx } from '../tx.ts';
import type { RecipientRow } from '../schema.ts';
import { personIn } from './row-terms.ts';

/** Fills templates from a row's cells; null: a value is missing (the import refuses such rows). */
export type RenderRecipient = (
  cells: readonly string[],
) => { firstMessage: string | null; variables: Record<string, string> | null; override?: JsonObject } | null;

export interface NewBatch {
  campaignId: string;
  round: number;
  n: number;
  now: number;
  agentId: string;
  caller: string;
  reference: ((attemptId: string) => string) | null;
  recipients: readonly { row: RecipientRow; openingLine: string | null }[];
  /** Calls with the same opening words must not be open together. */
  wordsKept: boolean;
  /** Receives rows whose text the database refuses; absent: it is known to be storable. */
  refused?: Finish[];
}

/** In state `intent`, with one attempt per recipient, except for numbers or words of another open call. Returns the size; 0: no batch. */
export async function createBatch(tx: Tx, batch: NewBatch): Promise<number> {
  const { campaignId, round, n, caller, now } = batch;
  const batchId = batchIdOf(campaignId, round, n);
  const attempts = await insertAttempts(tx, batch, batchId);
  const size = attempts.length;
  if (size === 0) return 0;
  const ids = { batch_id: batchId, campaign_id: campaignId, round, n };
  await tx
    .insertInto('batches')
    .values({ ...ids, state: 'intent', size, posts: 0, planned_at: now, caller })
    .execute();
  const recipientIds = attempts.map((attempt) => attempt.recipient_id);
  await tx
    .updateTable('recipients')
    .set((eb) => ({ state: 'open', attempts: eb('attempts', '+', 1) }))
    .where('recipient_id', 'in', recipientIds)
    .execute();
  const event = { at: now, campaignId, batchId };
  await appendEvents(tx, [
    { ...event, type: 'batch.planned', data: { size } },
    ...attempts.map((attempt): NewEvent => {
      return { ...event, type: 'attempt.planned', recipientId: attempt.recipient_id, attemptId: attempt.attempt_id };
    }),
  ]);
  return size;
}

async function insertAttempts(
  tx: Tx,
  { campaignId, now, wordsKept, refused, ...batch }: NewBatch,
  batchId: string,
): Promise<{ attempt_id: string; recipient_id: string }[]> {
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
      person: personIn(recipient),
      state: 'planned' as const,
      reference: batch.reference?.(attemptId) ?? null,
      opening_line: openingLine,
      planned_at: now,
      counted: 0,
      words_key: wordsKept ? recipient.words_key : null,
    };
  });
  // Concurrent planners take numbers and words in the same order, which avoids deadlocks.
  const sorted = attempts.toSorted((a, b) => (a.e164 < b.e164 ? -1 : 1));
  const inserted = new Set<string>();
  const insert = (part: readonly (typeof attempts)[number][]) =>
    tx
      .insertInto('attempts')
      .values(part)
      .onConflict((conflict) => conflict.doNothing())
      .returning('attempt_id')
      .execute();
  const refuse = async ({ recipient_id: recipientId }: (typeof attempts)[number]) => {
    refused?.push({ recipientId, outcome: 'undialable', reason: unusableText });
    return [];
  };
  for (const part of partsOf(sorted)) {
    const rows = await (refused === undefined
      ? insert(part)
      : sparingOthers(part, async (some) => undoably(tx, () => insert(some)), refuse));
    for (const row of rows) inserted.add(row.attempt_id);
  }
  const isRefused = (id: string) => refused?.some(({ recipientId }) => recipientId === id) === true;
  for (const attempt of attempts)
    if (!inserted.has(attempt.attempt_id) && !isRefused(attempt.recipient_id)) await requireHolder(tx, attempt);
  return attempts.filter((attempt) => inserted.has(attempt.attempt_id));
}

/** For templates that cannot be filled: a value is missing, or the row has unstorable text. */
export function endWithoutWords({ recipient_id: recipientId, cells }: RecipientRow): Finish {
  const reason = (JSON.parse(cells) as string[]).every(isStorable) ? 'missing_value' : unusableText;
  return { recipientId, outcome: 'undialable', reason };
}

/** Throws unless an open call to the same number, or with the same words, blocks the attempt. */
async function requireHolder(
  tx: Tx,
  attempt: { attempt_id: string; agent_id: string; e164: string; words_key: string | null },
): Promise<void> {
  const holder = await tx
    .selectFrom('attempts')
    .select('attempt_id')
    .where('state', 'in', openAttemptStates)
    .where((eb) =>
      eb.or([eb('e164', '=', attempt.e164), eb.and([eb('agent_id', '=', attempt.agent_id), eb('words_key', '=', attempt.words_key)])]),
    )
    .executeTakeFirst();
  if (holder === undefined) throw new Error(`attempt ${attempt.attempt_id} could not be planned, and nothing stands in its way`);
}
