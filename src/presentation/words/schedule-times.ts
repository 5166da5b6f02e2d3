import { DateTime } from 'luxon';
import { timeZone as tableZone } from '../../rules/time-zone.ts';

/** An ISO instant as people of the zone read it. */
export function localMinute(iso: string, timeZone: string | null): string {
  return DateTime.fromISO(iso, { zone: tableZone(timeZone ?? 'UTC'), locale: 'en-US' }).toFormat('ccc yyyy-MM-dd HH:mm');
}

/** The next firings, as ISO instants, as people of the zone read them. */
export function nextTimes({ nextAt, timeZone }: { nextAt: readonly string[]; timeZone: string | null }, most: number): string {
  return nextAt
    .slice(0, most)
    .map((at) => localMinute(at, timeZone))
    .join(', ');
}

/** The same instant, written as one of the zone. */
export function inZone(iso: string | null, timeZone: string | null): string | null {
  if (iso === null) return null;
  return DateTime.fromISO(iso, { zone: tableZone(timeZone ?? 'UTC') }).toISO({ suppressMilliseconds: true });
}
