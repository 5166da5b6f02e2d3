import { parseJson } from '../core/json.ts';
import { refuseField } from '../schemas/validate.ts';

export interface Cursor {
  list: string;
  generation: number;
  position: number;
  key?: string;
}

export function writeCursor({ list, generation, position, key }: Cursor): string {
  const parts = [list, generation, position, ...(key === undefined ? [] : [key])];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** All of a cursor of this very list; null without one. Throws `InvalidRequest` for any other. */
export function readCursor(
  text: string | undefined,
  { list, generation }: Pick<Cursor, 'list' | 'generation'>,
  parameter = 'cursor',
): Cursor | null {
  if (text === undefined) return null;
  const parsed = parse(text);
  if (parsed !== null && parsed.list === list && parsed.generation === generation) return parsed;
  throw refuseField(['query', parameter], 'This cursor is not from this list with this filter; start again without one.', 'invalid_cursor');
}

function parse(text: string): Cursor | null {
  const value = parseJson(Buffer.from(text, 'base64url').toString('utf8'));
  if (!Array.isArray(value)) return null;
  const [list, generation, position, key] = value as unknown[];
  if (typeof list !== 'string' || typeof generation !== 'number') return null;
  if (typeof position !== 'number' || !Number.isSafeInteger(position) || position < 0) return null;
  return { list, generation, position, ...(typeof key === 'string' ? { key } : {}) };
}

/** One page of a list, newest first, and where the next begins. Items keep their place, so that what comes meanwhile moves none of them. */
export function listedPage<Item>(
  oldestFirst: readonly Item[],
  page: {
    list: Pick<Cursor, 'list' | 'generation'>;
    cursor: string | undefined;
    size: number;
    isWanted: (item: Item) => boolean;
  },
): { items: Item[]; next_cursor: string | null; has_more: boolean } {
  const before = readCursor(page.cursor, page.list)?.position ?? Infinity;
  const found = [...oldestFirst.entries()].filter(([place, item]) => place < before && page.isWanted(item)).toReversed();
  const shown = found.slice(0, page.size);
  const hasMore = found.length > shown.length;
  const nextCursor = hasMore ? writeCursor({ ...page.list, position: shown.at(-1)?.[0] ?? 0 }) : null;
  return { items: shown.map(([, item]) => item), next_cursor: nextCursor, has_more: hasMore };
}
