import type { FaultRuleInput } from '../../../sandbox/faults/rule.ts';

/** Longer than `demoLimits.SVC_HEADERS_TIMEOUT_MS`. */
const slowAnswerMs = 6_500;

/**
 * Every kind of fault at least once, each at a fixed request. Batches whose fate is unknown pause a campaign when there are three in
 * a row, so several good ones lie between any two: on a busy machine an answer may be lost that nobody meant to lose.
 */
export const demoFaults: readonly FaultRuleInput[] = [
  { id: 'wait-seconds', operation: 'batch_calls', nth: 2, effect: { type: 'rate_limited', seconds: 60 } },
  { id: 'error-before', operation: 'batch_calls', nth: 4, effect: { type: 'error', status: 500, when: 'before' } },
  {
    id: 'wait-date',
    operation: 'batch_calls',
    nth: 6,
    effect: { type: 'rate_limited', retryAfter: 'date', seconds: 60 },
  },
  { id: 'error-after', operation: 'batch_calls', nth: 8, effect: { type: 'error', status: 500, when: 'after' } },
  { id: 'wait-unsaid', operation: 'batch_calls', nth: 10, effect: { type: 'rate_limited', retryAfter: 'none' } },
  { id: 'reset-before', operation: 'batch_calls', nth: 12, effect: { type: 'reset', when: 'before' } },
  { id: 'partial', operation: 'batch_calls', nth: 14, effect: { type: 'partial', accept: 2 } },
  { id: 'reset-after', operation: 'batch_calls', nth: 16, effect: { type: 'reset', when: 'after' } },
  { id: 'list-lag', operation: 'batch_calls', nth: 18, effect: { type: 'hide', ms: 180_000 } },
  { id: 'slow', operation: 'batch_calls', nth: 20, effect: { type: 'delay', ms: slowAnswerMs, work: 'first' } },
  { id: 'truncated', operation: 'batch_calls', nth: 24, effect: { type: 'truncate' } },
  {
    id: 'list-error',
    operation: 'list_conversations',
    nth: 40,
    effect: { type: 'error', status: 503, when: 'before' },
  },
];

/** Limits in real time, short because two hours of the demo pass in a minute, and yet long enough for a process that gets little of it. */
export const demoLimits = {
  SVC_CONNECT_TIMEOUT_MS: '2000',
  SVC_HEADERS_TIMEOUT_MS: '5000',
  SVC_BODY_TIMEOUT_MS: '3000',
  SVC_READS_PER_SECOND: '200',
  CARILLON_POSTING_WINDOW_MS: '3000',
  CARILLON_HEARTBEAT_TIMEOUT_MS: '15000',
  CARILLON_SUBMITS_PER_SECOND: '50',
};
