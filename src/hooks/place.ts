import { isKeptUrl } from '../input/kept-url.ts';

/**
 * A hook as people may see it: its setting and its host, or where its address stands. Path, query and what stands before the host may be
 * secrets.
 */
export function hookPlace(setting: 'pre_dial' | 'on_completion' | 'on_pause', url: string): string {
  return isKeptUrl(url) ? `${setting}.url in ${url}` : `${setting}.url at ${addressPlace(url)}`;
}

/** The address of a webhook as people may see it: its host, or where it stands. */
export function addressPlace(url: string): string {
  return isKeptUrl(url) ? url : new URL(url).host;
}
