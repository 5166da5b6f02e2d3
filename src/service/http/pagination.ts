import type { z } from 'zod';

/** The contract names `has_more`, not the cursor (see docs/assumptions.md). */
export interface Page<Item> {
  items: Item[];
  /** Null: not stated. */
  hasMore: boolean | null;
  nextCursor: string | null;
}

/** Most items taken from one answer; a later read gets the rest. */
const mostItems = 20_000;

/** Servers refuse addresses with longer cursors. */
const longestCursor = 4_096;

/** Empty pages in a row after which a list is not followed further. */
const mostEmptyPages = 20;

/**
 * Ends silently when it cannot page on: no cursor, a repeated one, or only empty pages. Callers that need the whole list read page by page.
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
 * Accepts `{ [key]: [...], has_more, [cursorKey] }`, the same without paging fields, or a bare array; else undefined. Beyond 20,000 items
 * the rest is cut and `hasMore` is true.
 */
export function readPage(body: unknown, key: string, cursorKey = 'next_cursor'): Page<unknown> | undefined {
  if (Array.isArray(body)) return bounded({ items: body, hasMore: null, nextCursor: null });
  if (typeof body !== 'object' || body === null) return undefined;
  const fields = body as Record<string, unknown>;
  const items = fields[key];
  if (!Array.isArray(items)) return undefined;
  const hasMore = fields['has_more'];
  const nextCursor = fields[cursorKey];
  const isCursor = typeof nextCursor === 'string' && nextCursor !== '';
  const isTooLong = isCursor && nextCursor.length > longestCursor;
  return bounded({
    items,
    hasMore: isTooLong ? true : typeof hasMore === 'boolean' ? hasMore : null,
    nextCursor: isCursor && !isTooLong ? nextCursor : null,
  });
}

function bounded(page: Page<unknown>): Page<unknown> {
  if (page.items.length <= mostItems) return page;
  return { items: page.items.slice(0, mostItems), hasMore: true, nextCursor: null };
}

/** One bad entry does not cost the list. */
export function splitUsable<Schema extends z.ZodType>(
  items: readonly unknown[],
  schema: Schema,
): { usable: z.output<Schema>[]; unusable: unknown[] } {
  const usable: z.output<Schema>[] = [];
  const unusable: unknown[] = [];
  for (const item of items) {
    const parsed = schema.safeParse(item);
    if (parsed.success) usable.push(parsed.data);
    else unusable.push(item);
  }
  return { usable, unusable };
}
