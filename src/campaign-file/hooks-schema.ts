import { z } from 'zod';
import { isLoopback } from '../domain/service-address.ts';
import { isKeptUrl } from '../input/kept-url.ts';
import { duration, readBy } from './settings/kinds.ts';

const longestUrl = 2000;
/** How to write the address of a hook. */
export const hookUrlFix =
  'write an address such as https://hooks.example.com/carillon, without user and password; http only for this machine (127.0.0.1); or where it stands, env://CARILLON_URL_<NAME>';

/** The address of a hook as it may be used; null for any other. */
export function parseHookUrl(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > longestUrl || !URL.canParse(value)) return null;
  if (isKeptUrl(value)) return value;
  const url = new URL(value);
  if (url.username !== '' || url.password !== '' || url.hash !== '') return null;
  const allowed = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
  return allowed ? url.href : null;
}

const hookUrl = readBy(parseHookUrl, hookUrlFix).meta({ type: 'string', pattern: '^https?://' });

/** `pre_dial:` of a campaign file: who is asked, before each request, whether its people may be called. */
export const preDial = z.strictObject(
  { url: hookUrl, timeout: duration(100).prefault('5s') },
  { error: 'write a mapping such as { url: https://…, timeout: 5s }' },
);

/** `on_completion:` and `on_pause:` of a campaign file: who is told when a round has ended, or the campaign has paused by itself. */
export const toldHook = z.strictObject({ url: hookUrl }, { error: 'write a mapping such as { url: https://… }' });
