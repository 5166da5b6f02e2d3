import { z } from 'zod';

/** Secret headers: rules are visible to any reader. */
const secretHeaders = new Set(['x-api-key', 'xi-api-key', 'authorization', 'cookie']);

const header = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(100)
      .transform((name) => name.toLowerCase())
      .refine((name) => !secretHeaders.has(name), 'This header carries a secret, and rules are shown; choose another.'),
    equals: z.string().max(1_000).optional(),
    pattern: z.string().max(200).refine(isRegularExpression, 'Must be a regular expression that JavaScript can read.').optional(),
  })
  .refine((rule) => rule.equals === undefined || rule.pattern === undefined, 'Give only one of equals and pattern.');

/** Service time as ISO text, or service seconds after the rule was added. */
const instantError = 'Must be a time such as "2030-01-15T12:00:00Z", or seconds after the rule was added.';
const instant = z.union([z.iso.datetime({ offset: true, error: instantError }), z.number().min(0)], { error: instantError });

export const faultMatch = {
  header: header.optional(),
  agent: z.string().min(1).max(200).optional(),
  number: z.string().min(1).max(200).optional(),
  period: z.strictObject({ from: instant.optional(), until: instant.optional() }).optional(),
};
const matchObject = z.object(faultMatch);
export type FaultMatch = z.output<typeof matchObject>;

export interface FaultedRequest {
  header(name: string): string | null;
  hasCursor: boolean;
  agentIds(): readonly string[];
  numbers(): readonly string[];
}

/** `addedAt` and `now`: epoch ms of service time. */
export function isMeant(match: FaultMatch, request: FaultedRequest, addedAt: number, now: number): boolean {
  const { header, agent, number, period } = match;
  if (period !== undefined && !isWithin(period, addedAt, now)) return false;
  if (header !== undefined && !isHeaderMeant(header, request)) return false;
  if (agent !== undefined && !request.agentIds().includes(agent)) return false;
  return number === undefined || request.numbers().some((candidate) => candidate === number || endsWith(candidate, number));
}

/** Digits match a number's ending; ids are compared whole. */
function endsWith(candidate: string, ending: string): boolean {
  return /^\+?\d+$/.test(ending) && candidate.endsWith(ending);
}

function isWithin(period: NonNullable<FaultMatch['period']>, addedAt: number, now: number): boolean {
  const at = (edge: string | number): number => (typeof edge === 'number' ? addedAt + edge * 1000 : Date.parse(edge));
  if (period.from !== undefined && now < at(period.from)) return false;
  return period.until === undefined || now < at(period.until);
}

function isHeaderMeant({ name, equals, pattern }: NonNullable<FaultMatch['header']>, request: FaultedRequest): boolean {
  const value = request.header(name);
  if (value === null) return false;
  if (equals !== undefined) return value === equals;
  return pattern === undefined || new RegExp(pattern).test(value);
}

function isRegularExpression(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}
