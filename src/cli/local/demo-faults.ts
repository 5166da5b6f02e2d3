import type { FaultRuleInput } from '../../sandbox/faults/rule.ts';

/** Longer than `demoLimits.SVC_HEADERS_TIMEOUT_MS`. */
const slowAnswerMs = 3_500;

/**
 * Every kind of fault at least once, each at a fixed request. Batches whose fate is unknown pause a campaign when there are three in
 * a row, so a good batch lies between any two.
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
  { id: 'reset-before', operation: 'batch_calls', nth: 10, effect: { type: 'reset', when: 'before' } },
  { id: 'reset-after', operation: 'batch_calls', nth: 12, effect: { type: 'reset', when: 'after' } },
  { id: 'wait-unsaid', operation: 'batch_calls', nth: 14, effect: { type: 'rate_limited', retryAfter: 'none' } },
  { id: 'slow', operation: 'batch_calls', nth: 16, effect: { type: 'delay', ms: slowAnswerMs, work: 'first' } },
  { id: 'truncated', operation: 'batch_calls', nth: 18, effect: { type: 'truncate' } },
  { id: 'partial', operation: 'batch_calls', nth: 20, effect: { type: 'partial', accept: 2 } },
  { id: 'list-lag', operation: 'batch_calls', nth: 22, effect: { type: 'hide', ms: 180_000 } },
  {
    id: 'list-error',
    operation: 'list_conversations',
    nth: 40,
    effect: { type: 'error', status: 503, when: 'before' },
  },
];

/** Limits in real time, short because two hours of the demo pass in a minute. */
export const demoLimits = {
  SVC_CONNECT_TIMEOUT_MS: '2000',
  SVC_HEADERS_TIMEOUT_MS: '2000',
  SVC_BODY_TIMEOUT_MS: '2000',
  SVC_READS_PER_SECOND: '200',
  CARILLON_POSTING_WINDOW_MS: '3000',
  CARILLON_HEARTBEAT_TIMEOUT_MS: '15000',
  CARILLON_SUBMITS_PER_SECOND: '50',
};
