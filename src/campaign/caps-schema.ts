import { z } from 'zod';
import { duration, whole } from './setting-kinds.ts';

const capFix =
  'write { calls: 3, within: 24h } or { after_talk: 7d }, with by: person to count by list.id instead of by number';
/** One frequency cap of a campaign file. */
export const cap = z
  .strictObject(
    {
      by: z.literal(['number', 'person'], { error: capFix }).default('number'),
      calls: whole(1, 1000).optional(),
      within: duration(1000).optional(),
      after_talk: duration(1000).optional(),
    },
    { error: capFix },
  )
  .refine(
    ({ calls, within, after_talk }) =>
      after_talk === undefined
        ? calls !== undefined && within !== undefined
        : calls === undefined && within === undefined,
    { error: capFix },
  );
