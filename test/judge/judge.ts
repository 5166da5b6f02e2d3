import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';
import type { Dial, Ledger } from './ledger.ts';
import { judgeCalls } from './judge-calls.ts';
import { judgeBooks } from './judge-books.ts';
import { judgeDispositions } from './judge-dispositions.ts';

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
  /** The truth: what the service accepted. */
  calls: readonly CallTruth[];
  dialect: 'spec' | 'extended';
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
