/** Release days of the IANA time-zone data, from its NEWS file; of 2026f the day of its archive. */
const releases: Readonly<Record<string, string>> = {
  '2023a': '2023-03-22',
  '2023b': '2023-03-23',
  '2023c': '2023-03-28',
  '2023d': '2023-12-21',
  '2024a': '2024-02-01',
  '2024b': '2024-09-04',
  '2025a': '2025-01-15',
  '2025b': '2025-03-22',
  '2025c': '2025-12-10',
  '2026a': '2026-03-01',
  '2026b': '2026-04-22',
  '2026c': '2026-07-08',
  '2026d': '2026-09-11',
  '2026f': '2026-10-28',
};
const newestKnown = '2026f';

/** `newer` and `superseded`: a release whose day is not known here, after or before the newest that is. */
export type TimeZoneDataAge = { kind: 'dated'; days: number } | { kind: 'newer' } | { kind: 'superseded'; by: string };

/** How old a release such as `2025c` is, or null when its name is not of that form. */
export function timeZoneDataAge(release: string, nowMs: number): TimeZoneDataAge | null {
  if (!/^\d{4}[a-z]+$/.test(release)) return null;
  const released = releases[release];
  if (released === undefined) return release > newestKnown ? { kind: 'newer' } : { kind: 'superseded', by: newestKnown };
  return { kind: 'dated', days: Math.max(0, Math.floor((nowMs - Date.parse(released)) / 86_400_000)) };
}

const staleAfterDays = 183;

/** Countries change their clocks at short notice: data of half a year ago, or behind a release that is known, misses some. */
export function isOldZoneData(age: TimeZoneDataAge): boolean {
  return age.kind === 'superseded' || (age.kind === 'dated' && age.days > staleAfterDays);
}

/** What to know of the data before a start. */
export function zoneDataWarnings(release: string, nowMs: number): string[] {
  const age = timeZoneDataAge(release, nowMs);
  if (age !== null && !isOldZoneData(age)) return [];
  return [`the time-zone data is ${release}, and clock changes since then are missing: update Carillon, or the package moment-timezone`];
}
