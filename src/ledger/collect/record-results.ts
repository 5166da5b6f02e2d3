import { readRules, type CampaignRules } from '../../domain/campaign-rules.ts';
import type { ConversationFacts } from '../../domain/conversation-facts.ts';
import { heardOptOut, readDisposition, ruledDisposition, type AttemptResult } from '../../domain/disposition.ts';
import { isNearLine, wordingOf } from '../../domain/correlation/line-words.ts';
import { changeAggregates, groupsOf } from '../aggregates.ts';
import type { ConversationRow } from '../doubt/conversations.ts';
import { lockCampaign, type Queries, type Store } from '../open-ledger.ts';
import { settleAttempts } from '../rows/settle.ts';
import { Overtaken } from '../transaction.ts';

/** When the agent was last, and first, heard to begin a call with the words that it was given. */
async function noteOwnWords(
  tx: Queries,
  attempt: { agent_id: string; opening_line: string | null },
  { openingLine, startedAt }: ConversationFacts,
): Promise<void> {
  const [shown, own] = [wordingOf(openingLine), wordingOf(attempt.opening_line)];
  if (shown === null || own === null || startedAt === null || !isNearLine(shown, own)) return;
  await tx
    .updateTable('agents')
    .set((eb) => ({
      words_first: eb.case().when('words_first', '<=', startedAt).then(eb.ref('words_first')).else(startedAt).end(),
      words_last: eb.case().when('words_last', '>=', startedAt).then(eb.ref('words_last')).else(startedAt).end(),
    }))
    .where('agent_id', '=', attempt.agent_id)
    .execute();
}

/**
 * Locks the campaign whose attempt owns a record: its results and its campaign's dialling take turns. Answers that attempt's id; the
 * record may get an owner until it is written to, see `refuseOtherOwner`.
 */
export async function lockOwner(tx: Queries, store: Store, conversationId: string): Promise<string | null> {
  const owner = await tx
    .selectFrom('conversations')
    .innerJoin('attempts', 'attempts.attempt_id', 'conversations.attempt_id')
    .select(['attempts.campaign_id', 'attempts.attempt_id'])
    .where('conversations.conversation_id', '=', conversationId)
    .executeTakeFirst();
  if (owner !== undefined) await lockCampaign(tx, store, owner.campaign_id);
  return owner?.attempt_id ?? null;
}

/** Throws Overtaken when the row that was written belongs to another attempt than the one whose campaign is locked. */
export function refuseOtherOwner(written: ConversationRow, locked: string | null): void {
  if (written.attempt_id !== locked) throw new Overtaken('The record has got an owner.');
}

/**
 * The result that a finished record shows; a record that ends without telling one proves a placed call and no more. A wish not to be
 * called again is heard first: it may be all that the record tells, where the transcript is withheld.
 */
function resultOf(facts: ConversationFacts, rules: CampaignRules, row: ConversationRow): AttemptResult | null {
  // A call that never ended by its record looks like an unanswered one, and may have been anything.
  const endless =
    (facts.status === 'initiated' || facts.status === 'in-progress') &&
    facts.callResult === null &&
    facts.userTurns === 0;
  const result = ruledDisposition(facts, rules.dispositions) ?? (endless ? null : readDisposition(facts));
  if (heardOptOut(facts, rules.optOut))
    return { disposition: 'opted_out', detail: result?.detail ?? null, counted: true };
  if (result !== null) return result;
  return row.final === 1 ? { disposition: 'unknown', detail: 'record_tells_nothing', counted: true } : null;
}

/**
 * Settles the attempt that owns a record as far as the record tells, and counts its results once it is final.
 * `becameFinal`: whether this is the first time that the record is both owned and final.
 */
export async function settleFromRecord(
  tx: Queries,
  row: ConversationRow,
  now: number,
  becameFinal: boolean,
): Promise<void> {
  if (row.attempt_id === null) return;
  const attempt = await tx
    .selectFrom('attempts')
    .innerJoin('campaigns', 'campaigns.campaign_id', 'attempts.campaign_id')
    .select(['attempts.campaign_id', 'attempts.batch_id', 'attempts.recipient_id', 'campaigns.rules'])
    .select(['attempts.agent_id', 'attempts.opening_line'])
    .where('attempt_id', '=', row.attempt_id)
    .executeTakeFirstOrThrow();
  const facts = JSON.parse(row.facts) as ConversationFacts;
  if (row.finished === 1) {
    const result = resultOf(facts, readRules(attempt.rules), row);
    if (result !== null) {
      await settleAttempts(tx, attempt.campaign_id, [{ attemptId: row.attempt_id, result }], now);
      await tx.updateTable('batches').set({ progress_at: now }).where('batch_id', '=', attempt.batch_id).execute();
    }
  }
  if (becameFinal && row.final === 1) {
    await noteOwnWords(tx, attempt, facts);
    const { recipient_id: recipientId } = attempt;
    await tx.updateTable('recipients').set({ changed_at: now }).where('recipient_id', '=', recipientId).execute();
    await changeAggregates(tx, attempt.campaign_id, [
      ...groupsOf('collected', facts.collected, 1),
      ...groupsOf('evaluation', facts.evaluation, 1),
    ]);
  }
}
