import { DateTime } from 'luxon';

/** Reads a date and time with its offset from UTC, such as `2030-11-30T17:00:00-05:00`, as epoch milliseconds; null for anything else. */
export function parseInstant(value: unknown): number | null {
  if (typeof value !== 'string' || !/T\d\d:\d\d.*(?:Z|[+-]\d\d:\d\d)$/.test(value)) return null;
  const instant = DateTime.fromISO(value, { setZone: true });
  return instant.isValid ? instant.toMillis() : null;
}

/** `2026-11-30 17:05 UTC`. */
export function instantText(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
