import type { ServiceDate } from '../src/service/port/service-clock.ts';
import type { ServiceClock } from '../src/service/port/service-clock.ts';
import type { CorrelationClock } from '../src/rules/correlation/correlation.ts';

/** The Date header has whole seconds. */
const dateResolutionMs = 1_000;

/** Without a reading, the clocks are taken to agree. */
export const assumedClock: CorrelationClock = { offsetMs: 0, uncertaintyMs: 2_000 };

/** A reading from a slow answer is a poor one; instead of none it counts where it shows that the clocks differ. */
export function isBetterReading(reading: CorrelationClock, known: CorrelationClock): boolean {
  if (reading.uncertaintyMs < known.uncertaintyMs) return true;
  return known === assumedClock && Math.abs(reading.offsetMs) > reading.uncertaintyMs + known.uncertaintyMs;
}

/** How far the service's clock is from the one that the attempts were stamped with, and how surely that is known. */
export function readClock(date: ServiceDate | null, clock: ServiceClock, nowReal: number): CorrelationClock | undefined {
  if (date === null) return undefined;
  const at = (realMs: number) => clock.now() + (realMs - nowReal) * clock.speed;
  const [sentAt, receivedAt] = [at(date.sentAtMs), at(date.receivedAtMs)];
  const halfTrip = (receivedAt - sentAt) / 2;
  return {
    offsetMs: Math.round(date.serverMs + dateResolutionMs / 2 - (sentAt + halfTrip)),
    uncertaintyMs: Math.ceil(halfTrip + dateResolutionMs / 2),
  };
}
