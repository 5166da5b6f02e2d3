/** A delivery restarts after this long, so that its Temporal history stays short and its worker may change. Real time. */
export const longestDeliveryMs = 60 * 60_000;

/** Failures for this long are logged and shown. Deliveries are still retried. */
export const failingAfterMs = 3 * 24 * 60 * 60_000;

const firstPauseMs = 5_000;
const longestPauseMs = 60 * 60_000;

/** Real ms until the next try, after this many consecutive failures. */
export function pauseAfterFailuresMs(failures: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(20, Math.max(0, failures - 1)));
}
