import { z } from 'zod';
import { problemSchema } from '../core/problem.ts';

/** An instant, as ISO 8601 in UTC. */
export const instant = z.iso.datetime({ offset: true }).meta({ examples: ['2030-01-15T09:00:00.000Z'] });

/** Counts by a name that is data: an outcome, a disposition, a state. */
export const counts = z.record(z.string(), z.int());

export const campaignParams = z.object({
  campaign: z
    .string()
    .min(1)
    .max(200)
    .meta({ description: 'Id of the campaign.', examples: ['reminders'] }),
});

/** The refusals that every route may give; `more` are those of the route itself. */
export function refusals<More extends number = never>(...more: More[]) {
  const all = [...new Set([400, 401, 403, 500, 503, ...more])].toSorted((a, b) => a - b);
  return Object.fromEntries(all.map((status) => [status, problemSchema])) as Record<
    400 | 401 | 403 | 500 | 503 | More,
    typeof problemSchema
  >;
}

/** Of a change: the key under which it is done once. */
export const keyHeaders = z.object({
  'idempotency-key': z
    .string()
    .min(1)
    .max(255)
    .meta({
      description:
        'A text of your own, new for each change. The same key for the same request is answered again and changes nothing ' +
        '(`idempotent-replayed: true`); for another request it is refused.',
      examples: ['4f7c2f0e-reminders-pause'],
    }),
});

/** A parameter that may be given several times. */
export const several = <Item extends z.ZodType>(item: Item) =>
  z
    .union([item, z.array(item)])
    .transform((value) => (Array.isArray(value) ? value : [value]))
    .optional();
