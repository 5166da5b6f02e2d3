/** Why a hook gave no answer that can be used. */
export type HookFault =
  | 'no_secret'
  | 'no_address'
  | 'address_refused'
  | 'no_connection'
  | 'timeout'
  | 'stopped'
  | 'redirect'
  | 'status'
  | 'too_large'
  | 'unusable';

/**
 * Thrown when a hook gave no answer that can be used. The message holds nothing that came over the wire but the status, and of the address
 * nothing: its path may be a secret, and so may be what the request carried.
 */
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
