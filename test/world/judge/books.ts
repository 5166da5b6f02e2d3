import type { Breach } from './judge.ts';
import { groupBy } from './calls.ts';
import { auditOf, dialsByRequest, isDoubtCaused, isLineUnique, isRecordOfNobody, isReplyLost, type Audit } from './doubt.ts';
import type { Attempt, Call, Dial, Evidence } from './evidence.ts';

/** Each call with its attempt, found in two independent ways. */
export function* judgeDials({ books, calls }: Evidence): Generator<Breach> {
  if (books === undefined) return;
  const byRequest = dialsByRequest(books);
  const byTime = ({ to, acceptedAt }: Call): Dial | null => {
    const before = books.dials.filter(({ e164, at }) => e164 === to && at <= acceptedAt);
    return before.reduce<Dial | null>((best, dial) => (best === null || dial.at >= best.at ? dial : best), null);
  };
  for (const way of books.isTimed ? [byRequest, byTime] : [byRequest])
    for (const [attemptId, own] of groupBy(calls, (call) => way(call)?.attemptId))
      if (attemptId !== undefined && own.length > 1)
        yield { rule: 'an attempt dialled twice', to: own[0]?.to ?? null, what: `${attemptId}: ${own.length} calls` };
  const posts = new Set(books.posts.map((post) => `${post.batch_id}/${post.k}`));
  for (const call of calls) {
    const [one, other] = [byRequest(call), byTime(call)];
    const what = `${call.callId} of ${call.requestId}: by request ${one?.attemptId}, by number and time ${other?.attemptId}`;
    if (call.requestId !== null && (!posts.has(call.requestId) || one === null))
      yield { rule: 'called without a request', to: call.to, what };
    if (books.isTimed && one?.attemptId !== other?.attemptId) yield { rule: 'request and time disagree', to: call.to, what };
  }
}

const endedBatches = new Set(['confirmed', 'refused', 'released', 'held', 'redial', 'given_up']);

/** Every batch, attempt and count is accounted for at the end. */
export function* judgeBooks({ books, finals }: Evidence): Generator<Breach> {
  if (books === undefined) return;
  for (const { batch_id: id, state } of books.batches)
    if (!endedBatches.has(state)) yield { rule: 'no end', to: null, what: `batch ${id} is ${state}` };
  for (const { attempt_id: id, e164, state } of books.attempts)
    if (state !== 'settled' && state !== 'released') yield { rule: 'no end', to: e164, what: `attempt ${id} is ${state}` };
  const counts = new Map<string, number>();
  const add = (campaign: string, kind: string, value: string | null, by: number) => {
    const key = `${campaign} ${kind} ${value}`;
    if (value !== null) counts.set(key, (counts.get(key) ?? 0) + by);
  };
  for (const { campaign_id: id, outcome } of finals) add(id, 'outcome', outcome, 1);
  for (const { campaign_id: id, state, disposition } of books.attempts) if (state === 'settled') add(id, 'disposition', disposition, 1);
  for (const { campaign_id: id, kind, value, count } of books.aggregates)
    if (kind === 'outcome' || kind === 'disposition') add(id, kind, value, -count);
  for (const [key, left] of counts) if (left !== 0) yield { rule: 'wrong count', to: null, what: `${key}: ${-left} too many` };
}

/** Clocks cannot tell what lies closer together than this. */
const clockToleranceMs = 4_000;

function truthOf(call: Call): string {
  if (call.result === 'answered') return call.optedOut ? 'opted_out' : 'answered';
  return call.result ?? 'undecided';
}

/** The ledger's word on each attempt, against its call. */
export function* judgeDispositions(evidence: Evidence): Generator<Breach> {
  const audit = auditOf(evidence);
  for (const attempt of audit?.books.attempts ?? []) {
    const call = audit?.callOf.get(attempt.attempt_id);
    const { attempt_id: id, e164: to, state, conversation_id: conversation } = attempt;
    if (audit === null || (state !== 'settled' && state !== 'released')) continue;
    if (state === 'released') {
      // Without a record, nothing tells a call that failed, or that nobody picked up, from one that was taken back.
      const isHidden = audit.books.cancelHides && attempt.reason === 'withdrawn' && call?.conversationId === null;
      if (call !== undefined && !(isHidden && truthOf(call) !== 'answered'))
        yield { rule: 'released, and called', to, what: `${id} (${attempt.reason}): ${call.callId}` };
      continue;
    }
    const allowed = allowedFor(audit, attempt, call);
    const happened = call === undefined ? 'no call' : `${truthOf(call)}${call.silent ? ' (silent)' : ''}`;
    if (!allowed.includes(attempt.disposition ?? 'null') || isSilenceMissed(audit, attempt, call))
      yield {
        rule: 'wrong disposition',
        to,
        what: `${id}: ${attempt.disposition} ${attempt.detail ?? ''}, truth ${happened}, allowed ${allowed.join('|')}`,
      };
    if (conversation !== null && (call === undefined || call.conversationId !== conversation))
      yield {
        rule: 'wrong conversation',
        to,
        what: `${id} owns ${conversation} by ${attempt.evidence}, its own is ${call?.conversationId}`,
      };
    if (call?.said !== undefined && attempt.result !== call.said)
      yield { rule: 'wrong result', to, what: `${id} is ${attempt.result}, and they said ${call.said}` };
  }
}

