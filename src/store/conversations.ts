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
    ...pointedOf({ ...listed.pointed, ...known.pointed }),
  };
}

function pointedOf(pointed: Record<string, string>): Pick<ConversationFacts, 'pointed'> {
  return Object.keys(pointed).length === 0 ? {} : { pointed };
}

/** A service without paging may list everything at once; a statement takes a limited number of values. */
const rowsPerStatement = 500;

function* partsOf<Row>(rows: readonly Row[]): Generator<Row[]> {
  for (let start = 0; start < rows.length; start += rowsPerStatement) yield rows.slice(start, start + rowsPerStatement);
}

/** What only the list told stays known when the record is read. */
function keepListed(read: ConversationFacts, known: ConversationFacts): ConversationFacts {
  return {
    ...mergeFacts(read, known),
    status: read.status ?? known.status,
    endedAt: read.endedAt ?? known.endedAt,
    durationMs: read.durationMs ?? known.durationMs,
  };
}

/** For comparing two readings: an address that is signed anew for each reader is no change. */
function withoutAudio(facts: ConversationFacts): string {
  return JSON.stringify({ ...facts, audio: null });
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
  const byId = new Map<string, ConversationRow>();
  for (const part of partsOf(named)) {
    const ids = part.map((facts) => facts.conversationId);
    const known = await tx.selectFrom('conversations').selectAll().where('conversation_id', 'in', ids).execute();
    for (const row of known) byId.set(row.conversation_id, row);
  }
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
      unreadable_since: null,
      next_read_at: nextReadAt(facts, base, now),
    });
  }
  for (const part of partsOf([...added.values()])) {
    await tx
      .insertInto('conversations')
      .values(part)
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
  const records = db
    .selectFrom('conversations')
    .select('conversation_id')
    .where('agent_id', '=', agentId)
    .orderBy('next_read_at')
    .limit(limit);
  const due = await records.where('final', '=', 0).where('next_read_at', '<=', now).execute();
  const ids = due.map((row) => row.conversation_id);
  if (undecidedSince === null || ids.length >= limit) return ids;
  const undecided = await records
    .where(undecidedRecord)
    .where((eb) => eb.or([eb('started_at', 'is', null), eb('started_at', '>=', undecidedSince)]))
    .execute();
  return [...new Set([...ids, ...undecided.map((row) => row.conversation_id)])].slice(0, limit);
}

/** A row as a read has left it. */
export interface ReadRow extends ConversationRow {
  /** Whether it was this read that showed the record to its end. */
  becameFinal: boolean;
}

/** Stores a read of the record itself and answers the row as it stands now. */
export async function storeRead(
  tx: Queries,
  conversationId: string,
  facts: ConversationFacts,
  analysisWaitMs: number,
  now: number,
): Promise<ReadRow> {
  const row = await tx
    .selectFrom('conversations')
    .selectAll()
    .where('conversation_id', '=', conversationId)
    .executeTakeFirstOrThrow();
  const known = JSON.parse(row.facts) as ConversationFacts;
  const read = keepListed({ ...facts, conversationId, startedAt: facts.startedAt ?? row.started_at }, known);
  const unchanged = row.unchanged_since !== null && withoutAudio(read) === withoutAudio(known);
  const reads = {
    unchangedReads: unchanged ? row.unchanged_reads + 1 : 1,
    unchangedForMs: unchanged ? now - (row.unchanged_since ?? now) : 0,
  };
  const finished = isFinished(read, reads);
  const finishedAt = row.finished_at ?? (finished || isCallOver(read) ? now : null);
  const final = isFinal(read, { reads, overForMs: finishedAt === null ? 0 : now - finishedAt, analysisWaitMs });
  const after: ConversationRow = {
    ...row,
    facts: JSON.stringify(read),
    started_at: read.startedAt,
    reads: row.reads + 1,
    unchanged_reads: reads.unchangedReads,
    unchanged_since: unchanged ? row.unchanged_since : now,
    unreadable_since: null,
    finished: finished || final ? 1 : 0,
    finished_at: finishedAt,
    final: final ? 1 : 0,
    next_read_at: nextReadAt(read, { reads: row.reads + 1, first_seen_at: row.first_seen_at }, now),
  };
  const { conversation_id: _id, attempt_id: _attempt, agent_id: _agent, ...changed } = after;
  await tx.updateTable('conversations').set(changed).where('conversation_id', '=', conversationId).execute();
  return { ...after, becameFinal: final && row.final === 0 };
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
 * A sweep ends where the list shows final records only. A call that lasts longer than those around it lies below that, where the list
 * tells no more about it: its record is then read by itself.
 */
export async function readOvertaken(tx: Queries, agentId: string, oldestListed: number, now: number): Promise<void> {
  const at = now + resultsPauseMs;
  await tx
    .updateTable('conversations')
    .set({ next_read_at: at })
    .where('agent_id', '=', agentId)
    .where('final', '=', 0)
    .where('next_read_at', '>', at)
    .where('started_at', '<', oldestListed)
    .execute();
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
  const inSpan = tx
    .selectFrom('conversations')
    .select('conversation_id')
    .where('agent_id', '=', agentId)
    .where('gone', '=', 0)
    .where('started_at', '>', span.from)
    .where('started_at', '<', span.to)
    .where('first_seen_at', '<', now);
  const rows = [
    ...(await inSpan.where('final', '=', 0).execute()),
    ...(await inSpan.where('attempt_id', 'is', null).where('final', '=', 1).execute()),
  ];
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
