import { setTimeout as delay } from 'node:timers/promises';

/** `perSecond` is per real second and above 0; clock and sleep are replaced in tests. */
export interface TokenBucketOptions {
  perSecond: number;
  /** How many may start at once after a quiet time. Default: one second's worth, at least 1. */
  burst?: number;
  /** Milliseconds that never go back. */
  now?: () => number;
  sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** Spaces out the reads of one client: each `take` reserves the next free start and waits for it. */
export function createTokenBucket(options: TokenBucketOptions) {
  const now = options.now ?? (() => performance.now());
  const sleep = options.sleep ?? ((ms, signal) => delay(ms, undefined, { signal }));
  const intervalMs = 1000 / options.perSecond;
  const burst = options.burst ?? Math.max(1, Math.floor(options.perSecond));
  const closing = new AbortController();
  let nextFreeAt = -Infinity;
  return {
    /** Resolves when the next request may start, in the order of the calls. Rejects when the bucket is closed first. */
    async take(): Promise<void> {
      closing.signal.throwIfAborted();
      const current = now();
      // A quiet time saves up at most `burst` starts, the one taken now included.
      const startAt = Math.max(nextFreeAt, current - (burst - 1) * intervalMs);
      nextFreeAt = startAt + intervalMs;
      if (startAt > current) await sleep(startAt - current, closing.signal);
    },
    close(): void {
      closing.abort();
    },
  };
}
