import { sql, type Selectable } from 'kysely';
import type { ConversationFacts } from '../domain/conversation-facts.ts';
import { isCallOver, isFinal, isFinished } from '../domain/disposition.ts';
import type { Queries } from './open-store.ts';
import type { Database } from './schema.ts';

export type ConversationRow = Selectable<Database['conversations']>;

/** A record whose state the list shows is read when that says it is over; this is the safety net. */
const listedStatePauseMs = 10 * 60_000;
/** Analysis usually follows a call within seconds: one read then finds everything. */
const analysisGraceMs = 30_000;
/** Between reads of a finished record whose results are still to come, and of one that shows neither state nor end. */
const resultsPauseMs = 60_000;
/** Where the list shows no state, a call is first looked at after this long. */
const firstLookMs = 20_000;

/** When a record that is not final is worth reading (again). `read`: this look was a read of the record itself. */
function nextReadAt(facts: ConversationFacts, row: { reads: number; first_seen_at: number }, now: number): number {
  if (facts.status === 'done' || facts.status === 'failed') return row.reads === 0 ? now : now + resultsPauseMs;
  if (facts.status === 'processing') return now + (row.reads === 0 ? analysisGraceMs : resultsPauseMs);
  if (facts.status !== null) return now + listedStatePauseMs;
  if (isCallOver(facts)) return row.reads === 0 ? now : now + resultsPauseMs;
  if (row.reads === 0) return row.first_seen_at + firstLookMs;
  const ageMs = now - row.first_seen_at;
  return now + Math.min(Math.max(15_000, Math.round(ageMs / 4)), resultsPauseMs);
}

/** What a list entry adds to what is known: it never takes back what the record itself told. */
export function mergeFacts(known: ConversationFacts, listed: ConversationFacts): ConversationFacts {
  return {
    ...known,
    agentId: known.agentId ?? listed.agentId,
    direction: known.direction ?? listed.direction,
    calleeNumber: known.calleeNumber ?? listed.calleeNumber,
    batchId: known.batchId ?? listed.batchId,
    references: [...new Set([...known.references, ...listed.references])],
    status: listed.status ?? known.status,
    startedAt: known.startedAt ?? listed.startedAt,
    endedAt: listed.endedAt ?? known.endedAt,
    durationMs: listed.durationMs ?? known.durationMs,
    callResult: known.callResult ?? listed.callResult,
    terminationReason: known.terminationReason ?? listed.terminationReason,
  };
}

export interface ListedPage {
  /** Every entry was stored as final before: nothing new can hide among older ones of a list in order. */
  allFinal: boolean;
}

/**
 * Stores what a page of the list shows. Entries that cannot be ours, being older than every unmatched attempt or inbound, are
 * final at once. `oldestUnmatched`: earliest POST (service time) among attempts without a conversation, or null.
 */
export async function storeListed(
  tx: Queries,
  agentId: string,
  entries: readonly ConversationFacts[],
  oldestUnmatched: number | null,
  now: number,
): Promise<ListedPage> {
  const named = entries.filter((facts) => facts.conversationId !== '');
  if (named.length === 0) return { allFinal: false };
  const known = await tx
    .selectFrom('conversations')
    .selectAll()
    .where(
      'conversation_id',
      'in',
      named.map((facts) => facts.conversationId),
    )
    .execute();
  const byId = new Map(known.map((row) => [row.conversation_id, row]));
  const added = new Map<string, ConversationRow>();
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
      facts.direction === 'inbound' ||
      oldestUnmatched === null ||
      (facts.startedAt !== null && facts.startedAt < oldestUnmatched);
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
      next_read_at: nextReadAt(facts, base, now),
    });
  }
  if (added.size > 0) {
    await tx
      .insertInto('conversations')
      .values([...added.values()])
      .onConflict((conflict) => conflict.column('conversation_id').doNothing())
      .execute();
  }
  return { allFinal };
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

/** Records that belong to nobody and that have not been looked into, or not to their end: one of them may be a missing call. */
export const undecidedRecord = sql<boolean>`attempt_id is null and gone = 0
  and (final = 0 or (reads = 0 and facts not like '%"direction":"inbound"%'))`;

