import { randomUUID } from 'node:crypto';
import { partsOf } from '../parts.ts';
import type { Tx, Store } from '../tx.ts';

export interface KeyedRequest {
  tokenId: string;
  key: string;
  /** Hashes by part, such as `method` and `body.numbers`. */
  parts: Readonly<Record<string, string>>;
}

export interface StoredAnswer {
  status: number;
  body: string;
}

export type Claim =
  /** A new key, or its request died: carry it out, store the answer under `entry`. */
  | { kind: 'new'; entry: string }
  | { kind: 'done'; answer: StoredAnswer }
  | { kind: 'under_way' }
  /** The key was used for something else; `differs` names the parts. */
  | { kind: 'other'; differs: string[] };

/** Heartbeat interval of a request under way. */
const signEveryMs = 5_000;
/** Without a heartbeat for this long, its process died. */
const silentMs = 20_000;

/**
 * Takes a key, so that one of several requests with it is carried out; after a crash again, which is harmless for every change of the API.
 */
export async function claimKey(store: Store, { tokenId, key, parts }: KeyedRequest): Promise<Claim> {
  const entry = randomUUID();
  const claiming = store.transaction(async (tx): Promise<Claim> => {
    const begunReal = await store.now(tx);
    const fingerprint = JSON.stringify(parts);
    const row = { token_id: tokenId, key, fingerprint, entry, begun_real: begunReal, status: null, body: null };
    const { numInsertedOrUpdatedRows: inserted } = await tx
      .insertInto('answers')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    if (inserted === 1n) return { kind: 'new', entry };
    const known = await tx
      .selectFrom('answers')
      .selectAll()
      .where('token_id', '=', tokenId)
      .where('key', '=', key)
      .executeTakeFirstOrThrow();
    const differs = differing(JSON.parse(known.fingerprint) as KeyedRequest['parts'], parts);
    if (differs.length > 0) return { kind: 'other', differs };
    if (known.status !== null && known.body !== null) return { kind: 'done', answer: { status: known.status, body: known.body } };
    if (begunReal - known.begun_real < silentMs && !abandoned.has(known.entry)) return { kind: 'under_way' };
    const { numUpdatedRows: taken } = await tx
      .updateTable('answers')
      .set({ entry, begun_real: begunReal })
      .where('token_id', '=', tokenId)
      .where('key', '=', key)
      .where('entry', '=', known.entry)
      .executeTakeFirstOrThrow();
    return taken === 1n ? { kind: 'new', entry } : { kind: 'under_way' };
  });
  return claiming.catch((error: unknown) => {
    // It may have committed all the same.
    abandonKey(entry);
    throw error;
  });
}

/** Ended in this process, but not freed in the database. */
const abandoned = new Set<string>();

/** Frees the key of an ended request in this process, as the database could not be updated. */
export function abandonKey(entry: string): void {
  abandoned.add(entry);
  setTimeout(() => abandoned.delete(entry), silentMs).unref();
}

/** Entries under way in this process. */
const held = new WeakMap<Store, Set<string>>();

/** Sends heartbeats until the returned function is called. One transaction covers the whole process. */
export function holdKey(store: Store, entry: string): () => void {
  const entries = held.get(store) ?? holdKeysOf(store);
  entries.add(entry);
  return () => void entries.delete(entry);
}

function holdKeysOf(store: Store): Set<string> {
  const entries = new Set<string>();
  held.set(store, entries);
  const sign = (some: readonly string[]) =>
    store.transaction(async (tx) => {
      const signed = { begun_real: await store.now(tx) };
      await tx.updateTable('answers').set(signed).where('entry', 'in', some).where('status', 'is', null).execute();
    });
  const timer = setInterval(() => {
    if (entries.size === 0) {
      clearInterval(timer);
      held.delete(store);
    }
    // The next heartbeat makes up for it.
    for (const some of partsOf([...entries])) void sign(some).catch(() => {});
  }, signEveryMs);
  timer.unref();
  return entries;
}

export async function keepAnswer(tx: Tx, entry: string, answer: StoredAnswer): Promise<void> {
  await tx.updateTable('answers').set(answer).where('entry', '=', entry).execute();
}

/** A failed request may be repeated; a stored answer stays, even if its commit was not confirmed. */
export async function freeKey(tx: Tx, entry: string): Promise<void> {
  await tx.deleteFrom('answers').where('entry', '=', entry).where('status', 'is', null).execute();
}

function differing(known: KeyedRequest['parts'], requested: KeyedRequest['parts']): string[] {
  const names = new Set([...Object.keys(known), ...Object.keys(requested)]);
  return [...names].filter((name) => known[name] !== requested[name]);
}
