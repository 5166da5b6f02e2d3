const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const longestMs = 366 * unitMs.d;

/** Reads `90s`, `5m`, `2h` or `1d` as milliseconds; null for anything else, and for more than a year. */
export function parseDuration(text: unknown): number | null {
  if (typeof text !== 'string') return null;
  const match = /^(\d{1,9}(?:\.\d{1,3})?)\s?([smhd])$/.exec(text.trim());
  if (match === null) return null;
  const ms = Math.round(Number(match[1]) * unitMs[match[2] as keyof typeof unitMs]);
  return ms <= longestMs ? ms : null;
}
