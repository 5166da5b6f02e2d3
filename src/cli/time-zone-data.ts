/** Release days of the IANA time-zone data, from its NEWS file; a release that is not listed counts from its year's first day. */
const releases: Record<string, string> = {
  '2023a': '2023-03-22',
  '2023b': '2023-03-23',
  '2023c': '2023-03-28',
  '2023d': '2023-12-21',
  '2024a': '2024-02-01',
  '2024b': '2024-09-04',
  '2025a': '2025-01-15',
  '2025b': '2025-03-22',
  '2025c': '2025-12-10',
};

/** Days since a release such as `2025c` came out, or null when its name is not of that form. An unknown release looks older, not newer. */
export function timeZoneDataAgeDays(release: string, nowMs: number): number | null {
  const year = /^(\d{4})[a-z]+$/.exec(release)?.[1];
  if (year === undefined) return null;
  const releasedMs = Date.parse(releases[release] ?? `${year}-01-01`);
  return Math.max(0, Math.floor((nowMs - releasedMs) / 86_400_000));
}
