import { sql } from 'kysely';
import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import type { CampaignRules } from '../../rules/campaign-rules.ts';
import { readRecord } from '../../rules/correlation/record.ts';
import { isOurs, learnFromRecord } from './agent-habits.ts';
import { prepared } from '../prepared.ts';
import type { Queries, Tx } from '../tx.ts';
import { optOutState } from './possible-opt-outs.ts';
import { Overtaken } from '../transaction.ts';
import { updateConversation } from '../updates.ts';
import type { ConversationRow } from '../schema.ts';

/** Fallback: a listed state triggers the read when it shows the end. */
const listedStatePauseMs = 10 * 60_000;
/** Analysis usually takes seconds: one read then finds everything. */
const analysisGraceMs = 30_000;
/** Between reads of a finished record without results, or of one without state and end. */
const resultsPauseMs = 60_000;
/** Delay of the first read when the list shows no state. */
const firstReadMs = 20_000;

/** An unreadable record must not fail every sweep. */
const unreadablePauseMs = 60_000;

/** When a record that is not final is worth reading (again). */
export function nextReadAt(facts: ConversationFacts, row: { reads: number; first_seen_at: number }, now: number): number {
  if (facts.status === 'done' || facts.status === 'failed') return row.reads === 0 ? now : now + resultsPauseMs;
  if (facts.status === 'processing') return now + (row.reads === 0 ? analysisGraceMs : resultsPauseMs);
  if (facts.status !== null) return now + listedStatePauseMs;
  if (readRecord(facts).over) return row.reads === 0 ? now : now + resultsPauseMs;
  if (row.reads === 0) return row.first_seen_at + firstReadMs;
  const ageMs = now - row.first_seen_at;
  return now + Math.min(Math.max(15_000, Math.round(ageMs / 4)), resultsPauseMs);
}

/** Adds a list entry; never takes back what the record showed. */
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
    ...callerOf(known.callerNumber ?? listed.callerNumber),
    ...pointedOf({ ...listed.pointed, ...known.pointed }),
    ...(known.reported === undefined && listed.reported === undefined
      ? {}
      : { reported: namesItself(known) || namesItself(listed) ? (true as const) : ('alone' as const) }),
  };
}

function namesItself({ reported, calleeNumber, references }: ConversationFacts): boolean {
  return reported !== 'alone' && (calleeNumber !== null || references.some(isOurs));
}

function callerOf(number: string | undefined): Pick<ConversationFacts, 'callerNumber'> {
  return number === undefined ? {} : { callerNumber: number };
}

function pointedOf(pointed: Record<string, string>): Pick<ConversationFacts, 'pointed'> {
  return Object.keys(pointed).length === 0 ? {} : { pointed };
}

function keepListed(read: ConversationFacts, known: ConversationFacts): ConversationFacts {
  return {
    ...mergeFacts(read, known),
    status: read.status ?? known.status,
    endedAt: read.endedAt ?? known.endedAt,
    durationMs: read.durationMs ?? known.durationMs,
  };
}

