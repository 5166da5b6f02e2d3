import { Random } from '../core/random.ts';

/** Service milliseconds from the event to each attempt (gaps A.8). */
const attemptOffsetsMs = [0, 30_000, 120_000, 480_000, 1_800_000] as const;
const mostJitter = 0.1;

/** When the attempt after `made` ones is due, up to a tenth late; null when there is none. Times are epoch milliseconds of service time. */
export function nextAttemptAt(seed: string, deliveryId: string, eventAt: number, made: number): number | null {
  const offset = attemptOffsetsMs[made];
  if (offset === undefined) return null;
  const jitter = mostJitter * new Random(seed, deliveryId, made, 'jitter').next();
  return Math.round(eventAt + offset * (1 + jitter));
}

/** Only what may pass by itself is worth another attempt. */
export function isWorthRetrying(status: number | null): boolean {
  return status !== null && (status >= 500 || status === 429 || status === 408);
}
