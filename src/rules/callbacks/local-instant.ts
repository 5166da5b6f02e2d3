import { firstThat } from '../collections.ts';
import { timeZone } from '../time-zone.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** What the clock on the wall of a place shows: milliseconds as if that were UTC, so that days and hours can be reckoned with. */
export function wallTime(at: number, zone: string): number {
  return at + timeZone(zone).offset(at) * minuteMs;
}

/**
 * The instants at which the wall of a place shows this time: two where clocks are set back over it, and where they are set forward over it
 * the first one that exists after it. `wall` as `wallTime` answers it.
 */
export function instantsOf(wall: number, zone: string): number[] {
  const place = timeZone(zone);
  const offsets = new Set([place.offset(wall - dayMs), place.offset(wall + dayMs)]);
  const exact = [...offsets].map((offset) => wall - offset * minuteMs).filter((at) => wallTime(at, zone) === wall);
  if (exact.length > 0) return exact.toSorted((a, b) => a - b);
  return [firstThat((at) => wallTime(at, zone) >= wall, wall - 2 * dayMs, wall + 2 * dayMs)];
}
