import type { Placing } from './call-service.ts';
import { RateLimitedError, RefusedError, RequestInvalidError, type ServiceError } from './errors.ts';

/**
 * What the failure of a request to dial proves. `isAboutWhole`: whether a refusal complains about something outside the calls, which
 * smaller batches would not mend.
 */
export function placingOf(error: ServiceError, isAboutWhole: (error: RefusedError) => boolean): Placing {
  const fault = 'code' in error && typeof error.code === 'string' ? `${error.name} ${error.code}` : error.name;
  if (error instanceof RequestInvalidError) {
    const answer = { status: 422, requestId: null, serviceMs: null };
    return { kind: 'refused', wholeRequest: false, message: error.problems.join('; '), ...answer, fault };
  }
  const status = 'status' in error && typeof error.status === 'number' ? error.status : null;
  const failed = { status, requestId: error.requestId, serviceMs: error.serviceMs, fault };
  if (error.knowledge === 'not_sent') return { kind: 'not_sent', retryAfterMs: null, ...failed };
  if (error.knowledge === 'queued_nothing') {
    const retryAfterMs = error instanceof RateLimitedError ? error.retryAfterMs : null;
    return { kind: 'not_sent', retryAfterMs, ...failed };
  }
  if (error instanceof RefusedError)
    return { kind: 'refused', wholeRequest: isAboutWhole(error), message: error.detail.message, ...failed };
  return { kind: 'unknown', ...failed };
}
