const formats = new Map<string, Intl.DateTimeFormat>();

/** What a clock on a wall of the zone shows, as Node tells it, such as `2030-03-09T17:00`. It shares nothing with the program. */
export function wallOf(at: number, zone: string): string {
  let format = formats.get(zone);
  if (format === undefined) {
    // To make one takes longer than to ask it a hundred times.
    format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
    formats.set(zone, format);
  }
  return format.format(at).replace(' ', 'T');
}

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** The day of the week of a wall's date. */
export function weekdayOf(wall: string): string {
  return days[new Date(`${wall.slice(0, 10)}T00:00Z`).getUTCDay()] ?? '';
}
