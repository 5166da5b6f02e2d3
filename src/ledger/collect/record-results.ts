import { readRules } from '../../rules/campaign-rules.ts';
import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import { readRecord } from '../../rules/correlation/record.ts';
import { mayAskForCalls, type AfterTalk, type TalkResult } from '../../rules/talk-results.ts';
import { isCutLine, isNearLine, wordingOf } from '../../rules/correlation/line-words.ts';
import { changeAggregates, groupsOf } from '../aggregates.ts';
import type { ReadRow } from '../doubt/conversations.ts';
import { lockCampaign } from '../locks.ts';
import { prepared } from '../prepared.ts';
import type { Tx } from '../tx.ts';
import { decideAfterTalk, noteResultOfLastTalk, settleAttempts } from '../rows/settle.ts';
import { Overtaken } from '../transaction.ts';
import { updateAgent, updateAttempt, updateBatch, updateRecipient } from '../updates.ts';
import { appendEvents } from '../events.ts';
import { requireCampaign } from '../rows/campaigns.ts';
import { noteGoal } from '../limits/gates.ts';
import { callbackFromTalk, type TalkRequest } from '../rows/promises.ts';
import { requireRecipient } from '../rows/recipients.ts';
import type { AttemptRow, ConversationRow } from '../schema.ts';

/** When the agent first and last began with its given words, and was last cut off. */
async function noteOwnWords(
  tx: Tx,
  attempt: { agent_id: string; opening_line: string | null },
  { openingLine, startedAt }: ConversationFacts,
): Promise<void> {
  const [shown, own] = [wordingOf(openingLine), wordingOf(attempt.opening_line)];
  if (shown === null || own === null || startedAt === null || !isNearLine(shown, own)) return;
  const agentId = attempt.agent_id;
  await widenWords(tx, { startedAt, agentId });
  if (isCutLine(shown, own)) await updateAgent(tx, agentId, { cut_at: startedAt });
}

const widenWords = prepared((tx: Tx, { startedAt, agentId }: { startedAt: number; agentId: string }) =>
  tx
    .updateTable('agents')
    .set((eb) => ({
      words_first: eb.case().when('words_first', '<=', startedAt).then(eb.ref('words_first')).else(startedAt).end(),
      words_last: eb.case().when('words_last', '>=', startedAt).then(eb.ref('words_last')).else(startedAt).end(),
    }))
    .where('agent_id', '=', agentId),
);

const selectOwner = prepared((tx: Tx, { conversationId }: { conversationId: string }) =>
  tx
    .selectFrom('conversations')
    .innerJoin('attempts', 'attempts.attempt_id', 'conversations.attempt_id')
    .select(['attempts.campaign_id', 'attempts.attempt_id'])
    .where('conversations.conversation_id', '=', conversationId),
);

/** Locks the campaign of a record's owner, so that results and dialling take turns. Returns the attempt's id. */
async function lockOwner(tx: Tx, conversationId: string): Promise<string | null> {
  const [owner] = (await selectOwner(tx, { conversationId })).rows;
  if (owner !== undefined) await lockCampaign(tx, owner.campaign_id);
  return owner?.attempt_id ?? null;
}

/**
 * Writes a read and settles its attempt; undefined: nothing to settle. Reads `clock` after locking. Throws Overtaken when the record
 * changed owner.
 */
export async function settleRead(
  tx: Tx,
  conversationId: string,
  { clock, write }: { clock: () => number; write: (now: number) => Promise<ReadRow | undefined> },
): Promise<ReadRow | undefined> {
  const locked = await lockOwner(tx, conversationId);
  const now = clock();
  const written = await write(now);
  if (written === undefined) return undefined;
  if (written.attempt_id !== locked) throw new Overtaken('The record has got an owner.');
  await settleFromRecord(tx, written, { now, becameFinal: written.becameFinal });
  return written;
}

const selectSettled = prepared((tx: Tx, { attemptId }: { attemptId: string }) =>
  tx
    .selectFrom('attempts')
    .innerJoin('campaigns', 'campaigns.campaign_id', 'attempts.campaign_id')
    .select(['attempts.campaign_id', 'attempts.batch_id', 'attempts.recipient_id', 'campaigns.rules'])
    .select(['attempts.agent_id', 'attempts.opening_line'])
    .where('attempt_id', '=', attemptId),
);

