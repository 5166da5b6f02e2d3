import { RateLimitedError } from '../src/service/port/errors.ts';
import type { ServiceClock } from '../src/service/port/service-clock.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** Until when (monotonic clock) the service's records must not be read. */
const quietUntil = new WeakMap<ActivityDependencies['service'], number>();

/** Real ms for which records must not be read; 0 or less: they may be. */
export function quietTime(deps: Pick<ActivityDependencies, 'service' | 'monotonicMs'>): number {
  return (quietUntil.get(deps.service) ?? 0) - deps.monotonicMs();
}

/** Respects the wait that a failed read asks for; answers its real ms. */
export function keepQuiet(deps: Pick<ActivityDependencies, 'service' | 'monotonicMs'>, clock: ServiceClock, error: unknown): number {
  if (!(error instanceof RateLimitedError) || error.retryAfterMs === null) return 0;
  const waitMs = clock.toRealMs(error.retryAfterMs);
  if (waitMs > 0) quietUntil.set(deps.service, deps.monotonicMs() + waitMs);
  return waitMs;
}
