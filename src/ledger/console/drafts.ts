import { randomUUID } from 'node:crypto';
import type { Row } from '../schema.ts';
import type { Tx, Store } from '../tx.ts';

/** A campaign being composed, without its list's bytes. Instants are real time. */
export interface Draft {
  draftId: string;
  tokenId: string;
  madeReal: number;
  touchedReal: number;
  list: DraftList;
  settings: string;
}

export interface DraftList {
  listId: string;
  name: string;
  bytes: number;
}

const pieceBytes = 1_000_000;
/** A draft untouched for this long is deleted with its list. */
export const draftLastsMs = 7 * 24 * 3_600_000;
/** No upload takes this long: pieces without a draft are strays. */
const strayLastsMs = 3_600_000;

/** Stores each piece in its own transaction, so that dialling goes on. A list without a draft may be swept away. */
export async function keepDraftList(
  store: Store,
  { name, content, nowReal }: { name: string; content: AsyncIterable<Uint8Array>; nowReal: number },
): Promise<DraftList> {
  const listId = randomUUID();
  let [place, bytes] = [0, 0];
  for await (const piece of inPieces(content)) {
    const row = { list_id: listId, place, kept_real: nowReal, bytes: piece };
    await store.transaction((tx) => tx.insertInto('draft_pieces').values(row).execute());
    place += 1;
    bytes += piece.length;
  }
  return { listId, name, bytes };
}

export async function* readDraftList({ db }: Pick<Store, 'db'>, { listId }: DraftList): AsyncGenerator<Buffer> {
  for (let place = 0; ; place += 1) {
    const found = await db
      .selectFrom('draft_pieces')
      .select('bytes')
      .where('list_id', '=', listId)
      .where('place', '=', place)
      .executeTakeFirst();
    if (found === undefined) return;
    yield Buffer.from(found.bytes);
  }
}

export async function createDraft(
  store: Store,
  { tokenId, list, settings, nowReal }: Pick<Draft, 'tokenId' | 'list' | 'settings'> & { nowReal: number },
): Promise<Draft> {
  const row = {
    draft_id: randomUUID(),
    token_id: tokenId,
    made_real: nowReal,
    touched_real: nowReal,
    ...listColumns(list),
    settings,
  };
  await store.transaction((tx) => tx.insertInto('drafts').values(row).execute());
  return toDraft(row);
}

/**
 * Saves changes and extends the draft's life; deletes a replaced list. `was`: settings read before; `changed`: others were saved meanwhile,
 * nothing is.
 */
export async function saveDraft(
  store: Store,
  { draftId, settings: was }: Pick<Draft, 'draftId' | 'settings'>,
  { list, settings, nowReal }: { list?: DraftList; settings: string; nowReal: number },
): Promise<'saved' | 'changed' | 'gone'> {
  return store.transaction(async (tx) => {
    const before = await tx.selectFrom('drafts').select(['list_id', 'settings']).where('draft_id', '=', draftId).executeTakeFirst();
    if (before === undefined) return 'gone';
    if (before.settings !== was) return 'changed';
    const changed = { settings, touched_real: nowReal, ...(list === undefined ? {} : listColumns(list)) };
    await tx.updateTable('drafts').set(changed).where('draft_id', '=', draftId).execute();
    if (list !== undefined) await deletePieces(tx, [before.list_id]);
    return 'saved';
  });
}

export async function findDraft({ db }: Pick<Store, 'db'>, draftId: string, nowReal: number): Promise<Draft | undefined> {
  const row = await db
    .selectFrom('drafts')
    .selectAll()
    .where('draft_id', '=', draftId)
    .where('touched_real', '>', nowReal - draftLastsMs)
    .executeTakeFirst();
  return row === undefined ? undefined : toDraft(row);
}

export async function listDrafts({ db }: Pick<Store, 'db'>, nowReal: number): Promise<Draft[]> {
  const rows = await db
    .selectFrom('drafts')
    .selectAll()
    .where('touched_real', '>', nowReal - draftLastsMs)
    .orderBy('touched_real', 'desc')
    .execute();
  return rows.map(toDraft);
}

export async function deleteDraft(store: Store, draftId: string): Promise<void> {
  await store.transaction(async (tx) => {
    const gone = await tx.deleteFrom('drafts').where('draft_id', '=', draftId).returning('list_id').execute();
    await deletePieces(tx, gone.map(({ list_id: listId }) => listId)); // prettier-ignore
    await deleteRehearsals(tx);
  });
}

export async function sweepDrafts(store: Store, nowReal: number): Promise<void> {
  await store.transaction(async (tx) => {
    const forgotten = await tx
      .deleteFrom('drafts')
      .where('touched_real', '<=', nowReal - draftLastsMs)
      .returning('list_id')
      .execute();
    await deletePieces(tx, forgotten.map(({ list_id: listId }) => listId)); // prettier-ignore
    await deleteRehearsals(tx);
    await tx
      .deleteFrom('draft_pieces')
      .where('kept_real', '<=', nowReal - strayLastsMs)
      .where('list_id', 'not in', tx.selectFrom('drafts').select('list_id'))
      .execute();
  });
}

async function deleteRehearsals(tx: Tx): Promise<void> {
  await tx
    .deleteFrom('rehearsals')
    .where('campaign_id', 'is', null)
    .where('draft_id', 'not in', tx.selectFrom('drafts').select('draft_id'))
    .execute();
}

async function deletePieces(tx: Tx, listIds: readonly string[]): Promise<void> {
  if (listIds.length > 0) await tx.deleteFrom('draft_pieces').where('list_id', 'in', listIds).execute();
}

async function* inPieces(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let length = 0;
  for await (const chunk of content)
    for (let from = 0; from < chunk.length;) {
      const part = Buffer.from(chunk.subarray(from, from + pieceBytes - length));
      held.push(part);
      length += part.length;
      from += part.length;
      if (length < pieceBytes) continue;
      yield Buffer.concat(held);
      [held, length] = [[], 0];
    }
  if (length > 0) yield Buffer.concat(held);
}

function listColumns({ listId, name, bytes }: DraftList): Pick<Row<'drafts'>, 'list_id' | 'list_name' | 'list_bytes'> {
  return { list_id: listId, list_name: name, list_bytes: bytes };
}

function toDraft(row: Row<'drafts'>): Draft {
  return {
    draftId: row.draft_id,
    tokenId: row.token_id,
    madeReal: row.made_real,
    touchedReal: row.touched_real,
    list: { listId: row.list_id, name: row.list_name, bytes: row.list_bytes },
    settings: row.settings,
  };
}
