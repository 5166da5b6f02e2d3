import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';
import { hourMs, minuteMs } from '../support/campaign-rules.ts';
import type { JoinedCall, Trial, Violation } from './judge.ts';

type AttemptRow = Trial['ledger']['attempts'][number];

/** The replies of all POSTs of a batch came back, or it was never posted. */
export function isReplyLost(trial: Trial, batchId: string): boolean {
  return trial.ledger.posts.some((post) => post.batch_id === batchId && trial.lostReplies.has(`${post.batch_id}/${post.k}`));
}

function isReplyPartial(trial: Trial, batchId: string): boolean {
  return trial.ledger.posts.some((post) => post.batch_id === batchId && trial.partialReplies.has(`${post.batch_id}/${post.k}`));
}

function truthOf(call: CallTruth): string {
  if (call.result === 'answered') return call.optedOut ? 'opted_out' : 'answered';
  return call.result ?? 'undecided';
}

/** Dispositions that an attempt may have, given what really became of its call. */
function allowedFor(trial: Trial, attempt: AttemptRow, call: CallTruth): string[] {
  const truth = truthOf(call);
  // Without a record nothing but the report tells how it ended, and it may hide how.
  if (trial.reports === true && call.conversationId === null) return [truth, 'failed', 'unknown'];
  const noRecord = isReplyLost(trial, attempt.batch_id) || anyUnreadable(trial) ? ['unreached', 'unknown'] : ['unreached'];
  if (call.conversationId === null || !call.visible) return noRecord;
  if (trial.unreadable.has(call.conversationId)) {
    // What the list says of it may still be told; more than that only if it was read before.
    return truth === 'answered' || truth === 'opted_out' || truth === 'voicemail'
      ? [truth, 'answered', ...noRecord]
      : [truth, 'failed', ...noRecord];
  }
  if (trial.dialect === 'extended') return isContested(trial, attempt, call) ? [truth, ...noRecord] : [truth];
  const pickedUp = call.transcriptTurns > 0;
  if (!pickedUp) return ['unreached', 'unknown'];
  // Nothing in this dialect tells a greeting on tape from a person.
  const read = truth === 'voicemail' ? 'answered' : truth;
  return isLineUnique(trial, attempt) ? [read] : [read, 'unreached', 'unknown'];
}

/** Clocks cannot tell what lies closer together than this. */
const clockToleranceMs = 4_000;

/**
 * Whether the call began so soon after its POST that it may as well be that of an earlier attempt to the same number of which
 * nothing was ever heard, while the lost reply left nothing but the number to go by.
 */
function isContested(trial: Trial, attempt: AttemptRow, call: CallTruth): boolean {
  const dial = trial.ledger.dials.find((entry) => entry.attemptId === attempt.attempt_id);
  if (dial === undefined || attempt.reference !== null || !isReplyLost(trial, attempt.batch_id)) return false;
  if ((call.dialedAt ?? Infinity) - dial.at > clockToleranceMs) return false;
  return trial.ledger.attempts.some(
    (other) =>
      other.e164 === attempt.e164 &&
      other.attempt_id !== attempt.attempt_id &&
      other.disposition === 'unknown' &&
      other.conversation_id === null &&
      other.opening_line !== attempt.opening_line &&
      isReplyLost(trial, other.batch_id),
  );
}

function anyUnreadable(trial: Trial): boolean {
  return trial.unreadable.size > 0;
}

function allowedWithoutCall(trial: Trial, attempt: AttemptRow): string[] {
  const batch = trial.ledger.batches.find((row) => row.batch_id === attempt.batch_id);
  if (batch?.state === 'refused') return ['invalid_number'];
  if (isReplyLost(trial, attempt.batch_id)) return ['unknown'];
  if (isReplyPartial(trial, attempt.batch_id)) {
    // Left out of its report, a call is told from none by nobody.
    return ['unreached', 'failed', ...(anyUnreadable(trial) || trial.reports === true ? ['unknown'] : [])];
  }
  return [];
}

/** What the ledger says of each attempt against what happened to its call. */
export function* judgeDispositions(trial: Trial, joined: readonly JoinedCall[]): Generator<Violation> {
  const callOf = new Map<string, CallTruth>();
  for (const { call, byRequest } of joined) if (byRequest !== null) callOf.set(byRequest.attemptId, call);
  const byConversation = new Map(trial.calls.map((call) => [call.conversationId, call]));
  for (const attempt of trial.ledger.attempts) {
    const call = callOf.get(attempt.attempt_id);
    if (attempt.state === 'released') {
      // Without a record, nothing tells a call that failed, or that nobody picked up, from one that was taken back.
      const isHidden = trial.cancelHides === true && attempt.reason === 'withdrawn' && call?.conversationId === null;
      if (call !== undefined && !(isHidden && truthOf(call) !== 'answered'))
        yield { rule: 'released_but_called', what: `${attempt.attempt_id} (${attempt.reason}): ${call.callId}` };
      continue;
    }
    if (attempt.state !== 'settled') continue;
    const known = call === undefined ? allowedWithoutCall(trial, attempt) : allowedFor(trial, attempt, call);
    const { disposition } = attempt;
    // Where nothing negative would be wrong, it may be left open for a reason.
    const mayDoubt = (call === undefined || known.includes('unreached')) && isDoubtCaused(trial, joined, attempt);
    const allowed = mayDoubt ? [...known, 'unknown'] : known;
    const silenceMissed =
      call !== undefined && disposition === 'answered' && truthOf(call) === 'answered' &&
      attempt.detail !== (call.silent ? 'silent' : null) && !trial.unreadable.has(call.conversationId ?? ''); // prettier-ignore
    if (!allowed.includes(disposition ?? 'null') || silenceMissed) {
      const happened = call === undefined ? 'no call' : `${truthOf(call)}${call.silent ? ' (silent)' : ''}`;
      yield {
        rule: 'wrong_disposition',
        what: `${attempt.attempt_id} in ${attempt.batch_id}: ${disposition} ${attempt.detail ?? ''}, truth ${happened}, allowed ${allowed.join('|')}, record ${call?.conversationId} visible ${call?.visible}`,
      };
    }
    if (attempt.conversation_id !== null) {
      const owned = byConversation.get(attempt.conversation_id);
      if (owned === undefined || owned.callId !== call?.callId)
        yield {
          rule: 'wrong_conversation',
          what: `${attempt.attempt_id} owns ${attempt.conversation_id} of ${owned?.to ?? 'no call of ours'} (${owned?.requestId ?? 'inbound'}) by ${attempt.evidence}`,
        };
    }
  }
}

