export interface Page<Item> {
  items: Item[];
  /** Null when the list does not say. */
  hasMore: boolean | null;
  nextCursor: string | null;
}

/** Pages without a single item, in a row, after which a list that promises more is not believed. */
const mostEmptyPages = 20;

/**
 * Items of all pages. It ends where the list ends or can no longer be followed: no cursor, a cursor seen before, or
 * nothing but empty pages. Who must know whether the list was read to its end reads page by page.
 */
export async function* iteratePages<Item>(
  fetchPage: (cursor: string | null) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  const seen = new Set<string>();
  let cursor: string | null = null;
  let emptyPages = 0;
  for (;;) {
    const page: Page<Item> = await fetchPage(cursor);
    yield* page.items;
    emptyPages = page.items.length === 0 ? emptyPages + 1 : 0;
    cursor = page.nextCursor;
    if (cursor === null || page.hasMore === false || seen.has(cursor) || emptyPages >= mostEmptyPages) return;
    seen.add(cursor);
  }
}

/**
 * Reads a list in any of its shapes: `{ [key]: [...], has_more, next_cursor }`, the same without paging fields, or a
 * bare array. Undefined when there is no list in it.
 */
export function readPage(body: unknown, key: string): Page<unknown> | undefined {
  if (Array.isArray(body)) return { items: body, hasMore: null, nextCursor: null };
  if (typeof body !== 'object' || body === null) return undefined;
  const fields = body as Record<string, unknown>;
  const items = fields[key];
  if (!Array.isArray(items)) return undefined;
  const hasMore = fields['has_more'];
  const nextCursor = fields['next_cursor'];
  return {
    items,
    hasMore: typeof hasMore === 'boolean' ? hasMore : null,
    nextCursor: typeof nextCursor === 'string' && nextCursor !== '' ? nextCursor : null,
  };
}
