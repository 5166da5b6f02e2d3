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

/** Milliseconds in the largest unit that divides them: `5m`, `90s`. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm'] as const) {
    if (ms > 0 && ms % unitMs[unit] === 0) return `${String(ms / unitMs[unit])}${unit}`;
  }
  return `${String(ms / 1000)}s`;
}
