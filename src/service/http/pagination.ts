import type { z } from 'zod';

/** One page of a list of the service. The contract names `has_more`, not the cursor (see docs/assumptions.md). */
export interface Page<Item> {
  items: Item[];
  /** Null when the list does not say. */
  hasMore: boolean | null;
  nextCursor: string | null;
}

/** A list that gives more at once is one of its own making; what follows is left to a later look, as where a list cannot be read on. */
const mostItems = 20_000;

/** A longer cursor makes an address that servers refuse. */
const longestCursor = 4_096;

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
 * Reads a list in any of its shapes: `{ [key]: [...], has_more, [cursorKey] }`, the same without paging fields, or a
 * bare array. Undefined when there is no list in it. Of more items than can be handled only the first are there, and `hasMore` is true.
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

/** Entries that fit their schema, and the others as they came: one that is bad does not cost the list. */
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
