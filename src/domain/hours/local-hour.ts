import { timeZone } from '../time-zone.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The hour, 0 to 23, that a clock in the zone shows at an instant; null for a zone that does not exist. */
export function localHour(instant: number, zone: string): number | null {
  const offset = timeZone(zone).offset(instant);
  if (Number.isNaN(offset)) return null;
  const local = (((instant + offset * minuteMs) % dayMs) + dayMs) % dayMs;
  return Math.floor(local / hourMs);
}
