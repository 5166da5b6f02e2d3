/** A delivery begins anew after this long, so that its history in Temporal stays short and its worker may change. Real time. */
export const longestDeliveryMs = 60 * 60_000;

/** Failures for this long are told in the event log, and shown. Deliveries go on being tried. */
export const failingAfterMs = 3 * 24 * 60 * 60_000;

const firstPauseMs = 5_000;
const longestPauseMs = 60 * 60_000;

/** Real milliseconds until the next try, after so many failures in a row. */
export function pauseAfterFailuresMs(failures: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(20, Math.max(0, failures - 1)));
}
