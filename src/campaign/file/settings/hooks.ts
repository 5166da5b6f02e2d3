import { z } from 'zod';
import { isLoopback } from '../../../rules/service-api.ts';
import { isKeptUrl } from '../../../shared/input/kept-url.ts';
import { duration, readBy, rulesOf, shapeOf, type SettingGroup, type Written } from './setting.ts';

const longestUrl = 2000;
export const hookUrlFix =
  'write an address such as https://hooks.example.com/carillon, without user and password; http only for this machine (127.0.0.1); or where it stands, env://CARILLON_URL_<NAME>';

export function parseHookUrl(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > longestUrl || !URL.canParse(value)) return null;
  if (isKeptUrl(value)) return value;
  const url = new URL(value);
  if (url.username !== '' || url.password !== '' || url.hash !== '') return null;
  const allowed = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
  return allowed ? url.href : null;
}

const hookUrl = readBy(parseHookUrl, hookUrlFix).meta({ type: 'string', pattern: '^https?://' });

// prettier-ignore
const preDial = {
  url: { schema: hookUrl, rules: 'url', help: 'Address that is asked.' },
  timeout: { schema: duration(100).prefault('5s'), rules: 'timeoutMs',
    help: 'How long an answer is awaited; without one nobody is called.' },
} as const satisfies SettingGroup;
const asked = z.strictObject(shapeOf(preDial), { error: 'write a mapping such as { url: https://…, timeout: 5s }' });
const toldShape = shapeOf({ url: { schema: hookUrl, help: 'Address that is notified.' } });
const told = z.strictObject(toldShape, { error: 'write a mapping such as { url: https://… }' }).optional();

// prettier-ignore
export const hookSettings = {
  pre_dial: { schema: asked.optional(), rules: 'preDial', help: 'Who is asked before each request whether its people may be called.' },
  on_completion: { schema: told, rules: 'onCompletion', help: 'Who is notified when the campaign has ended.' },
  on_pause: { schema: told, rules: 'onPause', help: 'Who is notified when the campaign has paused by itself.' },
} as const satisfies SettingGroup;

export function hookRules({ pre_dial: hook, ...others }: Written<typeof hookSettings>) {
  return rulesOf(hookSettings, { pre_dial: hook && rulesOf(preDial, hook), ...others });
}
