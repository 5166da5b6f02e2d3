import { z } from 'zod';

const share = z.number().min(0, 'Must be a share from 0 to 1.').max(1, 'Must be a share from 0 to 1.');
const seconds = z
  .number()
  .min(0, 'Must be seconds, 0 or more.')
  .max(7 * 86_400, 'Must be at most a week of seconds.');

export const lateness = z
  .strictObject({ share: share.default(1), from_seconds: seconds.default(0), to_seconds: seconds })
  .refine(({ from_seconds: from, to_seconds: to }) => from <= to, 'from_seconds must not be above to_seconds.');
export type Lateness = z.output<typeof lateness>;

/** What records keep from whoever reads them. Shares are drawn for each record from the seed and its id alone. */
export const recordHabits = z.strictObject({
  altered: share.default(0),
  shortened: share.default(0),
  bare_hello: share.default(0),
  withheld: share.default(0),
  withheld_form: z.enum(['empty', 'absent']).default('empty'),
  withheld_results: z.boolean().default(false),
  /** Extended dialect: records that tell the number, the batch, what the caller sent along, and the direction. */
  number_shown: share.default(1),
  batch_shown: share.default(1),
  reference_shown: share.default(1),
  direction_shown: share.default(1),
  /** `full`: as the dialect has it; `bare`: nothing but times; `ring`: and the duration counts the ring; `none`: no record. */
  unanswered: z.enum(['full', 'bare', 'ring', 'none']).default('full'),
  /** Where a record tells that it is processing: it shows another choice than the one that it will tell once it is done. */
  draft_analysis: share.default(0),
  listed_late: lateness.optional(),
});
export type RecordHabits = z.output<typeof recordHabits>;

export const plainHabits: RecordHabits = recordHabits.parse({});
