import type { Breach } from './judge.ts';
import type { Attempt, Books, Call, Dial, Evidence, Final } from './evidence.ts';

/** The books, and each attempt's call. */
export interface Audit {
  books: Books;
  calls: readonly Call[];
  /** By the name of the request and the number. */
  callOf: ReadonlyMap<string, Call>;
}

export function auditOf({ books, calls }: Evidence): Audit | null {
  if (books === undefined) return null;
  const dialOf = dialsByRequest(books);
  return { books, calls, callOf: new Map(calls.flatMap((call) => (dialOf(call) === null ? [] : [[dialOf(call)?.attemptId ?? '', call]]))) };
}

export function dialsByRequest({ dials }: Books): (call: Call) => Dial | null {
  const known = new Map(dials.map((dial) => [`${dial.batchId}/${dial.k} ${dial.e164}`, dial]));
  return ({ requestId, to }) => known.get(`${requestId} ${to}`) ?? null;
}

const minuteMs = 60_000;
/** How far clocks may differ, and how long after its POST a call may begin. */
const toleranceMs = 5 * minuteMs;
const longestDelayMs = 120 * minuteMs;

/** Nobody is left to an operator without cause. */
export function* judgeDoubt(evidence: Evidence): Generator<Breach> {
  const { doubt, finals } = evidence;
  const left = finals.filter(({ outcome }) => outcome === 'unresolved');
  const audit = auditOf(evidence);
  if (doubt?.by === 'number' && left.length > doubt.most)
    yield { rule: 'in doubt without cause', to: null, what: `${left.length} rows, more than the ${doubt.most} that were under way` };
  if (doubt?.by === 'books' && audit !== null)
    for (const row of left.filter((each) => !isRowExcused(audit, each)))
      yield { rule: 'in doubt without cause', to: row.e164, what: `${row.recipient_id}: ${row.reason}` };
  if (doubt?.by === 'requests')
    for (const id of new Set([...doubt.doubted, ...left.map((row) => row.recipient_id)])) {
      const own = doubt.dials.filter(({ attemptId }) => attemptId.startsWith(`${id}/`));
      const row = finals.find((each) => each.recipient_id === id);
      if (!own.some((dial) => isUnknowable(evidence, dial)))
        yield { rule: 'in doubt without cause', to: row?.e164 ?? null, what: `${id}: ${row?.reason}` };
    }
}

/** Whether, by the service's log, nobody can know what became of a person in a request. */
function isUnknowable({ calls, doubt }: Evidence, { batchId, k, e164 }: Dial): boolean {
  if (doubt?.by !== 'requests') return false;
  const requestId = `${batchId}/${k}`;
  const call = calls.find((each) => each.requestId === requestId && each.to === e164);
  // The request was never carried out, or the service left this one out of it; or all that is told of the call is that it is over.
  if (call === undefined) return doubt.unseen || doubt.partial.includes(requestId);
  return call.conversationId === null && doubt.overOnly;
}

export function isReplyLost({ books }: Audit, batchId: string, which: 'lost' | 'partial' = 'lost'): boolean {
  return books.posts.some((post) => post.batch_id === batchId && books[which].includes(`${post.batch_id}/${post.k}`));
}

/** By a lost reply, a record that a fault made unreadable, or records that cannot be told apart. */
function isRowExcused(audit: Audit, { recipient_id: id, reason, e164 }: Final): boolean {
  const { attempts, unreadable, reports, dialect } = audit.books;
  const isExcused = (row: Attempt): boolean => {
    const call = audit.callOf.get(row.attempt_id);
    const conversation = call?.conversationId;
    return (
      isReplyLost(audit, row.batch_id) ||
      isDoubtCaused(audit, row) ||
      (conversation != null && unreadable.includes(conversation)) ||
      // A record nobody can read any more may have been anybody's whose own is missing.
      (unreadable.length > 0 && row.conversation_id === null) ||
      // The service says that it is over, and no more.
      (reports && conversation == null && ['no_conversation', 'not_reported'].includes(row.detail ?? '')) ||
      // Picked up and broken down before a word: the documented record tells nothing of that.
      (dialect === 'spec' && row.detail === 'record_tells_nothing')
    );
  };
  // What became of a call to the same number matters for all its rows: its owner may have asked not to be called again.
  const isNumberInDoubt = reason === 'records_not_told_apart' && attempts.some((row) => row.e164 === e164 && isRecordOfNobody(audit, row));
  return isNumberInDoubt || attempts.some((row) => row.recipient_id === id && row.disposition === 'unknown' && isExcused(row));
}

