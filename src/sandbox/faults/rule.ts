import { z } from 'zod';
import { faultableNames, operationByNumber } from '../core/operations.ts';
import { faultEffect, operationsOfEffect } from './effect.ts';
import { faultMatch } from './match.ts';

const operationFix = `Must be an operation's number (1 to 14), its name (${faultableNames.join(', ')}) or "*".`;

const operation = z
  .union([z.literal('*'), z.enum(faultableNames), z.number().int(operationFix).min(1, operationFix).max(14, operationFix)], {
    error: operationFix,
  })
  .transform((value) => (typeof value === 'number' ? (operationByNumber(value) ?? '*') : value));

const positive = z.number().int().min(1, 'Requests are counted from 1.');

export const faultRule = z
  .strictObject({
    id: z.string().min(1).max(100).optional(),
    title: z.string().min(1).max(200).optional(),
    /** A disabled rule neither hits nor counts. */
    enabled: z.boolean().default(true),
    operation,
    ...faultMatch,
    /** Which matching requests since the rule was added, from 1. */
    nth: z.union([positive, z.array(positive).min(1)]).optional(),
    every: positive.optional(),
    probability: z.number().min(0).max(1).optional(),
    /** Most hits; then the rule is inactive. */
    times: positive.optional(),
    effect: faultEffect,
  })
  .superRefine((rule, context) => {
    const chosen = [rule.nth, rule.every, rule.probability].filter((value) => value !== undefined);
    if (chosen.length > 1) context.addIssue({ code: 'custom', path: [], message: 'Give only one of nth, every and probability.' });
    const allowed: readonly string[] | undefined = operationsOfEffect[rule.effect.type];
    if (allowed !== undefined && !allowed.includes(rule.operation))
      context.addIssue({
        code: 'custom',
        path: ['operation'],
        message: `The effect "${rule.effect.type}" is for ${allowed.join(' and ')} only.`,
      });
  });

export const faultRules = z.union([faultRule, z.array(faultRule)]);

/** `operation` by number or name; nth, every or probability selects matching requests, default all. */
export type FaultRuleInput = z.input<typeof faultRule>;
export type FaultRule = z.output<typeof faultRule> & { id: string };

/** Names path, value and fix. */
export class FaultRuleError extends Error {
  override readonly name = 'FaultRuleError' as const;
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`A fault rule cannot be used. ${problems.join(' ')}`);
    this.problems = problems;
  }
}

/** `origin` starts every path in the message. */
export function readFaultRules(input: unknown, origin = 'faults'): z.output<typeof faultRule>[] {
  const many = Array.isArray(input);
  const parsed = z.array(faultRule).safeParse(many ? input : [input], { reportInput: true });
  if (parsed.success) return parsed.data;
  throw new FaultRuleError(parsed.error.issues.flatMap((issue) => describe(issue, origin, many)));
}

function describe(issue: z.core.$ZodIssue, origin: string, many: boolean): string[] {
  const [index, ...path] = issue.path.map(String);
  const place = [many ? `${origin}[${index}]` : origin, ...path].join('.');
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `${place}.${key}: not a known field; leave it out.`);
  const received = issue.input === undefined ? 'nothing' : (JSON.stringify(issue.input) ?? 'nothing').slice(0, 120);
  const { message } = issue;
  return [`${place}: got ${received}. ${message}${/[.!]$/.test(message) ? '' : '.'}`];
}
