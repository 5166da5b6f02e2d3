import { parseJson } from '../core/json.ts';
import { refuseField } from '../schemas/validate.ts';

/** The list, filter and state that a cursor belongs to. */
export interface List {
  list: string;
  generation: number;
}

interface Place {
  position: number;
  key?: string;
}

export function writeCursor({ list, generation }: List, { position, key }: Place): string {
  const parts = [list, generation, position, ...(key === undefined ? [] : [key])];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Null without a cursor. Throws `InvalidRequest` for one of another list. */
export function readCursor(text: string | undefined, { list, generation }: List, parameter = 'cursor'): Place | null {
  if (text === undefined) return null;
  const value: unknown = parseJson(Buffer.from(text, 'base64url').toString('utf8'));
  const [ofList, ofGeneration, position, key] = Array.isArray(value) ? (value as unknown[]) : [];
  if (ofList === list && ofGeneration === generation && Number.isSafeInteger(position) && Number(position) >= 0)
    return { position: Number(position), ...(typeof key === 'string' ? { key } : {}) };
  throw refuseField(['query', parameter], 'This cursor is not from this list with this filter; start again without one.', 'invalid_cursor');
}

/** One page and the next cursor (null at the end). New items move no others, and the cursor's item may be gone. */
export function pageOf<Item>(
  items: Iterable<Item | undefined>,
  page: {
    list: List;
    cursor: string | undefined;
    parameter?: string;
    size: number;
    ascending?: boolean;
    /** Sort key before position; the cursor contains both. */
    keyOf?: (item: Item) => string;
    isWanted?: (item: Item) => boolean;
  },
): { items: Item[]; cursor: string | null } {
  const { list, size, ascending = false, keyOf, isWanted } = page;
  const after = readCursor(page.cursor, list, page.parameter);
  const compare = (a: Place, b: Place): number => {
    const byKey = compareText(a.key ?? '', b.key ?? '');
    return (ascending ? 1 : -1) * (byKey === 0 ? a.position - b.position : byKey);
  };
  const rows: { item: Item; place: Place }[] = [];
  let position = -1;
  for (const item of items) {
    position += 1;
    if (item === undefined) continue;
    const place = keyOf === undefined ? { position } : { position, key: keyOf(item) };
    if ((after === null || compare(place, after) > 0) && isWanted?.(item) !== false) rows.push({ item, place });
  }
  rows.sort((a, b) => compare(a.place, b.place));
  const shown = rows.slice(0, size);
  const last = rows.length > size ? shown.at(-1) : undefined;
  return { items: shown.map(({ item }) => item), cursor: last === undefined ? null : writeCursor(list, last.place) };
}

/** Independent of the machine's locale. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
