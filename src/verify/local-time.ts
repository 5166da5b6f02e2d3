import moment from 'moment-timezone';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

export interface LocalTime {
  /** `2026-12-25` */
  date: string;
  /** `mon` */
  weekday: string;
  /** Since midnight. */
  minute: number;
}

/** By zone and minute since the epoch; calls of one campaign need few. */
const known = new Map<string, Map<number, LocalTime>>();
const mostKnown = 20_000;

/** Null: no such zone. */
export function localTime(zone: string, at: number): LocalTime | null {
  const minute = Math.floor(at / minuteMs);
  let ofZone = known.get(zone);
  const found = ofZone?.get(minute);
  if (found !== undefined) return found;
  if (!isZone(zone)) return null;
  const time = readClock(moment.tz(minute * minuteMs, zone));
  if (ofZone === undefined) known.set(zone, (ofZone = new Map()));
  if (ofZone.size >= mostKnown) ofZone.clear();
  ofZone.set(minute, time);
  return time;
}

/** The package accepts underscores for slashes, which names no zone. */
function isZone(name: string): boolean {
  return moment.tz.zone(name)?.name.toLowerCase() === name.toLowerCase();
}

function readClock(clock: moment.Moment): LocalTime {
  return {
    date: clock.format('YYYY-MM-DD'),
    weekday: weekdays[clock.isoWeekday() - 1] ?? '',
    minute: clock.hours() * 60 + clock.minutes(),
  };
}

/** The first minute after `at` with another date in the zone; null: no such zone. */
export function nextMidnight(zone: string, at: number): number | null {
  const today = localTime(zone, at)?.date;
  if (today === undefined) return null;
  let before = Math.floor(at / minuteMs);
  let after = before + 26 * 60;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (localTime(zone, middle * minuteMs)?.date === today) before = middle;
    else after = middle;
  }
  return after * minuteMs;
}
