import { z } from 'zod';
import { faultableNames, listOf, routes, type FaultableName } from '../core/operations.ts';
import type { Random } from '../core/random.ts';

const longestMs = 3_600_000;
const ms = z.number().min(0).max(longestMs);

export const latency = z.union(
  [
    z.number().int().min(1).max(longestMs),
    z
      .strictObject({ distribution: z.literal('uniform'), from: ms, to: ms })
      .refine(({ from, to }) => from <= to, 'from must not be above to.'),
    z.strictObject({ distribution: z.literal('normal'), mean: ms, deviation: ms }),
    z.strictObject({ distribution: z.literal('log_normal'), mean: ms, sigma: z.number().min(0).max(5) }),
  ],
  {
    error:
      'Must be whole milliseconds from 1 to 3600000, or {"distribution": "uniform", "from", "to"}, {"distribution": "normal", "mean", "deviation"} or {"distribution": "log_normal", "mean", "sigma"}.',
  },
);
export type Latency = z.output<typeof latency>;

export function drawLatency(of: Latency, random: Random): number {
  if (typeof of === 'number') return of;
  return Math.round(Math.min(longestMs, Math.max(0, draw(of, random))));
}

function draw(of: Exclude<Latency, number>, random: Random): number {
  switch (of.distribution) {
    case 'uniform':
      return random.between(of.from, of.to);
    case 'normal':
      return of.mean + of.deviation * random.normal();
    case 'log_normal':
      return of.mean === 0 ? 0 : random.logNormal(of.mean, of.sigma);
  }
}

const moment = z.enum(['before', 'after']).default('before');
const bodyVariant = z.enum(['object', 'legacy', 'string', 'empty', 'html']);
const fieldPath = z.string().regex(/^\w+(\.\w+)*$/, 'Must be a field or a path of fields with dots, such as metadata.start_time.');
const id = z.string().min(1).max(200);

export const faultEffect = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('rate_limited'),
    when: moment,
    retryAfter: z.enum(['seconds', 'date', 'none']).default('seconds'),
    /** Service seconds. */
    seconds: z.number().int().min(0).default(2),
    code: z.enum(['rate_limit_exceeded', 'concurrent_limit_exceeded', 'system_busy']).default('rate_limit_exceeded'),
  }),
  z.strictObject({
    type: z.literal('error'),
    status: z.number().int().min(400).max(599).default(500),
    when: moment,
    body: bodyVariant.default('object'),
  }),
  z.strictObject({ type: z.literal('html'), status: z.number().int().min(200).max(599).default(502), when: moment }),
  z.strictObject({ type: z.literal('reset'), when: moment }),
  /** No answer; the connection stays open until the client gives up. */
  z.strictObject({ type: z.literal('drop'), when: moment }),
  z.strictObject({
    type: z.literal('delay'),
    ms: latency,
    /** Does the work before or after the wait. */
    work: z.enum(['first', 'last']).default('first'),
  }),
  z.strictObject({ type: z.literal('truncate'), ending: z.enum(['clean', 'broken']).default('clean') }),
  z.strictObject({
    type: z.literal('dribble'),
    bytes: z.number().int().min(1).max(1_000_000).default(64),
    /** Real ms between two pieces. */
    pauseMs: z.number().int().min(1).max(60_000).default(20),
  }),
  z.strictObject({ type: z.literal('partial'), accept: z.number().int().min(0) }),
  z.strictObject({ type: z.literal('hide'), ms: z.number().int().min(1) }),
  z.strictObject({ type: z.literal('missing') }),
  z.strictObject({ type: z.literal('duplicate') }),
  z.strictObject({ type: z.literal('leave_out') }),
  z.strictObject({ type: z.literal('reorder') }),
  z.strictObject({ type: z.literal('expire_cursor') }),
  z.strictObject({
    type: z.literal('missing_field'),
    /** Omitted from the reply, or from each list entry; default: a non-id field drawn by the seed. */
    field: fieldPath.optional(),
  }),
  z.strictObject({
    type: z.literal('unknown_field'),
    field: z.string().min(1).max(100).default('introduced_later'),
    value: z.json().default('unheard of'),
  }),
  z.strictObject({
    type: z.literal('unknown_value'),
    /** Field of the reply, or of a list entry, whose value is replaced. */
    field: fieldPath.default('status'),
    value: z.json().default('introduced_later'),
  }),
  z.strictObject({
    type: z.literal('wrong_count'),
    /** Added to `calls_initiated`; the count stays at 0 or above. */
    by: z.number().int().default(-1),
  }),
  z.strictObject({ type: z.literal('clock_skew'), seconds: z.number().int() }),
  z.strictObject({ type: z.literal('no_date') }),
  z.strictObject({ type: z.literal('revoke_key') }),
  z.strictObject({ type: z.literal('unassign_number'), phone_number_id: id.optional(), when: moment }),
  z.strictObject({ type: z.literal('unverify_number'), phone_number_id: id.optional(), when: moment }),
  z.strictObject({ type: z.literal('delete_agent'), agent_id: id.optional(), when: moment }),
]);
export type FaultEffect = z.output<typeof faultEffect>;
export type ErrorBody = z.output<typeof bodyVariant>;

const lists = faultableNames.filter((name) => listOf(name) !== null);

export const operationsOfEffect: Partial<Record<FaultEffect['type'], readonly FaultableName[]>> = {
  partial: ['batch_calls'],
  wrong_count: ['batch_calls'],
  hide: ['batch_calls', 'list_conversations', 'list_batches', 'list_campaigns'],
  missing: faultableNames.filter((name) => routes[name].method === 'GET' && /:\w+$/.test(routes[name].path)),
  duplicate: lists,
  leave_out: lists,
  reorder: lists,
  expire_cursor: ['list_agents', 'list_conversations', 'list_campaigns', 'list_campaign_calls', 'list_leads'],
};
