const formats = new Map<string, Intl.DateTimeFormat>();

/** The time of day in a zone as `HH:MM`; null when the zone is not known here. */
export function timeOfDay(zone: string, epochMs: number): string | null {
  let format = formats.get(zone);
  if (format === undefined) {
    try {
      format = new Intl.DateTimeFormat('en-GB', {
        timeZone: zone,
        hour: '2-digit',
        minute: '2-digit',
        hourCycle: 'h23',
      });
    } catch {
      return null;
    }
    formats.set(zone, format);
  }
  return format.format(epochMs);
}
