import { outcomes } from '../../src/rules/outcome.ts';
import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';
import { judgeCalls } from './judge-calls.ts';
import { isReplyLost, judgeDispositions, isDoubtCaused, isRecordOfNobody } from './judge-dispositions.ts';
import type { Dial, Ledger } from './ledger.ts';

export const rules = [
  'attempt_dialled_twice',
  'call_without_post',
  'joins_disagree',
  'calls_overlap',
  'released_but_called',
  'row_without_outcome',
  'row_missing',
  'row_unknown',
  'unfinished',
  'unresolved_without_cause',
  'wrong_disposition',
  'wrong_conversation',
  'dialled_though_suppressed',
  'wrong_aggregate',
] as const;
export type Rule = (typeof rules)[number];

export interface Violation {
  rule: Rule;
  what: string;
}

/** What a whole run left behind, and what the judge is told about the faults that were done to it. */
export interface Trial {
  ledger: Ledger;
  /** The truth: what the service accepted, and did not give back. */
  calls: readonly CallTruth[];
  dialect: 'spec' | 'extended';
  /** Whether the service itself reported what became of each call; it does not when left out. */
  reports?: boolean;
  /** Whether its report calls everybody of a cancelled batch cancelled; it does not when left out. */
  cancelHides?: boolean;
  /** Data rows of each campaign's list. */
  lists: readonly { campaignId: string; rows: number }[];
  /** Request ids of POSTs whose reply did not come back to a process that lived to write it down. */
  lostReplies: ReadonlySet<string>;
  /** Requests whose batch the service accepted only in part, because a fault made it. */
  partialReplies: ReadonlySet<string>;
  /** Conversations whose record a fault made unreadable. */
  unreadable: ReadonlySet<string>;
}

/** A call with the attempt that it belongs to, found in two ways that do not know of each other. */
export interface JoinedCall {
  call: CallTruth;
  byRequest: Dial | null;
  byTime: Dial | null;
}

function joinCalls(trial: Trial): JoinedCall[] {
  const byRequest = new Map(trial.ledger.dials.map((dial) => [`${dial.batchId}/${dial.k} ${dial.e164}`, dial]));
  return trial.calls.map((call) => {
    const before = trial.ledger.dials.filter((dial) => dial.e164 === call.to && dial.at <= call.acceptedAt);
    const latest = before.reduce<Dial | null>((best, dial) => (best === null || dial.at >= best.at ? dial : best), null);
    return { call, byRequest: byRequest.get(`${call.requestId} ${call.to}`) ?? null, byTime: latest };
  });
}

function* judgeDials(trial: Trial, joined: readonly JoinedCall[]): Generator<Violation> {
  const posts = new Set(trial.ledger.posts.map((post) => `${post.batch_id}/${post.k}`));
  for (const way of ['byRequest', 'byTime'] as const) {
    const calls = new Map<string, number>();
    for (const { [way]: dial } of joined) if (dial !== null) calls.set(dial.attemptId, (calls.get(dial.attemptId) ?? 0) + 1);
    for (const [attemptId, count] of calls)
      if (count > 1) yield { rule: 'attempt_dialled_twice', what: `${attemptId}: ${count} calls (${way})` };
  }
  for (const { call, byRequest, byTime } of joined) {
    if (!posts.has(call.requestId ?? '') || byRequest === null)
      yield { rule: 'call_without_post', what: `${call.callId} of request ${call.requestId}` };
    if (byRequest?.attemptId !== byTime?.attemptId)
      yield {
        rule: 'joins_disagree',
        what: `${call.callId}: by request ${byRequest?.attemptId}, by number and time ${byTime?.attemptId}`,
      };
  }
  for (const { rule, earlier, later } of judgeCalls(trial.calls))
    if (rule === 'two calls at once')
      yield {
        rule: 'calls_overlap',
        what: `${later.callId} (${later.requestId}) while ${earlier.callId} (${earlier.requestId}) is open`,
      };
  for (const dial of trial.ledger.dials) {
    const campaignId = trial.ledger.attempts.find((row) => row.attempt_id === dial.attemptId)?.campaign_id;
    for (const entry of trial.ledger.suppressions) {
      const applies = entry.e164 === dial.e164 && (entry.scope === 'account' || entry.scope === campaignId);
      if (applies && entry.created_at < dial.at && (entry.expires_at === null || entry.expires_at > dial.at))
        yield { rule: 'dialled_though_suppressed', what: `${dial.attemptId} at ${dial.at}` };
    }
  }
}

/** Every promise that a run can be held to from its outside. Answers what was broken; an empty list is an acquittal. */
export function judge(trial: Trial): Violation[] {
  const joined = joinCalls(trial);
  return [...judgeDials(trial, joined), ...judgeDispositions(trial, joined), ...judgeBooks(trial, joined)];
}

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
        // The service says that it is over, and no more.
        (trial.reports === true && conversation == null && ['no_conversation', 'not_reported'].includes(row.detail ?? '')) ||
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
