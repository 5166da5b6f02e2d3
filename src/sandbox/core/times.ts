import moment from 'moment-timezone';

export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

export function unixSeconds(epochMs: number): number {
  return Math.floor(epochMs / 1000);
}

export function isZone(name: string): boolean {
  return zoneOf(name) !== null;
}

/** Weekday (0: Monday) and minute of the day in a zone; null for an unknown zone. */
export function localTime(zone: string, at: number): { weekday: number; minute: number } | null {
  const data = zoneOf(zone);
  if (data === null) return null;
  // A UTC clock shifted by the offset shows the zone's time.
  const shown = new Date(at - data.utcOffset(at) * 60_000);
  return { weekday: (shown.getUTCDay() + 6) % 7, minute: shown.getUTCHours() * 60 + shown.getUTCMinutes() };
}

/** Time of day in a zone as `HH:MM`; null for an unknown zone. */
export function timeOfDay(zone: string, at: number): string | null {
  const local = localTime(zone, at);
  if (local === null) return null;
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${two(Math.floor(local.minute / 60))}:${two(local.minute % 60)}`;
}

/** Exact name except case: the package also takes an underscore for a slash. */
function zoneOf(name: string): ReturnType<typeof moment.tz.zone> {
  const data = moment.tz.zone(name);
  return data?.name.toLowerCase() === name.toLowerCase() ? data : null;
}
