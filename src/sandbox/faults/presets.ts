import type { FaultRuleInput } from './rule.ts';

export interface FaultPreset {
  id: string;
  title: string;
  description: string;
  rule: FaultRuleInput & { id: string };
}

function preset(id: string, title: string, description: string, rule: FaultRuleInput): FaultPreset {
  return { id, title, description, rule: { ...rule, id: `preset-${id}`, title } };
}

const batch = 'batch_calls' as const;
const list = 'list_conversations' as const;

export const faultPresets: readonly FaultPreset[] = [
  preset('500-after-batch', 'Batch accepted, then 500', 'The calls are queued, and the caller is told that it failed.', {
    operation: batch,
    effect: { type: 'error', status: 500, when: 'after' },
  }),
  preset('reset-after-batch', 'Batch accepted, then reset', 'The calls are queued; the connection breaks before the answer.', {
    operation: batch,
    effect: { type: 'reset', when: 'after' },
  }),
  preset('drop-after-batch', 'Batch accepted, no answer', 'The calls are queued; the connection hangs until the caller gives up.', {
    operation: batch,
    effect: { type: 'drop', when: 'after' },
  }),
  preset('partial-batch', 'Batch accepted in part', 'Only the first call of a batch is queued, and the answer says 1.', {
    operation: batch,
    effect: { type: 'partial', accept: 1 },
  }),
  preset('wrong-count', 'Wrong calls_initiated', 'All calls are queued, and the answer says one less.', {
    operation: batch,
    effect: { type: 'wrong_count', by: -1 },
  }),
  preset('rate-limited', 'Every third request 429', 'Too many requests; Retry-After says 2 seconds.', {
    operation: '*',
    every: 3,
    effect: { type: 'rate_limited', seconds: 2 },
  }),
  preset('rate-limited-silent', 'Every third request 429, no wait said', 'Too many requests, without Retry-After.', {
    operation: '*',
    every: 3,
    effect: { type: 'rate_limited', retryAfter: 'none' },
  }),
  preset('flaky', 'One request in ten fails', 'A 503 before the work, drawn by the seed.', {
    operation: '*',
    probability: 0.1,
    effect: { type: 'error', status: 503 },
  }),
  preset('gateway-page', 'A page of the gateway', 'Answers are HTML with status 502.', {
    operation: '*',
    effect: { type: 'html', status: 502 },
  }),
  preset('slow', 'Slow answers', 'Log-normal around 800 ms; the work is done first.', {
    operation: '*',
    effect: { type: 'delay', ms: { distribution: 'log_normal', mean: 800, sigma: 0.8 } },
  }),
  preset('dribble', 'Answers in drops', '32 bytes at a time, 50 ms apart.', {
    operation: '*',
    effect: { type: 'dribble', bytes: 32, pauseMs: 50 },
  }),
  preset('truncated', 'Answers cut in half', 'A success whose JSON ends in the middle.', { operation: '*', effect: { type: 'truncate' } }),
  preset('list-lag', 'The list lags behind', 'New conversations are listed 30 s late.', {
    operation: batch,
    effect: { type: 'hide', ms: 30_000 },
  }),
  preset('list-duplicate', 'An entry twice', 'One conversation stands in the list twice.', {
    operation: list,
    effect: { type: 'duplicate' },
  }),
  preset('list-shuffled', 'A list without order', 'The conversations of a page come shuffled.', {
    operation: list,
    effect: { type: 'reorder' },
  }),
  preset('cursor-expired', 'Cursors expire', 'A page after the first is refused.', { operation: list, effect: { type: 'expire_cursor' } }),
  preset('record-missing', 'A record that is not there', 'A listed conversation answers 404.', {
    operation: 'get_conversation',
    every: 2,
    effect: { type: 'missing' },
  }),
  preset('field-missing', 'A field is missing', 'Records come without one of their fields.', {
    operation: 'get_conversation',
    effect: { type: 'missing_field' },
  }),
  preset('field-unknown', 'A field nobody knows', 'Answers have a field that was introduced later.', {
    operation: '*',
    effect: { type: 'unknown_field' },
  }),
  preset('status-unknown', 'A status nobody knows', 'Conversations have a status that was introduced later.', {
    operation: 'get_conversation',
    effect: { type: 'unknown_value' },
  }),
  preset('clock-skew', 'A clock that is 90 s ahead', 'Times in answers, and their Date header, are wrong.', {
    operation: '*',
    effect: { type: 'clock_skew', seconds: 90 },
  }),
  preset('key-revoked', 'The key is revoked', 'With the next request, and for all that follow.', {
    operation: '*',
    times: 1,
    effect: { type: 'revoke_key' },
  }),
  preset('number-unassigned', 'The number loses its agent', 'With the next batch; inbound calls are no longer answered.', {
    operation: batch,
    times: 1,
    effect: { type: 'unassign_number', when: 'after' },
  }),
  preset('number-unverified', 'The number loses its verification', 'With the next batch, whose calls all fail.', {
    operation: batch,
    times: 1,
    effect: { type: 'unverify_number' },
  }),
  preset('agent-deleted', 'The agent is deleted mid-batch', 'After the next batch is accepted; calls that still wait fail.', {
    operation: batch,
    times: 1,
    effect: { type: 'delete_agent', when: 'after' },
  }),
];
