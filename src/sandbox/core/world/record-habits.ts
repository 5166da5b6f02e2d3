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

/** What records withhold; drawn per record from the seed and its id only. */
export const recordQuirks = z.strictObject({
  altered: share.default(0),
  shortened: share.default(0),
  bare_hello: share.default(0),
  withheld: share.default(0),
  withheld_form: z.enum(['empty', 'absent']).default('empty'),
  withheld_results: z.boolean().default(false),
  /** Extended dialect: shares of records with the number, batch, client data and direction. */
  number_shown: share.default(1),
  batch_shown: share.default(1),
  reference_shown: share.default(1),
  direction_shown: share.default(1),
  /** `full`: per dialect; `bare`: times only; `ring`: bare, and the duration includes ringing; `none`: no record. */
  unanswered: z.enum(['full', 'bare', 'ring', 'none']).default('full'),
  /** Share of records in processing that show a draft with other choices than the final one. */
  draft_analysis: share.default(0),
  listed_late: lateness.optional(),
});
export type RecordQuirks = z.output<typeof recordQuirks>;

export const plainQuirks: RecordQuirks = recordQuirks.parse({});
