import { z } from 'zod';
import { duration, whole } from './settings/kinds.ts';

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

type Cap = z.output<typeof cap>;

/**
 * Caps that never hold anybody back because another one is at least as strict, with what to do about each: one of the two is probably not
 * what was meant.
 */
export function needlessCaps(caps: readonly Cap[]): { index: number; fix: string }[] {
  return caps.flatMap((one, index) => {
    const other = caps.findIndex(
      (cap, at) => at !== index && makesNeedless(cap, one) && !(at > index && isSame(cap, one)),
    );
    return other === -1 ? [] : [{ index, fix: whyNeedless(one, caps[other] as Cap, other) }];
  });
}

/** Whether whoever `strict` lets through is let through by `one` as well. */
function makesNeedless(strict: Cap, one: Cap): boolean {
  if (strict.by !== one.by) return false;
  if (one.after_talk !== undefined) return (strict.after_talk ?? 0) >= one.after_talk;
  return (strict.calls ?? Infinity) <= (one.calls ?? 0) && (strict.within ?? 0) >= (one.within ?? 0);
}

function isSame(left: Cap, right: Cap): boolean {
  return left.calls === right.calls && left.within === right.within && left.after_talk === right.after_talk;
}

function whyNeedless(one: Cap, strict: Cap, at: number): string {
  const name = `caps[${String(at)}]`;
  const vain = 'so this one never holds anybody back';
  if (isSame(one, strict)) return `leave it out: it stands twice, as ${name} too`;
  if (one.after_talk !== undefined) return `leave it out: ${name} waits longer after a talk, ${vain}`;
  if (one.within === strict.within)
    return `leave one of them out: ${name} allows fewer calls over the same time, ${vain}`;
  return `leave it out: ${name} allows no more calls in a longer time, ${vain}`;
}