/** How far clocks may differ, and how long after its POST a call may begin. */
const doubtToleranceMs = 5 * minuteMs;
const longestDelayMs = 2 * hourMs;

/** Whether nobody else who was called for this agent heard the same first words. */
export function isLineUnique(trial: Trial, attempt: AttemptRow): boolean {
  return (
    attempt.opening_line !== null &&
    trial.ledger.attempts.every(
      (other) => other.opening_line !== attempt.opening_line || other.e164 === attempt.e164 || other.agent_id !== attempt.agent_id,
    )
  );
}

/** Whether the run itself gives a reason for what was left in doubt: the ledger's own word for it is none. */
export function isDoubtCaused(trial: Trial, joined: readonly JoinedCall[], attempt: AttemptRow): boolean {
  if (attempt.detail === 'no_record_shown') return !wasRecordShown(trial, attempt);
  if (attempt.detail !== 'records_not_told_apart') return false;
  return isDenialDisproved(trial, attempt) || isRecordOfNobody(trial, joined, attempt);
}

/** By the end of the attempt a record of another call of its campaign had been seen. */
function wasRecordShown(trial: Trial, attempt: AttemptRow): boolean {
  const { attempts, conversations } = trial.ledger;
  const seenAt = new Map(conversations.map((row) => [row.conversation_id, row.first_seen_at]));
  return attempts.some(
    (row) =>
      row.campaign_id === attempt.campaign_id &&
      row.conversation_id !== null &&
      (seenAt.get(row.conversation_id) ?? Infinity) < (attempt.settled_at ?? 0),
  );
}

/** The service said that it took nothing of the batch, and made calls of it. */
function isDenialDisproved({ ledger, calls }: Trial, attempt: AttemptRow): boolean {
  const posts = ledger.posts.filter((post) => post.batch_id === attempt.batch_id);
  const wasDenied = posts.some(({ verdict }) => verdict === 'refused' || verdict === 'not_sent');
  return wasDenied && calls.some(({ requestId }) => requestId?.startsWith(`${attempt.batch_id}/`) === true);
}

/** By the end of the attempt a record of the agent had shown words: before that, silence in a record says nothing. */
function wereWordsShown({ ledger }: Trial, attempt: AttemptRow): boolean {
  return ledger.conversations.some((row) => {
    const { userTurns, agentTurns } = JSON.parse(row.facts) as { userTurns: number; agentTurns: number };
    return row.agent_id === attempt.agent_id && userTurns + agentTurns > 0 && row.first_seen_at < (attempt.settled_at ?? 0);
  });
}

/** A record that found its owner in the end was nobody's as long as it might have been that of somebody who heard the same words. */
function isNamesakes({ ledger }: Trial, attempt: AttemptRow, ownerId: string): boolean {
  const owner = ledger.attempts.find((row) => row.attempt_id === ownerId);
  return owner !== undefined && owner.e164 !== attempt.e164 && owner.opening_line === attempt.opening_line;
}

/**
 * The agent has a record that belongs to nobody, was begun when the call may have been, and shows no other number. That of the call itself
 * is one where it lasted and nothing in it says for whom.
 */
export function isRecordOfNobody(trial: Trial, joined: readonly JoinedCall[], attempt: AttemptRow): boolean {
  const { conversations, dials } = trial.ledger;
  const call = joined.find(({ byRequest }) => byRequest?.attemptId === attempt.attempt_id)?.call;
  const hasWords = (call?.transcriptTurns ?? 0) > 0;
  const posted = dials.filter(({ attemptId }) => attemptId === attempt.attempt_id).map(({ at }) => at);
  const [from, until] = [Math.min(...posted) - doubtToleranceMs, Math.max(...posted) + longestDelayMs + doubtToleranceMs];
  return conversations.some((row) => {
    const facts = JSON.parse(row.facts) as { calleeNumber: string | null; durationMs: number | null };
    const { calleeNumber } = facts;
    // Without words it may be anybody's talk that was not written down.
    const isNameless = hasWords ? !isLineUnique(trial, attempt) : (facts.durationMs ?? 0) > 0 || !wereWordsShown(trial, attempt);
    const startedAt = row.started_at ?? row.first_seen_at;
    return (
      row.agent_id === attempt.agent_id &&
      (row.attempt_id === null || isNamesakes(trial, attempt, row.attempt_id)) &&
      (isNameless || row.conversation_id !== call?.conversationId) &&
      startedAt >= from &&
      startedAt <= until &&
      (calleeNumber === null || calleeNumber === attempt.e164)
    );
  });
}