/** A signed address grants access to the recording. */
export function withoutSignature(address: string | null): string | null {
  return address === null ? null : address.replace(/[?#].*$/s, '').replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, '$1');
}

/** For comparing reads: a newly signed address is no change. */
function withoutAudio(facts: ConversationFacts): string {
  return JSON.stringify({ ...facts, audio: null });
}

/** Unowned records not read, or not to their end: one may be a missing call. */
export const undecidedRecord = sql<boolean>`attempt_id is null and gone = 0
  and (final = 0 or (reads = 0 and facts not like '%"direction":"inbound"%'))`;

/** Due for a read, longest due first. `undecidedSince`: plus every undecided record from then on, before concluding from missing ones. */
export async function listDueReads(
  db: Queries,
  agentId: string,
  { now, undecidedSince, limit }: { now: number; undecidedSince: number | null; limit: number },
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

export interface ReadRow extends ConversationRow {
  becameFinal: boolean;
}

export interface RecordReading {
  facts: ConversationFacts;
  analysisWaitMs: number;
  ringLimitMs: number;
  optOut: CampaignRules['optOut'];
  offsetMs: number;
  now: number;
}

const selectConversation = prepared((tx: Tx, { conversationId }: { conversationId: string }) =>
  tx.selectFrom('conversations').selectAll().where('conversation_id', '=', conversationId),
);

type ReadChanges = Pick<ConversationRow, (typeof readColumns)[number]>;

const readColumns = [
  'facts',
  'started_at',
  'reads',
  'unchanged_reads',
  'unchanged_since',
  'unreadable_since',
  'finished',
  'finished_at',
  'final',
  'next_read_at',
  'talk',
  'caller',
  'heard',
] as const;

const writeRead = prepared((tx: Tx, values: ReadChanges & { conversationId: string; readsBefore: number }) =>
  tx
    .updateTable('conversations')
    .set(Object.fromEntries(readColumns.map((column) => [column, values[column]])))
    .where('conversation_id', '=', values.conversationId)
    .where('reads', '=', values.readsBefore)
    .returningAll(),
);

/** Stores a read and returns the row. Throws Overtaken when another process stored one meanwhile. */
export async function storeRead(
  tx: Tx,
  conversationId: string,
  { facts, analysisWaitMs, ringLimitMs, optOut, offsetMs, now }: RecordReading,
): Promise<ReadRow> {
  const [row] = (await selectConversation(tx, { conversationId })).rows;
  if (row === undefined) throw new Error(`conversation ${conversationId} is not in the database`);
  // Complete: a slower read takes nothing back.
  if (row.final === 1 && row.attempt_id !== null) return { ...row, becameFinal: false };
  const { read, unchanged } = readOver(row, facts);
  const reads = {
    unchangedReads: unchanged ? row.unchanged_reads + 1 : 1,
    unchangedForMs: unchanged ? now - (row.unchanged_since ?? now) : 0,
  };
  const history = { reads, overSince: row.finished_at, now, analysisWaitMs };
  const shown = readRecord(read, { optOut, ringLimitMs }, history);
  const [stored] = (
    await writeRead(tx, {
      facts: JSON.stringify(read),
      started_at: read.startedAt,
      reads: row.reads + 1,
      unchanged_reads: reads.unchangedReads,
      unchanged_since: unchanged ? row.unchanged_since : now,
      unreadable_since: null,
      finished: shown.finished ? 1 : 0,
      finished_at: shown.overSince,
      final: shown.final ? 1 : 0,
      next_read_at: nextReadAt(read, { reads: row.reads + 1, first_seen_at: row.first_seen_at }, now),
      talk: shown.talk,
      caller: read.callerNumber ?? row.caller,
      heard: row.heard === optOutState.nothing && shown.final && shown.optOut ? optOutState.toFollow : row.heard,
      conversationId,
      readsBefore: row.reads,
    })
  ).rows;
  if (stored === undefined) throw new Overtaken('Another process has stored a read of this record.');
  const becameFinal = shown.final && row.final === 0;
  if (becameFinal) await learnFromRecord(tx, stored, { facts: read, own: facts, shown, offsetMs });
  return { ...stored, becameFinal };
}

function readOver(row: ConversationRow, facts: ConversationFacts): { read: ConversationFacts; unchanged: boolean } {
  const known = JSON.parse(row.facts) as ConversationFacts;
  const datedFacts = { ...facts, conversationId: row.conversation_id, startedAt: facts.startedAt ?? row.started_at };
  const read = keepListed({ ...datedFacts, audio: withoutSignature(facts.audio) }, known);
  return { read, unchanged: row.unchanged_since !== null && withoutAudio(read) === withoutAudio(known) };
}

/** `storeRead` for a pushed record as of `now`; undefined: nothing new. A repeat is no second read; a late one takes nothing back. */
export async function storeSent(tx: Tx, conversationId: string, reading: RecordReading): Promise<ReadRow | undefined> {
  const [row] = (await selectConversation(tx, { conversationId })).rows;
  if (row === undefined || row.final === 1) return undefined;
  if (row.unchanged_since !== null && reading.now <= row.unchanged_since) return undefined;
  if (readOver(row, reading.facts).unchanged) return undefined;
  return storeRead(tx, conversationId, reading);
}

/** Only this record is unreadable: it pauses. After `patienceMs` it counts as gone, and its row is returned as proof of a placed call. */
export async function noteUnreadable(
  tx: Tx,
  conversationId: string,
  { patienceMs, now }: { patienceMs: number; now: number },
): Promise<ReadRow | undefined> {
  const query = tx.selectFrom('conversations').selectAll().where('conversation_id', '=', conversationId);
  const row = await query.executeTakeFirstOrThrow();
  const since = row.unreadable_since ?? now;
  if (now - since < patienceMs) {
    await updateConversation(tx, conversationId, { unreadable_since: since, next_read_at: now + unreadablePauseMs });
    return undefined;
  }
  const gone = { gone: 1, final: 1, finished: 1, finished_at: row.finished_at ?? now };
  await updateConversation(tx, conversationId, gone);
  return { ...row, ...gone, becameFinal: true };
}

/** A sweep ends at final records, above a long call: its record is read directly. */
export async function readOvertaken(tx: Tx, agentId: string, { oldestListed, now }: { oldestListed: number; now: number }): Promise<void> {
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

/** Reads stored records that a sweep should have listed; the sweep proves nothing until the service says they are gone. */
export async function noteVanished(
  tx: Tx,
  agentId: string,
  { span, listed, now }: { span: { from: number; to: number }; listed: ReadonlySet<string>; now: number },
): Promise<number> {
  const inSpan = tx
    .selectFrom('conversations')
    .select('conversation_id')
    .where('agent_id', '=', agentId)
    .where('gone', '=', 0)
    // Noticed before.
    .where('unreadable_since', 'is', null)
    .where('started_at', '>', span.from)
    .where('started_at', '<', span.to)
    .where('first_seen_at', '<', now);
  const rows = [
    ...(await inSpan.where('final', '=', 0).execute()),
    ...(await inSpan.where('attempt_id', 'is', null).where('final', '=', 1).execute()),
  ];
  const vanished = rows.map((row) => row.conversation_id).filter((id) => !listed.has(id));
  for (const id of vanished) await updateConversation(tx, id, { final: 0, next_read_at: now, unreadable_since: now });
  return vanished.length;
}
