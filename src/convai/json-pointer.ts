/** The value at a JSON pointer (RFC 6901); undefined where the document has none. Never throws. */
export function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** The value at a pointer as text, where it is text, a number or a truth value and not blank; else null. */
export function textAt(document: unknown, pointer: string): string | null {
  const value = valueAt(document, pointer);
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : null;
}