/** Whether the run itself gives a reason for what was left in doubt: the ledger's own word for it is none. */
export function isDoubtCaused(audit: Audit, attempt: Attempt): boolean {
  if (attempt.detail === 'no_record_shown') return !wasRecordShown(audit, attempt);
  if (attempt.detail !== 'records_not_told_apart') return false;
  return isDenialDisproved(audit, attempt) || isRecordOfNobody(audit, attempt);
}

/** By the attempt's end a record was known to be of its campaign; a nameless one only once that was found. */
function wasRecordShown(audit: Audit, { campaign_id: id, settled_at: endedAt }: Attempt): boolean {
  const { attempts, conversations } = audit.books;
  const records = new Map(conversations.map((row) => [row.conversation_id, row]));
  return attempts.some((row) => {
    const record = records.get(row.conversation_id ?? '');
    if (row.campaign_id !== id || record === undefined) return false;
    const { calleeNumber, references } = JSON.parse(record.facts) as { calleeNumber: string | null; references?: string[] };
    const isNamed = calleeNumber === row.e164 || references?.includes(row.reference ?? '') === true || isLineUnique(audit, row);
    return (isNamed ? record.first_seen_at : (record.given_at ?? record.first_seen_at)) < (endedAt ?? 0);
  });
}

/** The service said that it took nothing of the batch, and made calls of it. */
function isDenialDisproved({ books, calls }: Audit, { batch_id: id }: Attempt): boolean {
  const wasDenied = books.posts.some(
    ({ batch_id: batchId, verdict }) => batchId === id && (verdict === 'refused' || verdict === 'not_sent'),
  );
  return wasDenied && calls.some(({ requestId }) => requestId?.startsWith(`${id}/`) === true);
}

/** By the end of the attempt a record of the agent had shown words: before that, silence in a record says nothing. */
function wereWordsShown({ books }: Audit, attempt: Attempt): boolean {
  return books.conversations.some((row) => {
    const { userTurns, agentTurns } = JSON.parse(row.facts) as { userTurns: number; agentTurns: number };
    return row.agent_id === attempt.agent_id && userTurns + agentTurns > 0 && row.first_seen_at < (attempt.settled_at ?? 0);
  });
}

export function isLineUnique({ books }: Audit, { opening_line: line, e164, agent_id: agent }: Attempt): boolean {
  return line !== null && books.attempts.every((other) => other.opening_line !== line || other.e164 === e164 || other.agent_id !== agent);
}

/**
 * The agent has a record of nobody, or of somebody who heard the same words, that began when the call may have, and shows no
 * other number. That of the call itself is one where it lasted and nothing in it says for whom. `isMeant`: which records are looked at.
 */
export function isRecordOfNobody(audit: Audit, attempt: Attempt, isMeant = (_conversationId: string) => true): boolean {
  const { attempts, conversations, dials } = audit.books;
  const call = audit.callOf.get(attempt.attempt_id);
  const hasWords = (call?.transcriptTurns ?? 0) > 0;
  const posted = dials.filter(({ attemptId }) => attemptId === attempt.attempt_id).map(({ at }) => at);
  const [from, until] = [Math.min(...posted) - toleranceMs, Math.max(...posted) + longestDelayMs + toleranceMs];
  const isNobodys = (ownerId: string | null): boolean => {
    const owner = attempts.find((row) => row.attempt_id === ownerId);
    return ownerId === null || (owner !== undefined && owner.e164 !== attempt.e164 && owner.opening_line === attempt.opening_line);
  };
  return conversations.some((row) => {
    const { calleeNumber, durationMs } = JSON.parse(row.facts) as { calleeNumber: string | null; durationMs: number | null };
    // Without words it may be anybody's talk that was not written down.
    const isNameless = hasWords ? !isLineUnique(audit, attempt) : (durationMs ?? 0) > 0 || !wereWordsShown(audit, attempt);
    const startedAt = row.started_at ?? row.first_seen_at;
    return (
      row.agent_id === attempt.agent_id &&
      isMeant(row.conversation_id) &&
      isNobodys(row.attempt_id) &&
      (isNameless || row.conversation_id !== call?.conversationId) &&
      startedAt >= from &&
      startedAt <= until &&
      (calleeNumber === null || calleeNumber === attempt.e164)
    );
  });
}
