import { expect, test } from 'vitest';
import { iteratePages, readPage, type Page } from '../../../src/service/convai/pagination.ts';

async function collect(pages: Record<string, Page<number>>) {
  const asked: (string | null)[] = [];
  const items: number[] = [];
  for await (const item of iteratePages(async (cursor) => {
    asked.push(cursor);
    const page = pages[cursor ?? 'first'];
    if (page === undefined) throw new Error(`unexpected cursor ${cursor}`);
    return page;
  })) {
    items.push(item);
  }
  return { asked, items };
}

test('pages are followed by cursor to the end', async () => {
  const { asked, items } = await collect({
    first: { items: [1, 2], hasMore: true, nextCursor: 'a' },
    a: { items: [3], hasMore: true, nextCursor: 'b' },
    b: { items: [4], hasMore: false, nextCursor: null },
  });
  expect(items).toEqual([1, 2, 3, 4]);
  expect(asked).toEqual([null, 'a', 'b']);
});

test('a list without any paging fields is one page', async () => {
  expect((await collect({ first: { items: [1], hasMore: null, nextCursor: null } })).items).toEqual([1]);
});

test('a cursor alone is enough to go on', async () => {
  const { items } = await collect({
    first: { items: [1], hasMore: null, nextCursor: 'a' },
    a: { items: [2], hasMore: null, nextCursor: null },
  });
  expect(items).toEqual([1, 2]);
});

test('has_more without a cursor ends the list', async () => {
  expect((await collect({ first: { items: [1], hasMore: true, nextCursor: null } })).asked).toEqual([null]);
});

test('a cursor after has_more false is not followed', async () => {
  expect((await collect({ first: { items: [1], hasMore: false, nextCursor: 'a' } })).asked).toEqual([null]);
});

test('a repeated cursor ends the list, also when other cursors stand between', async () => {
  const { asked } = await collect({
    first: { items: [1], hasMore: true, nextCursor: 'a' },
    a: { items: [2], hasMore: true, nextCursor: 'b' },
    b: { items: [3], hasMore: true, nextCursor: 'a' },
  });
  expect(asked).toEqual([null, 'a', 'b']);
});

test('an endless row of empty pages with fresh cursors ends', async () => {
  let n = 0;
  const iterator = iteratePages(async () => ({ items: [] as number[], hasMore: true, nextCursor: `c${(n += 1)}` }));
  expect(await iterator.next()).toEqual({ done: true, value: undefined });
  expect(n).toBe(20);
});

test('one empty page in between does not end the list', async () => {
  const { items } = await collect({
    first: { items: [], hasMore: true, nextCursor: 'a' },
    a: { items: [1], hasMore: false, nextCursor: null },
  });
  expect(items).toEqual([1]);
});

test.each([
  [[1], { items: [1], hasMore: null, nextCursor: null }],
  [{ things: [] }, { items: [], hasMore: null, nextCursor: null }],
  [
    { things: [1], has_more: true, next_cursor: 'x' },
    { items: [1], hasMore: true, nextCursor: 'x' },
  ],
  [
    { things: [1], has_more: 'yes', next_cursor: '' },
    { items: [1], hasMore: null, nextCursor: null },
  ],
  [{ other: [1] }, undefined],
  [{ things: {} }, undefined],
  ['text', undefined],
  [null, undefined],
  [undefined, undefined],
])('reads a page from %j', (body, expected) => {
  expect(readPage(body, 'things')).toEqual(expected);
});
