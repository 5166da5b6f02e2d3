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
