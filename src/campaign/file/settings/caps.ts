import { z } from 'zod';
import type { FrequencyCap } from '../../../rules/frequency-caps.ts';
import { duration, whole, shapeOf, type SettingGroup } from '../../../shared/input/setting.ts';

const capFix =
  'write { calls: 3, within: 24h } or { after_talk: 7d }, with by: person to count by list.person, or list.id, instead of by number';
// prettier-ignore
const settings = {
  by: { schema: z.literal(['number', 'person'], { error: capFix }).default('number'), help: 'What is counted by: number or person.' },
  calls: { schema: whole(1, 1000).optional(), label: 'Calls to a number, at most', help: 'At most so many calls.',
    form: { part: 'calls', type: 'number',
      usual: '3' } },
  within: { schema: duration(1000).optional(), label: 'Within this time', help: 'In any stretch of time this long, such as 24h.',
    form: { part: 'calls', usual: '24h' } },
  after_talk: { schema: duration(1000).optional(), help: 'No call for this long after a conversation.' },
} as const satisfies SettingGroup;
const cap = z
  .strictObject(shapeOf(settings), { error: capFix })
  .refine(
    ({ calls, within, after_talk }) =>
      after_talk === undefined ? calls !== undefined && within !== undefined : calls === undefined && within === undefined,
    { error: capFix },
  );

type Cap = z.output<typeof cap>;

const caps = z
  .array(cap, { error: 'write a list such as [{ calls: 3, within: 24h }]' })
  .max(20, { error: 'write at most 20 caps' })
  .default([]);

export const capSettings = {
  caps: { schema: caps, help: 'How often a person may be called, over all campaigns.', settings },
} as const satisfies SettingGroup;

export function capRules(caps: readonly Cap[]): FrequencyCap[] {
  return caps.map(({ by, calls = 0, within = 0, after_talk: afterTalkMs }) =>
    afterTalkMs === undefined ? { by, calls, withinMs: within } : { by, afterTalkMs },
  );
}

/** Caps made redundant by a stricter one, with the fix: one of the two is probably a mistake. */
export function needlessCaps(caps: readonly Cap[]): { index: number; fix: string }[] {
  return caps.flatMap((one, index) => {
    const other = caps.findIndex((cap, at) => at !== index && makesNeedless(cap, one) && !(at > index && isSame(cap, one)));
    return other === -1 ? [] : [{ index, fix: whyNeedless(one, caps[other] as Cap, other) }];
  });
}

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
  const vain = 'so this one never holds anyone back';
  if (isSame(one, strict)) return `leave it out: it stands twice, as ${name} too`;
  if (one.after_talk !== undefined) return `leave it out: ${name} waits longer after a talk, ${vain}`;
  if (one.within === strict.within) return `leave one of them out: ${name} allows fewer calls over the same time, ${vain}`;
  return `leave it out: ${name} allows no more calls in a longer time, ${vain}`;
}
