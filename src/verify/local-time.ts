export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;

/** What a clock on the wall of a place shows. */
export interface LocalTime {
  /** `2026-12-25` */
  date: string;
  /** `mon` */
  weekday: string;
  /** Since midnight. */
  minute: number;
}

const formats = new Map<string, Intl.DateTimeFormat | null>();
/** By zone and minute since the epoch: calls of one campaign ask for few. */
const known = new Map<string, Map<number, LocalTime>>();
const mostKnown = 20_000;

/** What a clock in the zone shows at an instant; null: there is no such zone. */
export function localTime(zone: string, at: number): LocalTime | null {
  const minute = Math.floor(at / minuteMs);
  let ofZone = known.get(zone);
  const found = ofZone?.get(minute);
  if (found !== undefined) return found;
  const format = formatOf(zone);
  if (format === null) return null;
  const time = readParts(format.formatToParts(minute * minuteMs));
  if (ofZone === undefined) known.set(zone, (ofZone = new Map()));
  if (ofZone.size >= mostKnown) ofZone.clear();
  ofZone.set(minute, time);
  return time;
}

function formatOf(zone: string): Intl.DateTimeFormat | null {
  let format = formats.get(zone);
  if (format !== undefined) return format;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      weekday: 'short',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    });
  } catch {
    format = null;
  }
  formats.set(zone, format);
  return format;
}

function readParts(parts: readonly Intl.DateTimeFormatPart[]): LocalTime {
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? '';
  return {
    date: `${part('year')}-${part('month')}-${part('day')}`,
    weekday: part('weekday').toLowerCase(),
    minute: Number(part('hour')) * 60 + Number(part('minute')),
  };
}

/** The first minute after `at` in which the zone has another date; null: there is no such zone. */
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
