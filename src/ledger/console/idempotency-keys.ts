import { randomUUID } from 'node:crypto';
import { partsOf } from '../parts.ts';
import type { Tx, Store } from '../tx.ts';

export interface KeyedRequest {
  tokenId: string;
  key: string;
  /** Hashes of its parts, such as `method` and `body.numbers`, by their names. */
  parts: Readonly<Record<string, string>>;
}

export interface KeptAnswer {
  status: number;
  body: string;
}

export type Claim =
  /** Nobody has asked under this key, or whoever was at it is gone: do it, and keep the answer under `entry`. */
  | { kind: 'new'; entry: string }
  | { kind: 'done'; answer: KeptAnswer }
  | { kind: 'under_way' }
  /** The key was used for something else; `differs` names the parts. */
  | { kind: 'other'; differs: string[] };

/** So often a request that is being carried out says that it is. */
const signEveryMs = 5_000;
/** One that has said nothing for so long died with its process. */
const silentMs = 20_000;

/**
 * Takes a key, so that one of several requests with it is carried out: again only when its process died, which is harmless for every change
 * of the API.
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
    // It may be committed all the same.
    abandonKey(entry);
    throw error;
  });
}

/** Entries of this process that are at nothing any more, but could not be freed. */
const abandoned = new Set<string>();

/** Lets the next request with the key of this entry take it at once: the one that had it has ended, and the database could not be told. */
export function abandonKey(entry: string): void {
  abandoned.add(entry);
  setTimeout(() => abandoned.delete(entry), silentMs).unref();
}

/** Entries of the requests that this process is carrying out, by database. */
const held = new WeakMap<Store, Set<string>>();

/** Repeats that the request is being carried out until the answered function is called. One transaction speaks for the whole process. */
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
    // A sign that cannot be given is given the next time.
    for (const some of partsOf([...entries])) void sign(some).catch(() => {});
  }, signEveryMs);
  timer.unref();
  return entries;
}

export async function keepAnswer(tx: Tx, entry: string, answer: KeptAnswer): Promise<void> {
  await tx.updateTable('answers').set(answer).where('entry', '=', entry).execute();
}

/** What failed on the way may be asked for again; an answer that was kept stays, as the one whose commit was not heard of. */
export async function freeKey(tx: Tx, entry: string): Promise<void> {
  await tx.deleteFrom('answers').where('entry', '=', entry).where('status', 'is', null).execute();
}

function differing(known: KeyedRequest['parts'], asked: KeyedRequest['parts']): string[] {
  const names = new Set([...Object.keys(known), ...Object.keys(asked)]);
  return [...names].filter((name) => known[name] !== asked[name]);
}
