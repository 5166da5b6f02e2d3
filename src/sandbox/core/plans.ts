/** What an account may do. Calls on the line are the figures of gaps A.7; all others are choices of the sandbox. */
export interface Plan {
  /** Calls on the line at once, inbound and outbound together. */
  readonly concurrency: number;
  /** Per service second and key; null for no limit. */
  readonly requestsPerSecond: number | null;
  /** Requests in progress at once, beyond which the conduct report objects. */
  readonly maxParallelRequests: number;
  readonly sipTrunks: number;
}

export const planNames = ['rehearsal', 'free', 'starter', 'creator', 'pro', 'scale', 'business'] as const;
export type PlanName = (typeof planNames)[number];

/** No account's: room to rehearse without waiting. */
export const defaultPlan: PlanName = 'rehearsal';

export const plans: Readonly<Record<PlanName, Plan>> = {
  rehearsal: { concurrency: 30, requestsPerSecond: null, maxParallelRequests: 30, sipTrunks: 10 },
  free: { concurrency: 4, requestsPerSecond: 2, maxParallelRequests: 4, sipTrunks: 0 },
  starter: { concurrency: 6, requestsPerSecond: 5, maxParallelRequests: 6, sipTrunks: 0 },
  creator: { concurrency: 10, requestsPerSecond: 10, maxParallelRequests: 10, sipTrunks: 1 },
  pro: { concurrency: 20, requestsPerSecond: 20, maxParallelRequests: 20, sipTrunks: 3 },
  scale: { concurrency: 30, requestsPerSecond: 40, maxParallelRequests: 30, sipTrunks: 10 },
  business: { concurrency: 30, requestsPerSecond: 60, maxParallelRequests: 30, sipTrunks: 30 },
};

export function isPlanName(text: string): text is PlanName {
  return Object.hasOwn(plans, text);
}

export const retryAfterStyles = ['seconds', 'date', 'none'] as const;
export type RetryAfterStyle = (typeof retryAfterStyles)[number];

/** The header that tells how long to wait, if any. `now` is service time; a header has whole seconds, so the wait is rounded up. */
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