/** Settles the owner as far as the record shows, and counts results once final. `becameFinal`: final and owned for the first time. */
export async function settleFromRecord(
  tx: Tx,
  row: ConversationRow,
  { now, becameFinal }: { now: number; becameFinal: boolean },
): Promise<void> {
  if (row.attempt_id === null) return;
  const [attempt] = (await selectSettled(tx, { attemptId: row.attempt_id })).rows;
  if (attempt === undefined) throw new Error('the attempt that owns a record is not in the database');
  const facts = JSON.parse(row.facts) as ConversationFacts;
  const knownState = { finished: row.finished === 1, final: row.final === 1 };
  const rules = readRules(attempt.rules);
  const { disposition: result, talkResult } = readRecord(facts, rules, knownState);
  const at = { campaignId: attempt.campaign_id, now };
  // The talk decides what follows, and only a final record shows it.
  const isAwaited = result?.disposition === 'answered' && mayAskForCalls(rules.results) && (row.final === 0 || becameFinal);
  if (row.finished === 1 && result !== null) {
    await settleAttempts(tx, at, [{ attemptId: row.attempt_id, result, isAwaited }]);
    await updateBatch(tx, attempt.batch_id, { progress_at: now });
  }
  if (talkResult !== null) {
    await noteTalkResult(tx, { attemptId: row.attempt_id, facts, now }, talkResult);
    await noteGoal(tx, at, rules);
  }
  if (isAwaited && row.final === 1) await decideAfterTalk(tx, at, row.attempt_id);
  if (becameFinal && row.final === 1) {
    await noteOwnWords(tx, attempt, facts);
    const { recipient_id: recipientId } = attempt;
    await updateRecipient(tx, recipientId, { changed_at: now });
    await changeAggregates(tx, attempt.campaign_id, [
      ...groupsOf('collected', facts.collected, 1),
      ...groupsOf('evaluation', facts.evaluation, 1),
    ]);
  }
}

/** Once per talk: a final, owned record does not change. */
async function noteTalkResult(
  tx: Tx,
  { attemptId, facts, now }: { attemptId: string; facts: ConversationFacts; now: number },
  { result, next }: TalkResult,
): Promise<void> {
  const [attempt] = (await selectTalk(tx, { attemptId })).rows;
  if (attempt === undefined) return;
  const { recipient_id: recipientId, campaign_id: campaignId, batch_id: batchId } = attempt;
  const followUp = await whatFollows(tx, { attempt, next, facts, now });
  await updateAttempt(tx, attemptId, { result, asks: followUp?.asks, asks_at: followUp?.at });
  await noteResultOfLastTalk(tx, recipientId, now);
  await changeAggregates(tx, campaignId, [{ kind: 'result', value: result, delta: 1 }]);
  const data = { result, ...(followUp?.asks === undefined ? {} : { asks: followUp.asks }) };
  await appendEvents(tx, [{ at: now, campaignId, type: 'attempt.result', recipientId, attemptId, batchId, data }]);
  await followUp?.write?.();
}

async function whatFollows(
  tx: Tx,
  { attempt, next, facts, now }: { attempt: AttemptRow; next: AfterTalk | null; facts: ConversationFacts; now: number },
): Promise<TalkRequest | null> {
  if (next === null) return null;
  if (next.kind === 'retry') return { asks: next.kind, at: now + next.afterMs };
  const row = await requireRecipient(tx, attempt.recipient_id);
  // A newer call, an operator or a callback has already decided.
  if (row.last_attempt_id !== attempt.attempt_id || row.taken_out_at !== null || row.promise_id !== null) return null;
  return callbackFromTalk(tx, await requireCampaign(tx, attempt.campaign_id), { attempt, row, facts, now });
}

const selectTalk = prepared((tx: Tx, { attemptId }: { attemptId: string }) =>
  tx
    .selectFrom('attempts')
    .selectAll()
    .where('attempt_id', '=', attemptId)
    .where('state', '=', 'settled')
    .where('disposition', '=', 'answered')
    .where('result', 'is', null),
);
