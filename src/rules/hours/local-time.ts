import { firstThat } from '../collections.ts';
import { timeZone } from './time-zone.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** 1 January 1970 was a Thursday; weekdays count from Monday. */
const firstWeekday = 3;

/** Local date and time. */
export interface LocalTime {
  /** 0 to 23. */
  hour: number;
  /** 0 for Monday to 6 for Sunday. */
  weekday: number;
  /** `2030-01-15`. */
  date: string;
}

/** Local time in a zone at an instant; null: the zone does not exist. */
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

/** Local time of a zone in ms as if it were UTC, for arithmetic with days and hours. */
export function wallTime(at: number, zone: string): number {
  return at + timeZone(zone).offset(at) * minuteMs;
}

/** Text of a `wallTime`: `2030-11-30 17:00`. */
export function wallText(wall: number): string {
  return new Date(wall).toISOString().slice(0, 16).replace('T', ' ');
}

/** Instants with this local time (a `wallTime`): two where clocks go back over it; the first one after it where they go forward. */
export function instantsOf(wall: number, zone: string): number[] {
  const place = timeZone(zone);
  const offsets = new Set([place.offset(wall - dayMs), place.offset(wall + dayMs)]);
  const exact = [...offsets].map((offset) => wall - offset * minuteMs).filter((at) => wallTime(at, zone) === wall);
  if (exact.length > 0) return exact.toSorted((a, b) => a - b);
  return [firstThat((at) => wallTime(at, zone) >= wall, wall - 2 * dayMs, wall + 2 * dayMs)];
}
