import { z } from 'zod';
import { hookUrlFix, parseHookUrl } from '../../../shared/input/kept-url.ts';
import { duration, readBy, rulesOf, shapeOf, type SettingGroup, type Written } from '../../../shared/input/setting.ts';

const hookUrl = readBy(parseHookUrl, hookUrlFix).meta({ type: 'string', pattern: '^https?://' });

// prettier-ignore
const preDial = {
  url: { schema: hookUrl, rules: 'url', help: 'Address that is asked.' },
  timeout: { schema: duration(100).prefault('5s'), rules: 'timeoutMs',
    help: 'How long an answer is awaited; without one nobody is called.' },
} as const satisfies SettingGroup;
const preDialSchema = z.strictObject(shapeOf(preDial), { error: 'write a mapping such as { url: https://…, timeout: 5s }' });
const notificationShape = shapeOf({ url: { schema: hookUrl, help: 'Address that is notified.' } });
const notificationSchema = z.strictObject(notificationShape, { error: 'write a mapping such as { url: https://… }' }).optional();

// prettier-ignore
export const hookSettings = {
  pre_dial: { schema: preDialSchema.optional(), rules: 'preDial', help: 'Who is asked before each request whether its people may be called.' },
  on_completion: { schema: notificationSchema, rules: 'onCompletion', help: 'Who is notified when the campaign has ended.' },
  on_pause: { schema: notificationSchema, rules: 'onPause', help: 'Who is notified when the campaign has paused by itself.' },
} as const satisfies SettingGroup;

export function hookRules({ pre_dial: hook, ...others }: Written<typeof hookSettings>) {
  return rulesOf(hookSettings, { pre_dial: hook && rulesOf(preDial, hook), ...others });
}
