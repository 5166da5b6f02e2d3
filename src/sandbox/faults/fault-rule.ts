import { z } from 'zod';
import { operationByNumber, operationNames, type OperationName } from '../operations.ts';

const moment = z.enum(['before', 'after']).default('before');

/** What a fault does. `before` and `after` are relative to the work of the operation. */
const effect = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('rate_limited'),
    /** How the wait is announced. */
    retryAfter: z.enum(['seconds', 'date', 'none']).default('seconds'),
    /** Service seconds. */
    seconds: z.number().int().min(0).default(2),
    code: z.enum(['rate_limit_exceeded', 'concurrent_limit_exceeded', 'system_busy']).default('rate_limit_exceeded'),
  }),
  z.strictObject({
    type: z.literal('error'),
    status: z.number().int().min(400).max(599).default(500),
    when: moment,
    body: z.enum(['object', 'legacy', 'string', 'empty']).default('object'),
  }),
  z.strictObject({ type: z.literal('html'), status: z.number().int().min(200).max(599).default(502), when: moment }),
  z.strictObject({ type: z.literal('reset'), when: moment }),
  z.strictObject({
    type: z.literal('delay'),
    /** Real milliseconds. */
    ms: z.number().int().min(1).max(3_600_000),
    /** Whether the work is done before the wait or after it. */
    work: z.enum(['first', 'last']).default('first'),
  }),
  z.strictObject({ type: z.literal('truncate') }),
  z.strictObject({ type: z.literal('partial'), accept: z.number().int().min(0) }),
  z.strictObject({
    type: z.literal('hide'),
    /** Service milliseconds for which new records stay out of the list. */
    ms: z.number().int().min(1),
  }),
  z.strictObject({ type: z.literal('missing') }),
]);
export type FaultEffect = z.infer<typeof effect>;

const operation = z
  .union(
    [z.literal('*'), z.enum(operationNames as [OperationName, ...OperationName[]]), z.number().int().min(1).max(14)],
    {
      error: `Must be an operation's number (1 to 14), its name (${operationNames.join(', ')}) or "*".`,
    },
  )
  .transform((value) => (typeof value === 'number' ? (operationByNumber(value) ?? '*') : value));

const positive = z.number().int().min(1, 'Requests are counted from 1.');

const faultRule = z
  .strictObject({
    id: z.string().min(1).max(100).optional(),
    operation,
    /** Which matching requests since the rule was added, from 1. */
    nth: z.union([positive, z.array(positive).min(1)]).optional(),
    every: positive.optional(),
    probability: z.number().min(0).max(1).optional(),
    /** Most hits before the rule rests. */
    times: positive.optional(),
    effect,
  })
  .superRefine((rule, context) => {
    const chosen = [rule.nth, rule.every, rule.probability].filter((value) => value !== undefined);
    if (chosen.length > 1)
      context.addIssue({ code: 'custom', path: [], message: 'Give only one of nth, every and probability.' });
    const { type } = rule.effect;
    if (type === 'partial') onlyFor(['batch_calls']);
    if (type === 'hide') onlyFor(['batch_calls', 'list_conversations']);
    if (type === 'missing') onlyFor(['get_conversation', 'get_agent']);
    function onlyFor(allowed: string[]): void {
      if (allowed.includes(rule.operation)) return;
      context.addIssue({
        code: 'custom',
        path: ['operation'],
        message: `The effect "${type}" is for ${allowed.join(' and ')} only.`,
      });
    }
  });

/** A rule as written: `operation` by number or name, and the choice of requests by nth, every or probability; none means all. */
export type FaultRuleInput = z.input<typeof faultRule>;
export type FaultRule = z.output<typeof faultRule> & { id: string };

/** Thrown when a fault rule cannot be used; names path, value and fix. */
export class FaultRuleError extends Error {
  override readonly name = 'FaultRuleError' as const;
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`A fault rule cannot be used. ${problems.join(' ')}`);
    this.problems = problems;
  }
}

/** Reads one rule or an array of them. `origin` starts every path in the message. */
export function readFaultRules(input: unknown, origin = 'faults'): z.output<typeof faultRule>[] {
  const many = Array.isArray(input);
  const parsed = z.array(faultRule).safeParse(many ? input : [input], { reportInput: true });
  if (parsed.success) return parsed.data;
  throw new FaultRuleError(parsed.error.issues.flatMap((issue) => describe(issue, origin, many)));
}

function describe(issue: z.core.$ZodIssue, origin: string, many: boolean): string[] {
  const [index, ...path] = issue.path.map(String);
  const place = [many ? `${origin}[${index}]` : origin, ...path].join('.');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${place}.${key}: not a known field; leave it out.`);
  const received = issue.input === undefined ? 'nothing' : (JSON.stringify(issue.input) ?? 'nothing').slice(0, 120);
  const { message } = issue;
  return [`${place}: got ${received}. ${message}${/[.!]$/.test(message) ? '' : '.'}`];
}
