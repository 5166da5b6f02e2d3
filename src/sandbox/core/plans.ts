/** Concurrency is from gaps A.7; the other figures are the sandbox's choice. */
export interface Plan {
  readonly concurrency: number;
  /** Per service second and key; null: no limit. */
  readonly requestsPerSecond: number | null;
  readonly maxParallelRequests: number;
}

export const planNames = ['rehearsal', 'free', 'starter', 'creator', 'pro', 'scale', 'business'] as const;
export type PlanName = (typeof planNames)[number];

export const defaultPlan: PlanName = 'rehearsal';

export const plans: Readonly<Record<PlanName, Plan>> = {
  rehearsal: { concurrency: 30, requestsPerSecond: null, maxParallelRequests: 30 },
  free: { concurrency: 4, requestsPerSecond: 2, maxParallelRequests: 4 },
  starter: { concurrency: 6, requestsPerSecond: 5, maxParallelRequests: 6 },
  creator: { concurrency: 10, requestsPerSecond: 10, maxParallelRequests: 10 },
  pro: { concurrency: 20, requestsPerSecond: 20, maxParallelRequests: 20 },
  scale: { concurrency: 30, requestsPerSecond: 40, maxParallelRequests: 30 },
  business: { concurrency: 30, requestsPerSecond: 60, maxParallelRequests: 30 },
};

export function isPlanName(text: string): text is PlanName {
  return Object.hasOwn(plans, text);
}

export const retryAfterStyles = ['seconds', 'date', 'none'] as const;
export type RetryAfterStyle = (typeof retryAfterStyles)[number];

/** `now` is service time; waits are rounded up to whole seconds. */
export function retryAfterHeader(style: RetryAfterStyle, waitMs: number, now: number): Record<string, string> {
  switch (style) {
    case 'seconds':
      return { 'retry-after': String(Math.ceil(waitMs / 1000)) };
    case 'date':
      return { 'retry-after': new Date(Math.ceil((now + waitMs) / 1000) * 1000).toUTCString() };
    case 'none':
      return {};
  }
}
