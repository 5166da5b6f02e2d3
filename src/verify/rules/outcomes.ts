import { isReached, type PendingOutcome } from '../book.ts';
import type { Line } from '../line.ts';
import type { Rule } from './rule.ts';

export const outcomeRules = {
  outcome_missing: {
    promise: 'when a campaign has ended, every row of its list has exactly one outcome, and nobody else has one',
    alone: {
      'recipient.outcome': ({ recipientId, row }) => row === null && `${recipientId} has an outcome and is no row of the list`,
    },
    atEnd: (campaign) => {
      if (!campaign.hasEnded) return null;
      const { rows, rejected, outcomes, requeued } = campaign;
      const missing = [...campaign.calls.keys()].filter((rowId) => !outcomes.has(rowId) && !requeued.has(rowId));
      // Recipients requeued by an operator wait for the next round. Rejected rows are only counted in the log.
      const accounted = outcomes.size + rejected + requeued.size;
      return [
        ...missing.map((rowId) => `${rowId} was to be called and has no outcome`),
        accounted !== rows &&
          accounted + missing.length !== rows &&
          `${rows} rows were imported, and ${accounted} have an outcome or wait again`,
      ];
    },
  },
  outcome_changed: {
    promise: 'an outcome stays, unless a call, its correction or the word of a person follows that allows another',
    on: {
      'attempt.planned': ({ outcome, event: { attemptId = '' } }) =>
        // For reached recipients another rule reports the call itself.
        outcome !== undefined && !isReached(outcome) && `call ${attemptId} was planned although the outcome was ${outcome}`,
    },
    onOutcome: ({ recipientId, data }, { before, explained }, brought) => {
      const outcome = outcomeOf(data);
      // An operator decides about a call that may have been placed.
      const decided = before === 'unresolved' && (outcome === null || (outcome === before && data['reason'] === 'given_up'));
      if (before === null || brought || explained || decided) return null;
      const change = outcome === null ? `lost its outcome ${before}` : `got outcome ${outcome} after ${before}`;
      return `${recipientId} ${change}, and no line says why`;
    },
  },
  outcome_unproven: {
    promise: 'every outcome is what the calls of its row show',
    onOutcome: (line, pending) => {
      const outcome = outcomeOf(line.data);
      const doubt = outcome === null ? null : doubtOf(line, pending, outcome);
      return doubt !== null && `${line.recipientId} has outcome ${outcome}, and ${doubt}`;
    },
  },
  opt_out_unlisted: { promise: 'the number of everyone who opts out in a call is put on the do-not-call list, for ever' },
} satisfies Record<string, Rule>;

function outcomeOf({ outcome }: Line['data']): string | null {
  return typeof outcome === 'string' ? outcome : null;
}

/** Null: the calls prove the outcome, or it needs no proof. */
function doubtOf(line: Line, pending: PendingOutcome, outcome: string): string | null {
  const { campaign, recipientId, calls, event } = line;
  const { reason } = line.data;
  const ends = calls.flatMap(({ disposition }) => disposition ?? []);
  const talk = calls.find((call) => call.isLastWord)?.disposition;
  if (talk != null && !isReached(outcome)) return `a call of it ended as ${talk}`;
  if (outcome === 'completed' && !ends.includes('answered')) return 'no call of it was answered';
  if (outcome === 'opted_out' && !ends.includes('opted_out')) return 'nobody opted out in a call of it';
  if (outcome === 'unresolved' && ends.length > 0 && !ends.includes('unknown')) return 'no call of it has an unknown end';
  const { state, rules } = pending;
  const { endsAt, timing } = rules;
  if (reason === 'campaign_end' && (endsAt === null || event.at + timing.dispatchMarginMs < endsAt))
    return 'the campaign had not come to its end';
  if ((reason === 'cancelled' || reason === 'drained') && state !== 'draining') return `the campaign was ${state}`;
  if (reason === 'goal_reached' && !campaign.hasGoal) return 'the goal had not been reached';
  if (reason === 'withdrawn' && !campaign.withdrawn.has(recipientId)) return 'nobody had withdrawn it';
  if (reason === 'invalid_number' && !ends.includes('invalid_number')) return 'no call of it was refused for its number';
  return outcome === 'exhausted' ? doubtOfExhausted(line, pending, ends) : null;
}

function doubtOfExhausted({ campaign, recipientId, data }: Line, { rules }: PendingOutcome, ends: readonly string[]): string | null {
  const reason = String(data['reason']);
  const last = /^no_retry_after_(\w+)$/.exec(reason)?.[1];
  if (last !== undefined && !ends.includes(last)) return `no call of it ended as ${last}`;
  const { maxAttempts, maxAttemptsPerNumber, resetAfterMs } = rules.retry;
  // Other campaigns may have used up the number's budget, and a resetting budget was used up only for a time.
  if (maxAttemptsPerNumber !== null || resetAfterMs !== null) return null;
  if (ends.length === 0) return 'no call of it has ended';
  const counted = campaign.countedOf(recipientId).length;
  if (reason === 'attempts_used_up' && counted < maxAttempts) return `the log has ${counted} of its ${maxAttempts} attempts`;
  return null;
}
