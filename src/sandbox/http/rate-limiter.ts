/** A token bucket per key, in service time. It holds one second's worth of requests, at least one. */
export class RateLimiter {
  readonly #perSecond: number | null;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  constructor(perSecond: number | null) {
    this.#perSecond = perSecond;
  }

  /** Null when the request may pass, else the service milliseconds until one may. */
  take(key: string, now: number): number | null {
    const perSecond = this.#perSecond;
    if (perSecond === null) return null;
    const most = Math.max(1, perSecond);
    const bucket = this.#buckets.get(key) ?? { tokens: most, at: now };
    const tokens = Math.min(most, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * perSecond);
    const passes = tokens >= 1;
    this.#buckets.set(key, { tokens: passes ? tokens - 1 : tokens, at: now });
    return passes ? null : ((1 - tokens) / perSecond) * 1000;
  }
}
