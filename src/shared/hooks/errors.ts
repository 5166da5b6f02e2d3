import { isKeptUrl } from '../input/kept-url.ts';

export type HookFault =
  | 'no_secret'
  | 'no_address'
  | 'address_refused'
  | 'no_connection'
  | 'no_tunnel'
  | 'timeout'
  | 'stopped'
  | 'redirect'
  | 'status'
  | 'too_large'
  | 'unusable';

/** Thrown when a hook gave no usable answer. The message holds the status at most: address, request and answer may be secret. */
export class HookError extends Error {
  override readonly name = 'HookError' as const;
  readonly fault: HookFault;
  /** Of an answer that came; null when none did. */
  readonly status: number | null;

  constructor(fault: HookFault, message: string, status: number | null = null, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
    this.status = status;
  }
}

/** A hook as people may see it: its setting and its host, or where its address stands; the rest of the address may be secret. */
export function hookPlace(setting: 'pre_dial' | 'on_completion' | 'on_pause', url: string): string {
  return isKeptUrl(url) ? `${setting}.url in ${url}` : `${setting}.url at ${addressPlace(url)}`;
}

/** The address of a webhook as people may see it: its host, or where it stands. */
export function addressPlace(url: string): string {
  return isKeptUrl(url) ? url : new URL(url).host;
}
