import { hourMs, minuteMs } from '../support/campaign-rules.ts';
import type { JoinedCall, Trial } from './judge.ts';

type AttemptRow = Trial['ledger']['attempts'][number];

/** How far clocks may differ, and how long after its POST a call may begin. */
const clockToleranceMs = 5 * minuteMs;
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
  const [from, until] = [Math.min(...posted) - clockToleranceMs, Math.max(...posted) + longestDelayMs + clockToleranceMs];
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
