import type { LoggedEvent } from './log-types.ts';
import { hasGoal } from './judge-goal.ts';
import { textOf } from './judged-rules.ts';
import {
  callsOf,
  countedOf,
  forgetDelays,
  rowNumber,
  type AttemptBook,
  type CampaignBook,
  type JudgedLine,
  type PendingOutcome,
} from './campaign-book.ts';

const givenUp = 'given_up';
/** Lines that stand right behind the outcome that they bring, in the same transaction. */
const bringsOutcome: readonly LoggedEvent['type'][] = ['attempt.settled', 'attempt.corrected', 'attempt.released'];
/** Lines after which an outcome may be another one. Logs of the first schema tell in no other way that an outcome was taken back. */
const mayFollow: readonly LoggedEvent['type'][] = ['attempt.planned', 'attempt.settled', 'attempt.corrected', 'attempt.result'];

/** An outcome that the log tells of is kept until the next line of its row: only then is it known what it follows from. */
export function noteOutcome(line: JudgedLine): void {
  const { campaign, data, violate } = line;
  const { recipientId = '' } = line.event;
  if (rowNumber(campaign, recipientId) === null)
    return violate('outcome_missing', `${recipientId} has an outcome and is no row of the list`);
  const { outcome } = data;
  const before = campaign.outcomes.get(recipientId) ?? null;
  const pending = { line, before, explained: campaign.moved.delete(recipientId), state: campaign.state };
  // Null: it is taken back, and the recipient waits again.
  if (typeof outcome === 'string') {
    campaign.outcomes.set(recipientId, outcome);
    campaign.reasons.set(recipientId, textOf(data['reason']));
    campaign.requeued.delete(recipientId);
  } else {
    campaign.outcomes.delete(recipientId);
    campaign.requeued.add(recipientId);
    // Where it was a call that took it back, the line behind tells from when on.
    forgetDelays(campaign, recipientId);
  }
  // Who was never to be called has no line that could bring it.
  if (campaign.calls.has(recipientId)) campaign.pending.set(recipientId, pending);
  else judgeOutcome(pending, false);
}

/** The outcome that has waited for this line of its row, and whether the line is the one that brought it. */
export function takePending({ campaign, event, data }: JudgedLine, rowId: string): { pending: PendingOutcome; brought: boolean } | null {
  const pending = campaign.pending.get(rowId);
  const brought = pending !== undefined && pending.line.event.at === event.at && bringsOutcome.includes(event.type);
  if (
    !brought &&
    campaign.outcomes.has(rowId) &&
    mayFollow.includes(event.type) &&
    (event.type !== 'attempt.result' || data['asks'] !== undefined)
  )
    campaign.moved.add(rowId);
  if (pending === undefined) return null;
  campaign.pending.delete(rowId);
  return { pending, brought };
}

/** What is wrong with an outcome, by its row's calls as they stand now. `brought`: the line behind it is the one that brings it. */
export function judgeOutcome({ line, before, explained, state }: PendingOutcome, brought: boolean): void {
  const { data, violate } = line;
  const { recipientId = '' } = line.event;
  const outcome = typeof data['outcome'] === 'string' ? data['outcome'] : null;
  if (outcome === null && before === null) return violate('log_incomplete', `${recipientId} lost an outcome, and the log has none of it`);
  // A person decides about a call of which nobody knows whether it was placed.
  const decided = before === 'unresolved' && (outcome === null || (outcome === before && data['reason'] === givenUp));
  if (before !== null && !brought && !explained && !decided) {
    const change = outcome === null ? `lost its outcome ${before}` : `got outcome ${outcome} after ${before}`;
    violate('outcome_changed', `${recipientId} ${change}, and no line says why`);
  }
  const doubt = outcome === null ? null : doubtOf(line, state, outcome);
  if (doubt !== null) violate('outcome_unproven', `${recipientId} has outcome ${outcome}, and ${doubt}`);
}

export const reached: readonly string[] = ['completed', 'opted_out'];

/** Why the calls of a row do not bear out its outcome; null: they do, or it needs none. */
function doubtOf({ campaign, event, data }: JudgedLine, state: string, outcome: string): string | null {
  const { at, recipientId: rowId = '' } = event;
  const { reason } = data;
  const calls = callsOf(campaign, rowId);
  const ends = calls.flatMap(({ disposition }) => disposition ?? []);
  const talk = calls.find(isLastWord)?.disposition;
  if (talk != null && !reached.includes(outcome)) return `a call of it ended as ${talk}`;
  if (outcome === 'completed' && !ends.includes('answered')) return 'no call of it was answered';
  if (outcome === 'opted_out' && !ends.includes('opted_out')) return 'nobody opted out in a call of it';
  if (outcome === 'unresolved' && ends.length > 0 && !ends.includes('unknown')) return 'no call of it has an unknown end';
  const { endsAt, timing } = campaign.rules;
  if (reason === 'campaign_end' && (endsAt === null || at + timing.dispatchMarginMs < endsAt))
    return 'the campaign had not come to its end';
  if ((reason === 'cancelled' || reason === 'drained') && state !== 'draining') return `the campaign was ${state}`;
  if (reason === 'goal_reached' && !hasGoal(campaign)) return 'the goal had not been reached';
  if (reason === 'withdrawn' && !campaign.withdrawn.has(rowId)) return 'nobody had withdrawn it';
  if (reason === 'invalid_number' && !ends.includes('invalid_number')) return 'no call of it was refused for its number';
  return outcome === 'exhausted' ? doubtOfExhausted(campaign, rowId, ends, reason) : null;
}

function doubtOfExhausted(campaign: CampaignBook, rowId: string, ends: readonly string[], reason: unknown): string | null {
  const last = /^no_retry_after_(\w+)$/.exec(String(reason))?.[1];
  if (last !== undefined && !ends.includes(last)) return `no call of it ended as ${last}`;
  const { maxAttempts, maxAttemptsPerNumber, resetAfterMs } = campaign.rules.retry;
  // Other campaigns may have used up the budget of the number, and what is renewed was used up at one time only.
  if (maxAttemptsPerNumber !== null || resetAfterMs !== null) return null;
  if (ends.length === 0) return 'no call of it has ended';
  const counted = countedOf(campaign, rowId).length;
  if (reason === 'attempts_used_up' && counted < maxAttempts) return `the log has ${counted} of its ${maxAttempts} attempts`;
  return null;
}

export function isTalk({ disposition }: { disposition: string | null }): boolean {
  return disposition === 'answered' || disposition === 'opted_out';
}

/** A talk after which nobody is called: only a record of its own, read to its end, may have asked for more. */
function isLastWord(attempt: AttemptBook): boolean {
  return isTalk(attempt) && (attempt.disposition === 'opted_out' || attempt.asks === null);
}

/** Nobody is called again who was reached: by the outcome, or by a call whose outcome the log does not tell. */
export function judgeReached({ campaign, event: { attemptId }, violate }: JudgedLine, rowId: string): void {
  const outcome = campaign.outcomes.get(rowId) ?? '';
  if (reached.includes(outcome))
    return violate('reached_dialled', `call ${attemptId} was placed although the outcome was ${outcome} already`);
  const talk = callsOf(campaign, rowId).find(isLastWord)?.disposition;
  if (talk != null) violate('reached_dialled', `call ${attemptId} was placed although a call before it ended as ${talk}`);
}