function isSilenceMissed({ books }: Audit, { disposition, detail }: Attempt, call: Call | undefined): boolean {
  if (call === undefined || disposition !== 'answered' || truthOf(call) !== 'answered') return false;
  return detail !== (call.silent ? 'silent' : null) && !books.unreadable.includes(call.conversationId ?? '');
}

function allowedFor(audit: Audit, attempt: Attempt, call: Call | undefined): string[] {
  const known = call === undefined ? allowedWithoutCall(audit, attempt) : allowedWithCall(audit, attempt, call);
  // Where nothing negative would be wrong, it may be left open for a reason.
  const isOpen = call === undefined || known.includes('unreached');
  const mayDoubt = isOpen
    ? isDoubtCaused(audit, attempt)
    : isListedTooLate(audit, attempt, call) || isUnreadRecordsToo(audit, attempt, call);
  return mayDoubt ? [...known, 'unknown'] : known;
}

/** A record is waited for at least so long after its request. */
const leastHoldMs = 10 * 60_000;

/** Whether all that could tell of a call whose reply was lost came when its batch had been held for long enough. */
function isListedTooLate(audit: Audit, attempt: Attempt, { listedAt }: Call): boolean {
  const { batch_id: batchId, settled_at: settledAt, conversation_id: record, detail } = attempt;
  const { isTimed, reports, dials } = audit.books;
  if (!isReplyLost(audit, batchId) || !isTimed || reports || detail !== 'held' || record !== null) return false;
  const askedAt = Math.max(...dials.filter((dial) => dial.batchId === batchId).map(({ at }) => at));
  return settledAt !== null && settledAt >= askedAt + leastHoldMs && listedAt !== null && listedAt > settledAt;
}

/** Whether its record is told by number alone, while a record that can no longer be read may be the one. */
function isUnreadRecordsToo(audit: Audit, attempt: Attempt, call: Call): boolean {
  const { batch_id: batchId, detail, evidence } = attempt;
  const isWeak = isReplyLost(audit, batchId) && evidence === 'number' && call.result !== 'answered';
  const isUnread = (conversationId: string) => audit.books.unreadable.includes(conversationId);
  return isWeak && detail === 'records_not_told_apart' && isRecordOfNobody(audit, attempt, isUnread);
}

/** Dispositions allowed by what really became of the call. */
function allowedWithCall(audit: Audit, attempt: Attempt, call: Call): string[] {
  const { unreadable, reports, dialect } = audit.books;
  const truth = truthOf(call);
  // Without a record nothing but the report tells how it ended, and it may hide how.
  if (reports && call.conversationId === null) return [truth, 'failed', 'unknown'];
  const noRecord = isReplyLost(audit, attempt.batch_id) || unreadable.length > 0 ? ['unreached', 'unknown'] : ['unreached'];
  if (call.conversationId === null || !call.visible) return noRecord;
  // What the list says of it may still be told; more than that only if it was read before.
  if (unreadable.includes(call.conversationId))
    return [truth, ['answered', 'opted_out', 'voicemail'].includes(truth) ? 'answered' : 'failed', ...noRecord];
  if (dialect === 'extended') return isContested(audit, attempt, call) ? [truth, ...noRecord] : [truth];
  if (call.transcriptTurns === 0) return ['unreached', 'unknown'];
  // Nothing in this dialect tells a greeting on tape from a person.
  const read = truth === 'voicemail' ? 'answered' : truth;
  return isLineUnique(audit, attempt) ? [read] : [read, 'unreached', 'unknown'];
}

function allowedWithoutCall(audit: Audit, { batch_id: batchId }: Attempt): string[] {
  const { batches, unreadable, reports } = audit.books;
  if (batches.find((row) => row.batch_id === batchId)?.state === 'refused') return ['invalid_number'];
  if (isReplyLost(audit, batchId)) return ['unknown'];
  // Left out of its report, a call is told from none by nobody.
  if (isReplyLost(audit, batchId, 'partial')) return ['unreached', 'failed', ...(unreadable.length > 0 || reports ? ['unknown'] : [])];
  return [];
}

/** Whether the call began so soon after its POST that an earlier, unheard attempt to the same number may have made it. */
function isContested(audit: Audit, attempt: Attempt, call: Call): boolean {
  const { dials, attempts } = audit.books;
  const dial = dials.find((entry) => entry.attemptId === attempt.attempt_id);
  if (dial === undefined || attempt.reference !== null || !isReplyLost(audit, attempt.batch_id)) return false;
  if ((call.dialedAt ?? Infinity) - dial.at > clockToleranceMs) return false;
  return attempts.some(
    (other) =>
      other.e164 === attempt.e164 &&
      other.attempt_id !== attempt.attempt_id &&
      other.disposition === 'unknown' &&
      other.conversation_id === null &&
      other.opening_line !== attempt.opening_line &&
      isReplyLost(audit, other.batch_id),
  );
}
