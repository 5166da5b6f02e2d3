import { setTimeout as delay } from 'node:timers/promises';
import { ServiceOptionsError, RateLimitedError } from '../port/errors.ts';

/** How often a request that a 429 turned away is sent again. Reads and changes are told apart; batches do not come here. */
export interface RetryCounts {
  reads: number;
  changes: number;
}

/** Waits; rejects when the signal is aborted. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<unknown>;

const firstWaitMs = 1_000;
/** Whoever is told to wait for longer has better things to do than to hold a request open: it is left to the caller. */
const longestWaitMs = 60_000;

/** Sends again what a rate limit turned away, after the wait that the service asks for, else after one that doubles. */
export function createRateLimitRetries(counts: RetryCounts, sleep: Sleep = (ms, signal) => delay(ms, undefined, { signal })) {
  for (const [kind, count] of Object.entries(counts)) {
    if (Number.isInteger(count) && count >= 0) continue;
    throw new ServiceOptionsError(`retriesAfter429.${kind} is ${String(count)}; it must be a whole number from 0.`);
  }
  const closing = new AbortController();
  return {
    async through<Result>(kind: keyof RetryCounts, send: () => Promise<Result>): Promise<Result> {
      for (let sent = 1; ; sent += 1) {
        try {
          return await send();
        } catch (error) {
          const waitMs = sent > counts[kind] ? null : waitAfter(error, sent);
          if (waitMs === null) throw error;
          await sleep(waitMs, closing.signal).catch(() => undefined);
          if (closing.signal.aborted) throw error;
        }
      }
    },
    /** What waits is not sent again: it fails with the 429. */
    close: () => closing.abort(),
  };
}

function waitAfter(error: unknown, sent: number): number | null {
  if (!(error instanceof RateLimitedError) || error.knowledge !== 'queued_nothing') return null;
  const waitMs = error.retryAfterMs ?? firstWaitMs * 2 ** (sent - 1);
  return waitMs > longestWaitMs ? null : waitMs;
}