/**
 * Records of the agent that are worth a read now, longest due first. `undecidedSince`: something is about to be concluded from
 * what is missing, so every undecided record from that instant on is read too.
 */
export async function listDueReads(
  db: Queries,
  agentId: string,
  now: number,
  undecidedSince: number | null,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('conversations')
    .select('conversation_id')
    .where('agent_id', '=', agentId)
    .where((eb) => {
      const due = eb.and([eb('final', '=', 0), eb('next_read_at', '<=', now)]);
      if (undecidedSince === null) return due;
      const recent = eb.or([eb('started_at', 'is', null), eb('started_at', '>=', undecidedSince)]);
      return eb.or([due, eb.and([undecidedRecord, recent])]);
    })
    .orderBy('next_read_at')
    .limit(limit)
    .execute();
  return rows.map((row) => row.conversation_id);
}

/** Stores a read of the record itself and answers the row as it stands now. */
export async function storeRead(
  tx: Queries,
  conversationId: string,
  facts: ConversationFacts,
  analysisWaitMs: number,
  now: number,
): Promise<ConversationRow> {
  const row = await tx
    .selectFrom('conversations')
    .selectAll()
    .where('conversation_id', '=', conversationId)
    .executeTakeFirstOrThrow();
  const json = JSON.stringify({ ...facts, conversationId, startedAt: facts.startedAt ?? row.started_at });
  const unchanged = json === row.facts && row.unchanged_since !== null;
  const reads = {
    unchangedReads: unchanged ? row.unchanged_reads + 1 : 1,
    unchangedForMs: unchanged ? now - (row.unchanged_since ?? now) : 0,
  };
  const finished = isFinished(facts, reads);
  const finishedAt = row.finished_at ?? (finished || isCallOver(facts) ? now : null);
  const final = isFinal(facts, { reads, overForMs: finishedAt === null ? 0 : now - finishedAt, analysisWaitMs });
  const after: ConversationRow = {
    ...row,
    facts: json,
    started_at: facts.startedAt ?? row.started_at,
    reads: row.reads + 1,
    unchanged_reads: reads.unchangedReads,
    unchanged_since: unchanged ? row.unchanged_since : now,
    finished: finished || final ? 1 : 0,
    finished_at: finishedAt,
    final: final ? 1 : 0,
    next_read_at: nextReadAt(facts, { reads: row.reads + 1, first_seen_at: row.first_seen_at }, now),
  };
  const { conversation_id: _id, attempt_id: _attempt, agent_id: _agent, ...changed } = after;
  await tx.updateTable('conversations').set(changed).where('conversation_id', '=', conversationId).execute();
  return after;
}

/** The record was listed and cannot be read any more: it proves a placed call and will tell no more. */
export async function storeGone(tx: Queries, conversationId: string, now: number): Promise<ConversationRow> {
  return tx
    .updateTable('conversations')
    .set((eb) => ({ gone: 1, final: 1, finished: 1, finished_at: eb.fn.coalesce('finished_at', eb.val(now)) }))
    .where('conversation_id', '=', conversationId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * Stored records of a span that a sweep should have listed and did not: they are read again at once, and until the service has
 * said that they are gone, the sweep proves nothing. Records that are owned and final have told all they can.
 */
export async function noteVanished(
  tx: Queries,
  agentId: string,
  span: { from: number; to: number },
  listed: ReadonlySet<string>,
  now: number,
): Promise<number> {
  const rows = await tx
    .selectFrom('conversations')
    .select('conversation_id')
    .where('agent_id', '=', agentId)
    .where('gone', '=', 0)
    .where((eb) => eb.or([eb('final', '=', 0), eb('attempt_id', 'is', null)]))
    .where('started_at', '>', span.from)
    .where('started_at', '<', span.to)
    .where('first_seen_at', '<', now)
    .execute();
  const vanished = rows.map((row) => row.conversation_id).filter((id) => !listed.has(id));
  for (const id of vanished) {
    await tx
      .updateTable('conversations')
      .set({ final: 0, next_read_at: now })
      .where('conversation_id', '=', id)
      .execute();
  }
  return vanished.length;
}
