import type { Insertable } from 'kysely';
import type { ConversationFacts } from '../../domain/conversation-facts.ts';
import { isCallOver } from '../../domain/disposition.ts';
import { mergeFacts, nextReadAt, type ConversationRow } from '../doubt/conversations.ts';
import type { Queries } from '../open-ledger.ts';
import type { Database } from '../schema.ts';

/** A service without paging may list everything at once; a statement takes a limited number of values. */
const rowsPerStatement = 500;

function* partsOf<Row>(rows: readonly Row[]): Generator<Row[]> {
  for (let start = 0; start < rows.length; start += rowsPerStatement) yield rows.slice(start, start + rowsPerStatement);
}

export interface ListedPage {
  /** Every entry was stored as final before: nothing new can hide among older ones of a list in order. */
  allFinal: boolean;
}

export interface ListReading {
  /** No record that began before this instant can matter to anybody (service's clock); null: none matters. */
  oursSince: number | null;
  /** Whether any campaign of the agent listens for wishes not to be called again: then inbound calls are read as well. */
  listens: boolean;
  /** The service's clock less that of this process. */
  offsetMs: number;
}

/** Stores what a page of the list shows. Entries that cannot matter, being too old or inbound, are final at once. */
export async function storeListed(
  tx: Queries,
  agentId: string,
  named: readonly ConversationFacts[],
  { oursSince, listens, offsetMs }: ListReading,
  now: number,
): Promise<ListedPage> {
  if (named.length === 0) return { allFinal: false };
  const byId = new Map<string, ConversationRow>();
  for (const part of partsOf(named)) {
    const ids = part.map((facts) => facts.conversationId);
    const known = await tx.selectFrom('conversations').selectAll().where('conversation_id', 'in', ids).execute();
    for (const row of known) byId.set(row.conversation_id, row);
  }
  const { seen_seq: seenSeq, missed_at: missedAt } = await readMoment(tx, agentId, offsetMs);
  const added = new Map<string, Insertable<Database['conversations']>>();
  let allFinal = true;
  for (const facts of named) {
    const row = byId.get(facts.conversationId);
    if (row !== undefined) {
      if (row.final === 1) continue;
      allFinal = false;
      await storeChange(tx, row, facts, now);
      continue;
    }
    allFinal = false;
    const foreign =
      (facts.direction === 'inbound' && !listens) ||
      oursSince === null ||
      (facts.startedAt !== null && facts.startedAt < oursSince);
    const base = { reads: 0, first_seen_at: now };
    added.set(facts.conversationId, {
      conversation_id: facts.conversationId,
      agent_id: agentId,
      attempt_id: null,
      ...base,
      started_at: facts.startedAt,
      facts: JSON.stringify(facts),
      finished: 0,
      finished_at: isCallOver(facts) ? now : null,
      final: foreign ? 1 : 0,
      gone: 0,
      unchanged_reads: 0,
      unchanged_since: null,
      unreadable_since: null,
      next_read_at: nextReadAt(facts, base, now),
      seen_seq: seenSeq,
      missed_at: missedAt,
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
  const newest = named.reduce((latest, { startedAt }) => Math.max(latest, startedAt ?? 0), 0);
  await tx
    .updateTable('agents')
    .set({ newest_start: newest })
    .where('agent_id', '=', agentId)
    .where((eb) => eb.or([eb('newest_start', 'is', null), eb('newest_start', '<', newest)]))
    .execute();
  return { allFinal };
}

/** How long the log is at this moment, and when the last complete sweep had begun, on the service's clock. */
async function readMoment(tx: Queries, agentId: string, offsetMs: number) {
  const log = await tx
    .selectFrom('events')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .executeTakeFirst();
  const agent = await tx
    .selectFrom('agents')
    .select('complete_begun_at')
    .where('agent_id', '=', agentId)
    .executeTakeFirst();
  const begunAt = agent?.complete_begun_at ?? null;
  return { seen_seq: log?.seq ?? 0, missed_at: begunAt === null ? null : begunAt + offsetMs };
}

async function storeChange(tx: Queries, row: ConversationRow, listed: ConversationFacts, now: number): Promise<void> {
  const known = JSON.parse(row.facts) as ConversationFacts;
  const merged = mergeFacts(known, listed);
  if (JSON.stringify(merged) === row.facts) return;
  const stateChanged = merged.status !== known.status || isCallOver(merged) !== isCallOver(known);
  await tx
    .updateTable('conversations')
    .set({
      facts: JSON.stringify(merged),
      started_at: merged.startedAt,
      finished_at: row.finished_at ?? (isCallOver(merged) ? now : null),
      next_read_at: stateChanged ? Math.min(row.next_read_at, nextReadAt(merged, row, now)) : row.next_read_at,
    })
    .where('conversation_id', '=', row.conversation_id)
    .execute();
}
