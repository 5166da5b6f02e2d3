import { refuseField } from '../schemas/validate.ts';

/** A place in one list of one life of the sandbox; opaque to callers. */
export interface Cursor {
  list: string;
  generation: number;
  position: number;
}

export function writeCursor({ list, generation, position }: Cursor): string {
  return Buffer.from(JSON.stringify([list, generation, position])).toString('base64url');
}

/** The position in a cursor of this very list. Throws `InvalidRequest` for any other. */
export function readCursor(text: string | undefined, list: string, generation: number): number | null {
  if (text === undefined) return null;
  const parsed = parse(text);
  if (parsed !== null && parsed.list === list && parsed.generation === generation) return parsed.position;
  throw refuseField(
    ['query', 'cursor'],
    'This cursor is not from this list with this filter; start again without one.',
    'invalid_cursor',
  );
}

function parse(text: string): Cursor | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (!Array.isArray(value)) return null;
    const [list, generation, position] = value as unknown[];
    if (
      typeof list !== 'string' ||
      typeof generation !== 'number' ||
      !Number.isInteger(position) ||
      Number(position) < 0
    )
      return null;
    return { list, generation, position: Number(position) };
  } catch {
    return null;
  }
}
