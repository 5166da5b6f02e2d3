import { DateTime } from 'luxon';
import { timeZone as tableZone } from '../../rules/hours/time-zone.ts';

/** Parses a date and time with UTC offset, such as `2030-11-30T17:00:00-05:00`, to epoch ms; null otherwise. */
export function parseInstant(value: unknown): number | null {
  if (typeof value !== 'string' || !/T\d\d:\d\d.*(?:Z|[+-]\d\d:\d\d)$/.test(value)) return null;
  const instant = DateTime.fromISO(value, { setZone: true });
  return instant.isValid ? instant.toMillis() : null;
}

/** `2026-11-30 17:05 UTC`. */
export function instantText(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const longestMs = 366 * unitMs.d;

/** Parses `90s`, `5m`, `2h` or `1d` to ms; null otherwise, and above a year. */
export function parseDuration(text: unknown): number | null {
  if (typeof text !== 'string') return null;
  const match = /^(\d{1,9}(?:\.\d{1,3})?)\s?([smhd])$/.exec(text.trim());
  if (match === null) return null;
  const ms = Math.round(Number(match[1]) * unitMs[match[2] as keyof typeof unitMs]);
  return ms <= longestMs ? ms : null;
}

/** Inverse of `parseDuration`, in the largest fitting unit: `30m`. */
export function durationText(ms: number): string {
  const [unit, size] = (Object.entries(unitMs) as [string, number][]).findLast(([, unitSize]) => ms % unitSize === 0) ?? ['s', 1000];
  return `${ms / size}${unit}`;
}

const instantName = /^at$|[a-z]At$/;

type WithInstants<Value> = Value extends readonly (infer Item)[]
  ? WithInstants<Item>[]
  : Value extends object
    ? { [Name in keyof Value]: Name extends 'at' | `${string}At` ? Told<Value[Name]> : WithInstants<Value[Name]> }
    : Value;
type Told<Value> = Value extends number ? string : Value;

/**
 * Instants under names that are `at` or end in `At` become ISO 8601 UTC. Not for service records, which have names and times of their own.
 */
export function withInstants<Value>(value: Value): WithInstants<Value> {
  return JSON.parse(
    JSON.stringify(value, (name, inner: unknown) =>
      typeof inner === 'number' && instantName.test(name) ? new Date(inner).toISOString() : inner,
    ),
  ) as WithInstants<Value>;
}

export function localMinute(iso: string, timeZone: string | null): string {
  return DateTime.fromISO(iso, { zone: tableZone(timeZone ?? 'UTC'), locale: 'en-US' }).toFormat('ccc yyyy-MM-dd HH:mm');
}

/** Next scheduled runs, given as ISO instants, in local time. */
export function nextTimes({ nextAt, timeZone }: { nextAt: readonly string[]; timeZone: string | null }, most: number): string {
  return nextAt
    .slice(0, most)
    .map((at) => localMinute(at, timeZone))
    .join(', ');
}

export function inZone(iso: string | null, timeZone: string | null): string | null {
  if (iso === null) return null;
  return DateTime.fromISO(iso, { zone: tableZone(timeZone ?? 'UTC') }).toISO({ suppressMilliseconds: true });
}
