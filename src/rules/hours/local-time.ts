import { firstThat } from '../collections.ts';
import { timeZone } from './time-zone.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** 1 January 1970 was a Thursday; weekdays count from Monday. */
const firstWeekday = 3;

/** What a clock and a calendar on the wall show. */
export interface LocalTime {
  /** 0 to 23. */
  hour: number;
  /** 0 for Monday to 6 for Sunday. */
  weekday: number;
  /** `2030-01-15`. */
  date: string;
}

/** Local time in the zone at an instant; null for a zone that does not exist. */
export function localTime(instant: number, zone: string): LocalTime | null {
  const offset = timeZone(zone).offset(instant);
  if (Number.isNaN(offset)) return null;
  const local = instant + offset * minuteMs;
  const day = Math.floor(local / dayMs);
  return {
    hour: Math.floor((local - day * dayMs) / hourMs),
    weekday: (((day + firstWeekday) % 7) + 7) % 7,
    date: new Date(local).toISOString().slice(0, 10),
  };
}

/** What the clock on the wall of a place shows: milliseconds as if that were UTC, so that days and hours can be reckoned with. */
export function wallTime(at: number, zone: string): number {
  return at + timeZone(zone).offset(at) * minuteMs;
}

/** A time as `wallTime` answers it: `2030-11-30 17:00`. */
export function wallText(wall: number): string {
  return new Date(wall).toISOString().slice(0, 16).replace('T', ' ');
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
