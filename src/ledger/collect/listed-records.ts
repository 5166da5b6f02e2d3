import type { Insertable } from 'kysely';
import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import { readRecord } from '../../rules/correlation/record.ts';
import { mergeFacts, nextReadAt } from '../doubt/conversations.ts';
import { readAgent } from '../doubt/correlation-rows.ts';
import { lastEventSeq } from '../events.ts';
import { partsOf, readInParts } from '../parts.ts';
import type { Tx } from '../tx.ts';
import { updateConversation } from '../updates.ts';
import type { ConversationRow, Database } from '../schema.ts';

export interface ListedPage {
  /** All entries were final before: an ordered list shows nothing new below them. */
  allFinal: boolean;
}

export interface ListReading {
  agentId: string;
  /** Records begun before this (service's clock) do not matter; null: none matters. */
  oursSince: number | null;
  /** A campaign of the agent listens for opt-outs: inbound calls are read as well. */
  listens: boolean;
  /** The service's clock minus this process's. */
  offsetMs: number;
  now: number;
  /** Pushed, not listed: conclusions rest on lists, so `newest_start` stays. */
  isSent?: boolean;
  /** As in `AgentRecords`. */
  isShared?: boolean;
}

/** Stores a page of the list. Entries that cannot matter (too old or inbound) are final at once. */
export async function storeListed(
  tx: Tx,
  named: readonly ConversationFacts[],
  { agentId, oursSince, listens, offsetMs, now, isSent = false, isShared = false }: ListReading,
): Promise<ListedPage> {
  if (named.length === 0) return { allFinal: false };
  // A service without paging may list everything at once.
  const known = await readInParts(
    named.map((facts) => facts.conversationId),
    (ids) => tx.selectFrom('conversations').selectAll().where('conversation_id', 'in', ids).execute(),
  );
  const byId = new Map(known.map((row) => [row.conversation_id, row]));
  const seenSeq = await lastEventSeq(tx);
  const completeBegunAt = (await readAgent(tx, agentId))?.complete_begun_at ?? null;
  const added = new Map<string, Insertable<Database['conversations']>>();
  let allFinal = true;
  for (const facts of named) {
    const row = byId.get(facts.conversationId);
    if (row !== undefined) {
      if (row.final === 1) continue;
      allFinal = false;
      await storeChange(tx, row, { listed: facts, isShared, now });
      continue;
    }
    allFinal = false;
    const foreign =
      (facts.direction === 'inbound' && !listens) || oursSince === null || (facts.startedAt !== null && facts.startedAt < oursSince);
    const base = { reads: 0, first_seen_at: now };
    added.set(facts.conversationId, {
      conversation_id: facts.conversationId,
      agent_id: agentId,
      ...base,
      started_at: facts.startedAt,
      facts: JSON.stringify(facts),
      finished: 0,
      finished_at: readRecord(facts).over ? now : null,
      final: foreign ? 1 : 0,
      gone: 0,
      unchanged_reads: 0,
      next_read_at: isShared && readRecord(facts).over ? now : nextReadAt(facts, base, now),
      seen_seq: seenSeq,
      missed_at: completeBegunAt === null ? null : completeBegunAt + offsetMs,
      caller: facts.callerNumber ?? null,
    });
  }
  for (const part of partsOf([...added.values()])) {
    await tx
      .insertInto('conversations')
      .values(part)
      .onConflict((conflict) => conflict.column('conversation_id').doNothing())
      .execute();
  }
  if (isSent) return { allFinal };
  const newest = named.reduce((latest, { startedAt }) => Math.max(latest, startedAt ?? 0), 0);
  await tx
    .updateTable('agents')
    .set({ newest_start: newest })
    .where('agent_id', '=', agentId)
    .where((eb) => eb.or([eb('newest_start', 'is', null), eb('newest_start', '<', newest)]))
    .execute();
  return { allFinal };
}

async function storeChange(
  tx: Tx,
  row: ConversationRow,
  { listed, isShared, now }: { listed: ConversationFacts; isShared: boolean; now: number },
): Promise<void> {
  const known = JSON.parse(row.facts) as ConversationFacts;
  const merged = mergeFacts(known, listed);
  if (JSON.stringify(merged) === row.facts) return;
  const { over } = readRecord(merged);
  const stateChanged = merged.status !== known.status || over !== readRecord(known).over;
  // As if unread: the last read could not show the new state.
  const readAt = isShared && over && row.reads === 0 ? now : nextReadAt(merged, { ...row, reads: 0 }, now);
  await updateConversation(tx, row.conversation_id, {
    facts: JSON.stringify(merged),
    started_at: merged.startedAt,
    finished_at: row.finished_at ?? (over ? now : null),
    next_read_at: stateChanged ? Math.min(row.next_read_at, readAt) : row.next_read_at,
  });
}
