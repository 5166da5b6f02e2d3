import { expect } from 'vitest';
import {
  createDraft,
  deleteDraft,
  draftLastsMs,
  findDraft,
  keepDraftList,
  listDrafts,
  readDraftList,
  saveDraft,
  sweepDrafts,
} from '../../../src/ledger/console/drafts.ts';
import { noon } from '../scenario.ts';
import type { Store } from '../../../src/ledger/tx.ts';
import { test, openLedger } from '../ledger-test.ts';

const hourMs = 3_600_000;

async function* chunksOf(bytes: Buffer, size: number) {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

/** Every byte value, so that nothing reads them as text. */
const listOf = (length: number, seed: number) => Buffer.from(Array.from({ length }, (_, at) => (at * 7 + seed) % 256));

function keep(store: Store, bytes: Buffer, nowReal = noon) {
  return keepDraftList(store, { name: 'list.csv', content: chunksOf(bytes, 70_001), nowReal });
}

async function contentOf(store: Store, list: Parameters<typeof readDraftList>[1]): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of readDraftList(store, list)) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function piecesIn({ db }: Store): Promise<number[]> {
  const rows = await db.selectFrom('draft_pieces').select('bytes').execute();
  return rows.map(({ bytes }) => bytes.length).sort((one, other) => one - other);
}

test.from(openLedger)('a list is kept in pieces of at most 1 MB and read back byte for byte', async (store) => {
  const bytes = listOf(2_300_000, 3);
  const list = await keep(store, bytes);
  expect(list).toMatchObject({ name: 'list.csv', bytes: 2_300_000 });
  expect(await piecesIn(store)).toEqual([300_000, 1_000_000, 1_000_000]);
  expect((await contentOf(store, list)).equals(bytes)).toBe(true);
});

test.from(openLedger)('a draft is saved and found, and its old list goes when another one is sent', async (store) => {
  const list = await keep(store, listOf(1000, 1));
  const draft = await createDraft(store, { tokenId: 'console', list, settings: '{}', nowReal: noon });
  const other = await keep(store, listOf(500, 2));
  expect(await saveDraft(store, draft, { settings: '{"a":1}', list: other, nowReal: noon + 5 })).toBe('saved');
  // What was read before has changed since.
  expect(await saveDraft(store, draft, { settings: '{}', nowReal: noon + 6 })).toBe('changed');
  expect(await findDraft(store, draft.draftId, noon + 5)).toEqual({
    ...draft,
    settings: '{"a":1}',
    list: other,
    touchedReal: noon + 5,
  });
  expect(await piecesIn(store)).toEqual([500]);
  await deleteDraft(store, draft.draftId);
  expect(await findDraft(store, draft.draftId, noon)).toBeUndefined();
  expect(await saveDraft(store, draft, { settings: '{}', nowReal: noon })).toBe('gone');
  expect(await piecesIn(store)).toEqual([]);
});

test.from(openLedger)('a draft lasts a week from when it was touched, and a list that no draft names an hour', async (store) => {
  const begin = async (seed: number) =>
    createDraft(store, {
      tokenId: 'console',
      list: await keep(store, listOf(seed, seed)),
      settings: '{}',
      nowReal: noon,
    });
  const forgotten = await begin(11);
  const touched = await begin(12);
  await saveDraft(store, touched, { settings: '{}', nowReal: noon + hourMs });
  const later = noon + draftLastsMs;
  expect((await listDrafts(store, later)).map(({ draftId }) => draftId)).toEqual([touched.draftId]);
  expect(await findDraft(store, forgotten.draftId, later)).toBeUndefined();
  await keep(store, listOf(13, 1), later);
  await sweepDrafts(store, later);
  expect(await piecesIn(store)).toEqual([12, 13]);
  await sweepDrafts(store, later + hourMs - 1);
  expect(await piecesIn(store)).toEqual([12, 13]);
  await sweepDrafts(store, later + hourMs);
  expect(await piecesIn(store)).toEqual([]);
});
