import { createHash } from 'node:crypto';
import { isStorable } from '../../rules/text.ts';

const isoInstant = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/i;
const withZone = /(Z|[+-]\d{2}:?\d{2})$/i;

/** As seconds the year 5138, as milliseconds 1973: in between, no call's time is misread. */
const firstMilliseconds = 100_000_000_000;

/**
 * Epoch ms of ISO 8601 (UTC without a zone), epoch seconds or epoch ms, as a number or in digits. Null for anything else, and for zero,
 * which means "not yet".
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

/** Real ids are much shorter. */
const longestId = 500;

/**
 * An id that can be stored, compared and put into a path. One too long, with a NUL or half a character, or changing the path becomes its
 * hash, so equal ids stay equal.
 */
export function storableId(id: string): string {
  const isUsable = id.length <= longestId && isStorable(id) && id !== '.' && id !== '..';
  return isUsable ? id : unreadableId(id);
}

/** An id of ours for an entry without a usable one, hashed from its `traits`. */
export function unreadableId(traits: string): string {
  return `unreadable:${createHash('sha256').update(traits, 'utf16le').digest('hex')}`;
}
