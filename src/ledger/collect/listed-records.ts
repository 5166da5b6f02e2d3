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
  /** Every entry was stored as final before: nothing new can hide among older ones of a list in order. */
  allFinal: boolean;
}

export interface ListReading {
  agentId: string;
  /** No record that began before this instant can matter to anybody (service's clock); null: none matters. */
  oursSince: number | null;
  /** Whether any campaign of the agent listens for wishes not to be called again: then inbound calls are read as well. */
  listens: boolean;
  /** The service's clock less that of this process. */
  offsetMs: number;
  now: number;
  /** That the service has sent them by itself, and no list has shown them yet: what lists show is concluded from. */
  isSent?: boolean;
  /** As `AgentRecords` has it. */
  isShared?: boolean;
}

/** Stores what a page of the list shows. Entries that cannot matter, being too old or inbound, are final at once. */
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
  // What it shows now was not there when it was read.
  const readAt = isShared && over && row.reads === 0 ? now : nextReadAt(merged, { ...row, reads: 0 }, now);
  await updateConversation(tx, row.conversation_id, {
    facts: JSON.stringify(merged),
    started_at: merged.startedAt,
    finished_at: row.finished_at ?? (over ? now : null),
    next_read_at: stateChanged ? Math.min(row.next_read_at, readAt) : row.next_read_at,
  });
}
