import { DateTime } from 'luxon';
import type { RetryDelay, RetryDelays } from '../campaign-rules.ts';
import { timeZone } from '../hours/time-zone.ts';

const dayMs = 24 * 3_600_000;

/** Earliest instant of the nth retry after a disposition; null: never. */
export function retryAt(input: {
  delays: RetryDelays;
  /** Attempts of the recipient with this disposition, from 1. */
  nth: number;
  /** End of the attempt, epoch ms. */
  from: number;
  /** Possible zones; `next_day` waits for the last of them, or 24 h if none is known. */
  zones: readonly string[];
  /** Maximum addition to the delay; the same key always adds the same. */
  jitterMs: number;
  key: string;
}): number | null {
  const { delays, nth, from, zones } = input;
  if (delays === 'never') return null;
  const delay = delays[Math.min(nth, delays.length) - 1];
  if (delay === undefined) return null;
  return delayed(delay, from, zones) + jitter(input.key, input.jitterMs);
}

function delayed(delay: RetryDelay, from: number, zones: readonly string[]): number {
  if (delay !== 'next_day') return from + delay;
  const mornings = zones
    .map(timeZone)
    .filter(({ isValid }) => isValid)
    .map((zone) => DateTime.fromMillis(from, { zone }).plus({ days: 1 }).startOf('day').toMillis());
  return mornings.length === 0 ? from + dayMs : Math.max(...mornings);
}

/** 0 to `most` from an FNV-1a hash of the key, so that every run gives the same. */
function jitter(key: string, most: number): number {
  if (most === 0) return 0;
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193) >>> 0;
  return Math.floor((hash / 0x1_0000_0000) * (most + 1));
}
