import { readProxies, type Config } from '../shared/config.ts';
import type { ServiceClock } from '../service/port/service-clock.ts';

/** How long a clock is believed: a sandbox that was started anew keeps another, and one that is hurried is moved on by hand, too. */
const believedMs = ({ speed }: ServiceClock): number => (speed > 1 ? 1_000 : 15_000);

/** The service's clock, asked anew at times; the last one holds while no answer comes, as time goes on. Throws as `readServiceClock`. */
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
