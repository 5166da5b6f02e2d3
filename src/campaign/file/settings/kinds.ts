import { z } from 'zod';
import { parseDuration } from '../../../shared/input/times.ts';

/* Every message, here and in the schemas, is the fix, as an instruction; `problems.ts` puts path, line and value before it. */

const durationFix = 'write a duration such as 90s, 5m, 2h or 1d, at most 366d';

export function text(fix: string, longest = 200) {
  return z
    .string({ error: fix })
    .max(longest, { error: fix })
    .refine((value) => value.trim() !== '', { error: fix });
}

export function whole(from: number, to: number) {
  const fix = `write a whole number from ${String(from)} to ${String(to)}`;
  return z.number({ error: fix }).int({ error: fix }).min(from, { error: fix }).max(to, { error: fix });
}

/** A part of a JSON Schema. */
export type JsonShape = { [key: string]: unknown };

export const textShape: JsonShape = { type: 'string' };
export const scalarShape: JsonShape = { type: ['string', 'number', 'boolean'] };
export const durationShape: JsonShape = { type: 'string', pattern: '^\\s*\\d{1,9}(\\.\\d{1,3})?\\s?[smhd]\\s*$' };
export const oneOrMore = (items: JsonShape): JsonShape => ({ anyOf: [items, { type: 'array', items, minItems: 1 }] });

/** A value that `read` understands, or the fix as the problem. JSON Schema cannot see into `read`: `meta` says what may stand there. */
export function readBy<T>(read: (value: unknown) => T | null, fix: string) {
  return z.unknown().transform((value, context): T => {
    const parsed = read(value);
    if (parsed !== null) return parsed;
    context.issues.push({ code: 'custom', message: fix, input: value });
    return z.NEVER;
  });
}

export function duration(shortestMs: number) {
  const fix = shortestMs > 0 ? `${durationFix}, at least ${String(shortestMs / 1000)}s` : durationFix;
  return readBy((value) => {
    const ms = parseDuration(value);
    return ms === null || ms < shortestMs ? null : ms;
  }, fix).meta(durationShape);
}
