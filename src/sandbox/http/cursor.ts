import { refuseField } from '../schemas/validate.ts';

/** A place in one list of one life of the sandbox; opaque to callers. */
export interface Cursor {
  list: string;
  generation: number;
  position: number;
  /** By what the list is sorted, where that is not the position alone. */
  key?: string;
}

export function writeCursor({ list, generation, position, key }: Cursor): string {
  const parts = [list, generation, position, ...(key === undefined ? [] : [key])];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** The position in a cursor of this very list. Throws `InvalidRequest` for any other. */
export function readCursor(
  text: string | undefined,
  list: string,
  generation: number,
  parameter = 'cursor',
): number | null {
  return openCursor(text, list, generation, parameter)?.position ?? null;
}

/** All of a cursor of this very list; null without one. Throws `InvalidRequest` for any other. */
export function openCursor(
  text: string | undefined,
  list: string,
  generation: number,
  parameter = 'cursor',
): Cursor | null {
  if (text === undefined) return null;
  const parsed = parse(text);
  if (parsed !== null && parsed.list === list && parsed.generation === generation) return parsed;
  throw refuseField(
    ['query', parameter],
    'This cursor is not from this list with this filter; start again without one.',
    'invalid_cursor',
  );
}

function parse(text: string): Cursor | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (!Array.isArray(value)) return null;
    const [list, generation, position, key] = value as unknown[];
    if (
      typeof list !== 'string' ||
      typeof generation !== 'number' ||
      !Number.isSafeInteger(position) ||
      Number(position) < 0
    )
      return null;
    return { list, generation, position: Number(position), ...(typeof key === 'string' ? { key } : {}) };
  } catch {
    return null;
  }
}
