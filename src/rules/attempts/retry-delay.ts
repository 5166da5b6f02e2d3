import { DateTime } from 'luxon';
import type { RetryDelay, RetryDelays } from '../campaign-rules.ts';
import { timeZone } from '../hours/time-zone.ts';

const dayMs = 24 * 3_600_000;

/** When the nth retry after a disposition may come; null: never. */
export function retryAt(input: {
  delays: RetryDelays;
  /** Attempts of the recipient that ended so, from 1. */
  nth: number;
  /** Epoch milliseconds of the attempt's end. */
  from: number;
  /** Zones in which the recipient may be; `next_day` waits for the last of them, and 24 hours where none is known. */
  zones: readonly string[];
  /** Lengthens the delay by up to `jitterMs`; the same key always by the same time. */
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

/** 0 to `most`, by a hash (FNV-1a) of the key: no state, and no chance that differs from one run to the next. */
function jitter(key: string, most: number): number {
  if (most === 0) return 0;
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193) >>> 0;
  return Math.floor((hash / 0x1_0000_0000) * (most + 1));
}
