import { z } from 'zod';

/** ISO 8601 in UTC. */
export const instant = z.iso.datetime({ offset: true }).meta({ examples: ['2030-01-15T09:00:00.000Z'] });

/** Counts by outcome, disposition or state. */
export const counts = z.record(z.string(), z.int());

export const campaignParams = z.object({
  campaign: z
    .string()
    .min(1)
    .max(200)
    .meta({ description: 'Id of the campaign.', examples: ['reminders'] }),
});

export const rowParams = campaignParams.extend({ row: z.coerce.number().int().min(1) });

/** A repeatable parameter. */
export const several = <Item extends z.ZodType>(item: Item) =>
  z
    .union([item, z.array(item)])
    .transform((value) => (Array.isArray(value) ? value : [value]))
    .optional();
