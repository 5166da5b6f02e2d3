import { RateLimitedError } from '../src/service/port/errors.ts';
import type { ServiceClock } from '../src/service/port/service-clock.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** Until when (monotonic clock) the service asked this process to leave its records alone, per service. */
const quietUntil = new WeakMap<ActivityDependencies['service'], number>();

/** Real milliseconds for which records are still to be left alone; 0 or less: they may be read. */
export function quietTime(deps: Pick<ActivityDependencies, 'service' | 'monotonicMs'>): number {
  return (quietUntil.get(deps.service) ?? 0) - deps.monotonicMs();
}

/** Heeds the wait that a failed read asks for; answers its real milliseconds. */
export function keepQuiet(deps: Pick<ActivityDependencies, 'service' | 'monotonicMs'>, clock: ServiceClock, error: unknown): number {
  if (!(error instanceof RateLimitedError) || error.retryAfterMs === null) return 0;
  const waitMs = clock.toRealMs(error.retryAfterMs);
  if (waitMs > 0) quietUntil.set(deps.service, deps.monotonicMs() + waitMs);
  return waitMs;
}
