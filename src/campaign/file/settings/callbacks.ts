import { z } from 'zod';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import type { CallbackSource } from '../../../rules/callback-rules.ts';
import { duration, shapeOf, whole, text, type SettingGroup, type Written } from '../../../shared/input/setting.ts';

const callbackFix = 'write callback: { at: key }, { date: key, time: key } or { in: key }, each key that of a collected value';
const key = text(callbackFix).optional();
const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.literal(words, { error: `write ${words.slice(0, -1).join(', ')} or ${words.at(-1)}` });

// prettier-ignore
const callback = {
  at: { schema: key, help: 'Key of a collected value: an instant with offset or a local time such as 2030-11-30 17:00.' },
  date: { schema: key, help: 'Key of a collected value: the day alone, with time.' },
  time: { schema: key, help: 'Key of a collected value: the time alone, with date.' },
  in: { schema: key, help: 'Key of a collected value: minutes after the call.' },
  late: { schema: duration(60_000).prefault('30m'), help: 'How much later than promised the call may be requested.' },
  missed: { schema: oneOf(['ask', 'retry', 'next_day']).default('ask'),
    help: 'What follows a promise that was not kept: ask (a person decides), retry (the next free line) or next_day (the same local time).' },
  unclear: { schema: oneOf(['ask', 'retry']).default('ask'),
    help: 'What follows a time that is not clear: ask (a person decides) or retry (as after no answer).' },
  most: { schema: whole(1, 100).default(3), help: 'How often one person is called back on their own wish; after that a person decides.' },
  horizon: { schema: duration(60_000).prefault('14d'), help: 'A promise for later than this is unclear.' },
} as const satisfies SettingGroup;

const callbacks = z
  .strictObject(shapeOf(callback), { error: callbackFix })
  .refine(({ date, time }) => (date === undefined) === (time === undefined), { error: callbackFix })
  .refine((written) => [written.at, written.date, written.in].filter((each) => each !== undefined).length === 1, { error: callbackFix });

export const callbackSettings = {
  callback: { schema: callbacks.optional(), settings: callback, help: 'When people are called back who ask for it, see results.' },
} as const satisfies SettingGroup;

export function callbackRules({ callback: written }: Written<typeof callbackSettings>): Pick<CampaignRules, 'callback'> {
  if (written === undefined) return {};
  const { late: lateMs, missed, unclear, most, horizon: horizonMs } = written;
  return { callback: { at: sourceOf(written), lateMs, missed, unclear, most, horizonMs } };
}

function sourceOf({ at, date, time, in: minutes }: z.output<typeof callbacks>): CallbackSource {
  if (at !== undefined) return { kind: 'at', key: at };
  if (date !== undefined) return { kind: 'date_and_time', date, time: time ?? '' };
  return { kind: 'in', key: minutes ?? '' };
}
