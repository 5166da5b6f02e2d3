import { timeOfDay } from '../core/zone-time.ts';
import type { CallingHours } from './conduct-limits.ts';

export type HoursVerdict = { within: true } | { within: false; zone: string; localTime: string } | null;

/** Whether it is within the hours in all of the zones; null when that cannot be told. */
export function judgeHours(hours: CallingHours, zones: readonly string[], at: number): HoursVerdict {
  if (zones.length === 0) return null;
  for (const zone of zones) {
    const localTime = timeOfDay(zone, at);
    if (localTime === null) return null;
    if (localTime < hours.start || localTime >= hours.end) return { within: false, zone, localTime };
  }
  return { within: true };
}
