import { randomBytes } from 'node:crypto';
import { hashOf, holds, toToken, type Token } from './tokens.ts';
import type { Store } from '../tx.ts';

/** Nobody stays signed in for longer; a working day fits in. */
export const sessionLastsMs = 12 * 3_600_000;
const secretBytes = 32;

/** Answers the text by which the session is known; the ledger keeps only its hash. Deletes sessions that are over on the way. */
export async function beginSession(store: Store, { tokenId, nowReal }: { tokenId: string; nowReal: number }): Promise<string> {
  const text = randomBytes(secretBytes).toString('base64url');
  const row = { hash: hashOf(text), token_id: tokenId, ends_real: nowReal + sessionLastsMs };
  await store.transaction(async (tx) => {
    await tx.deleteFrom('sessions').where('ends_real', '<=', nowReal).execute();
    await tx.insertInto('sessions').values(row).execute();
  });
  return text;
}

/** The token of the session whose text this is, while both hold; null for any other text. */
export async function findSession({ db }: Pick<Store, 'db'>, text: string, nowReal: number): Promise<Token | null> {
  const row = await db
    .selectFrom('sessions')
    .innerJoin('tokens', 'tokens.token_id', 'sessions.token_id')
    .selectAll('tokens')
    .where('sessions.hash', '=', hashOf(text))
    .where('sessions.ends_real', '>', nowReal)
    .executeTakeFirst();
  return row !== undefined && holds(row, nowReal) ? toToken(row) : null;
}

export async function endSession(store: Store, text: string): Promise<void> {
  await store.transaction((tx) => tx.deleteFrom('sessions').where('hash', '=', hashOf(text)).execute());
}
