import { readProxies, type Config } from '../shared/config.ts';
import type { ServiceClock } from '../service/port/service-clock.ts';

/** A reading expires soon: a restarted sandbox has another clock, and a fast one is also moved by hand. */
const believedMs = ({ speed }: ServiceClock): number => (speed > 1 ? 1_000 : 15_000);

/** Refreshed periodically; the last reading keeps running while no answer comes. Throws as `readServiceClock`. */
export function keepServiceClock(
  config: Pick<Config, 'SVC_BASE_URL'>,
  options: { timeoutMs?: number; nowReal?: () => number } = {},
): () => Promise<ServiceClock> {
  const nowReal = options.nowReal ?? Date.now;
  let known: ServiceClock | undefined;
  let readAt = -Infinity;
  let reading: Promise<ServiceClock> | undefined;
  const read = async (): Promise<ServiceClock> => {
    try {
      const { readServiceClock } = await import('../service/registry.ts');
      known = await readServiceClock(config.SVC_BASE_URL, options.timeoutMs ?? 5_000, nowReal, readProxies(config));
    } catch (error) {
      if (known === undefined) throw error;
    }
    readAt = nowReal();
    return known;
  };
  return async () => {
    if (known !== undefined && nowReal() - readAt < believedMs(known)) return known;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    if (known === undefined) return reading;
    reading.catch(() => {});
    return known;
  };
}
