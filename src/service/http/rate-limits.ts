import { setTimeout as delay } from 'node:timers/promises';
import { ServiceOptionsError, RateLimitedError } from '../port/errors.ts';

/** Retries after a 429, for reads and for changes; batches of calls are never retried. */
export interface RetryCounts {
  reads: number;
  changes: number;
}

/** Waits; rejects when the signal is aborted. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<unknown>;

const firstWaitMs = 1_000;
/** Longer waits are left to the caller. */
const longestWaitMs = 60_000;

/** Retries after a 429, waiting as long as the service asks, else with a doubling delay. */
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
    /** Waiting requests fail with their 429. */
    close: () => closing.abort(),
  };
}

function waitAfter(error: unknown, sent: number): number | null {
  if (!(error instanceof RateLimitedError) || error.knowledge !== 'queued_nothing') return null;
  const waitMs = error.retryAfterMs ?? firstWaitMs * 2 ** (sent - 1);
  return waitMs > longestWaitMs ? null : waitMs;
}

/** `perSecond`: per real second, above 0. Clock and sleep are replaced in tests. */
interface TokenBucketOptions {
  perSecond: number;
  /** Starts allowed at once after a quiet time. Default: one second's worth, at least 1. */
  burst?: number;
  /** Monotonic milliseconds. */
  now?: () => number;
  sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** Paces reads: each `take` reserves the next free start and waits for it. */
export function createTokenBucket(options: TokenBucketOptions) {
  const now = options.now ?? (() => performance.now());
  const sleep = options.sleep ?? ((ms, signal) => delay(ms, undefined, { signal }));
  const intervalMs = 1000 / options.perSecond;
  const burst = options.burst ?? Math.max(1, Math.floor(options.perSecond));
  const closing = new AbortController();
  let nextFreeAt = -Infinity;
  return {
    /** Resolves in call order when the next request may start. Rejects when the bucket is closed first. */
    async take(): Promise<void> {
      closing.signal.throwIfAborted();
      const current = now();
      // A quiet time saves up at most `burst` starts, this one included.
      const startAt = Math.max(nextFreeAt, current - (burst - 1) * intervalMs);
      nextFreeAt = startAt + intervalMs;
      if (startAt > current) await sleep(startAt - current, closing.signal);
    },
    close(): void {
      closing.abort();
    },
  };
}
