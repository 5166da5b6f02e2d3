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

/** Thrown when a hook gave no usable answer. The message has the status at most; the rest may be secret. */
export class HookError extends Error {
  override readonly name = 'HookError' as const;
  readonly fault: HookFault;
  /** Null: no response. */
  readonly status: number | null;

  constructor(fault: HookFault, message: string, status: number | null = null, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
    this.status = status;
  }
}

/** Public form of a hook: setting and host or reference; the rest of its address may be secret. */
export function hookPlace(setting: 'pre_dial' | 'on_completion' | 'on_pause', url: string): string {
  return isKeptUrl(url) ? `${setting}.url in ${url}` : `${setting}.url at ${addressPlace(url)}`;
}

/** Public form of a webhook address: host or reference. */
export function addressPlace(url: string): string {
  return isKeptUrl(url) ? url : new URL(url).host;
}
