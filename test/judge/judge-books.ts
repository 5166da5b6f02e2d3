import { outcomes } from '../../src/rules/outcome.ts';
import type { JoinedCall, Trial, Violation } from './judge.ts';
import { isReplyLost } from './judge-dispositions.ts';
import { isDoubtCaused, isRecordOfNobody } from './judge-doubt.ts';

const endedBatchStates = new Set(['confirmed', 'refused', 'released', 'held', 'redial', 'given_up']);

function* judgeRows(trial: Trial): Generator<Violation> {
  const wanted = new Map(trial.lists.map((list) => [list.campaignId, list.rows]));
  const seen = new Set<string>();
  for (const row of trial.ledger.recipients) {
    const id = `${row.campaign_id} row ${row.row_number}`;
    const rows = wanted.get(row.campaign_id) ?? 0;
    if (row.row_number < 1 || row.row_number > rows || seen.has(id)) yield { rule: 'row_unknown', what: id };
    seen.add(id);
    if (row.state !== 'done' || !outcomes.some((outcome) => outcome === row.outcome))
      yield { rule: 'row_without_outcome', what: `${id}: ${row.state}, outcome ${row.outcome}` };
  }
  for (const { campaignId, rows } of trial.lists)
    for (let row = 1; row <= rows; row += 1)
      if (!seen.has(`${campaignId} row ${row}`)) yield { rule: 'row_missing', what: `${campaignId} row ${row}` };
}

/** Only a lost reply, a record that a fault made unreadable, or records that cannot be told apart leave a recipient to a person. */
function* judgeUnresolved(trial: Trial, joined: readonly JoinedCall[]): Generator<Violation> {
  const conversationOf = new Map(joined.map(({ call, byRequest }) => [byRequest?.attemptId, call.conversationId]));
  for (const recipient of trial.ledger.recipients) {
    if (recipient.outcome !== 'unresolved') continue;
    const doubtful = trial.ledger.attempts.filter((row) => row.recipient_id === recipient.recipient_id && row.disposition === 'unknown');
    const excused = doubtful.some((row) => {
      const conversation = conversationOf.get(row.attempt_id);
      return (
        isReplyLost(trial, row.batch_id) ||
        isDoubtCaused(trial, joined, row) ||
        (conversation != null && trial.unreadable.has(conversation)) ||
        // A record nobody can read any more may have been anybody's whose own is missing.
        (trial.unreadable.size > 0 && row.conversation_id === null) ||
        // Picked up and broken down before a word: the documented record tells nothing of that.
        (trial.dialect === 'spec' && row.detail === 'record_tells_nothing')
      );
    });
    // What became of a call to the same number matters for all its rows: its owner may have asked not to be called again.
    const isNumberInDoubt =
      recipient.reason === 'records_not_told_apart' &&
      trial.ledger.attempts.some((row) => row.e164 === recipient.e164 && isRecordOfNobody(trial, joined, row));
    if (!excused && !isNumberInDoubt)
      yield {
        rule: 'unresolved_without_cause',
        what: `${recipient.recipient_id}: ${doubtful.map((row) => `${row.attempt_id} in ${row.batch_id} ${row.detail}`).join(', ')}`,
      };
  }
}

function* judgeCounts(trial: Trial): Generator<Violation> {
  const counted = new Map<string, number>();
  const add = (campaignId: string, kind: string, value: string | null) => {
    if (value !== null) counted.set(`${campaignId} ${kind} ${value}`, (counted.get(`${campaignId} ${kind} ${value}`) ?? 0) + 1);
  };
  for (const row of trial.ledger.recipients) add(row.campaign_id, 'outcome', row.outcome);
  for (const row of trial.ledger.attempts) if (row.state === 'settled') add(row.campaign_id, 'disposition', row.disposition);
  const kept = new Map<string, number>();
  for (const row of trial.ledger.aggregates)
    if (row.kind === 'outcome' || row.kind === 'disposition') kept.set(`${row.campaign_id} ${row.kind} ${row.value}`, row.count);
  for (const key of new Set([...counted.keys(), ...kept.keys()])) {
    const [is, should] = [kept.get(key) ?? 0, counted.get(key) ?? 0];
    if (is !== should) yield { rule: 'wrong_aggregate', what: `${key}: kept ${is}, recount ${should}` };
  }
}

/** Whether every row, batch and count is accounted for when the run is over. */
export function* judgeBooks(trial: Trial, joined: readonly JoinedCall[]): Generator<Violation> {
  yield* judgeRows(trial);
  for (const batch of trial.ledger.batches)
    if (!endedBatchStates.has(batch.state)) yield { rule: 'unfinished', what: `batch ${batch.batch_id} is ${batch.state}` };
  for (const attempt of trial.ledger.attempts)
    if (attempt.state !== 'settled' && attempt.state !== 'released')
      yield { rule: 'unfinished', what: `attempt ${attempt.attempt_id} is ${attempt.state}` };
  yield* judgeUnresolved(trial, joined);
  yield* judgeCounts(trial);
}
