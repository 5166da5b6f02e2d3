import { createHash } from 'node:crypto';
import { isStorable } from '../../rules/text.ts';

const isoInstant = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/i;
const withZone = /(Z|[+-]\d{2}:?\d{2})$/i;

/** As seconds this is the year 5138, as milliseconds 1973: between them no call's time is read wrongly. */
const firstMilliseconds = 100_000_000_000;

/**
 * Epoch milliseconds of a time in any form that a record may use: ISO 8601 (without a zone it is UTC), epoch seconds or
 * epoch milliseconds, as a number or in digits. Null for anything else, zero included, which stands for "not yet".
 */
export function parseServiceTime(value: unknown): number | null {
  if (typeof value === 'number') return fromEpoch(value);
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return fromEpoch(Number(text));
  if (!isoInstant.test(text)) return null;
  const ms = Date.parse(withZone.test(text.slice(10)) ? text : `${text}Z`);
  return Number.isNaN(ms) ? null : ms;
}

function fromEpoch(value: number): number | null {
  if (!Number.isFinite(value) || value <= 0 || value >= firstMilliseconds * 1000) return null;
  return Math.round(value >= firstMilliseconds ? value : value * 1000);
}

/** Ids of the service are much shorter. */
const longestId = 500;

/**
 * An id as it can be stored, compared and put into a path: one that is too long, holds a NUL or half a character, or would lead elsewhere
 * in a path gives way to its hash, so that the same id stays the same.
 */
export function storableId(id: string): string {
  const isUsable = id.length <= longestId && isStorable(id) && id !== '.' && id !== '..';
  return isUsable ? id : unreadableId(id);
}

/** An id of ours for what has none that can be used; `traits` are what it is known by. */
export function unreadableId(traits: string): string {
  return `unreadable:${createHash('sha256').update(traits, 'utf16le').digest('hex')}`;
}
