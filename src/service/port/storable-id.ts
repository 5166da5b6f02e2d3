import { createHash } from 'node:crypto';

/** Ids of the service are much shorter. */
const longestId = 500;

/**
 * An id as it can be stored, compared and put into a path: one that is too long, holds a NUL or half a character, or would lead elsewhere
 * in a path gives way to its hash, so that the same id stays the same.
 */
export function storableId(id: string): string {
  const isUsable = id.length <= longestId && !id.includes('\0') && isWellFormed(id) && id !== '.' && id !== '..';
  return isUsable ? id : unreadableId(id);
}

/** An id of ours for what has none that can be used; `traits` are what it is known by. */
export function unreadableId(traits: string): string {
  return `unreadable:${createHash('sha256').update(traits, 'utf16le').digest('hex')}`;
}

/** Whether a text holds no half of a character (a lone surrogate), which UTF-8 and with it databases and addresses cannot carry. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
