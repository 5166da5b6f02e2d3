import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Row } from '../schema.ts';
import type { Store } from '../tx.ts';

/** Each includes the one before: view; change campaigns and lists; change who may dial and who is notified. */
export const tokenRoles = ['read', 'operate', 'admin'] as const satisfies Row<'tokens'>['role'][];
export type TokenRole = (typeof tokenRoles)[number];

/** An API token as listed. Instants are real time. */
export interface Token {
  tokenId: string;
  name: string;
  role: TokenRole;
  createdReal: number;
  expiresReal: number | null;
  revokedReal: number | null;
  /** To the minute; null: never used. */
  usedReal: number | null;
}

const secretBytes = 32;

/** Our secrets are too long to be guessed. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

const nobodysHash = hashOf(randomBytes(secretBytes).toString('base64url'));

export function toToken(row: Row<'tokens'>): Token {
  return {
    tokenId: row.token_id,
    name: row.name,
    role: row.role,
    createdReal: row.created_real,
    expiresReal: row.expires_real,
    revokedReal: row.revoked_real,
    usedReal: row.used_real,
  };
}

/**
 * `text` is what the holder sends, `carillon_<id>_<secret>`, shown once: the ledger stores a hash. The same `tokenId` makes one token, with
 * the latest secret.
 */
export async function createToken(
  store: Store,
  {
    name,
    role,
    lastsMs,
    nowReal,
    tokenId = randomBytes(6).toString('hex'),
  }: { name: string; role: TokenRole; lastsMs: number | null; nowReal: number; tokenId?: string },
): Promise<{ token: Token; text: string }> {
  const secret = randomBytes(secretBytes).toString('base64url');
  const row = {
    token_id: tokenId,
    name,
    role,
    hash: hashOf(secret),
    created_real: nowReal,
    expires_real: lastsMs === null ? null : nowReal + lastsMs,
    revoked_real: null,
    used_real: null,
  };
  await store.transaction((tx) =>
    tx
      .insertInto('tokens')
      .values(row)
      .onConflict((conflict) => conflict.column('token_id').doUpdateSet({ hash: row.hash }))
      .execute(),
  );
  return { token: toToken(row), text: `carillon_${row.token_id}_${secret}` };
}

/** Null: invalid token. */
export async function findToken({ db }: Pick<Store, 'db'>, text: string, nowReal: number): Promise<Token | null> {
  const [, id, secret] = /^carillon_([0-9a-f]{12})_([\w-]{43})$/.exec(text) ?? [];
  if (id === undefined || secret === undefined) return null;
  const row = await db.selectFrom('tokens').selectAll().where('token_id', '=', id).executeTakeFirst();
  // An unknown id takes as long as a wrong secret.
  const isRight = timingSafeEqual(Buffer.from(row?.hash ?? nobodysHash), Buffer.from(hashOf(secret)));
  if (row === undefined || !isRight) return null;
  return holds(row, nowReal) ? toToken(row) : null;
}

export function holds(row: Pick<Row<'tokens'>, 'revoked_real' | 'expires_real'>, nowReal: number): boolean {
  return row.revoked_real === null && (row.expires_real === null || row.expires_real > nowReal);
}

const usedEveryMs = 60_000;

/** At most once a minute. */
export async function noteUse(store: Store, { tokenId, usedReal }: Token, nowReal: number): Promise<void> {
  if (usedReal !== null && nowReal - usedReal < usedEveryMs) return;
  await store.transaction((tx) => tx.updateTable('tokens').set({ used_real: nowReal }).where('token_id', '=', tokenId).execute());
}

export function holdsAt({ revokedReal, expiresReal }: Token, nowReal: number): boolean {
  return revokedReal === null && (expiresReal === null || expiresReal > nowReal);
}

export async function listTokens({ db }: Pick<Store, 'db'>): Promise<Token[]> {
  return (await db.selectFrom('tokens').selectAll().orderBy('created_real', 'desc').execute()).map(toToken);
}

/** Also ends its sessions. Undefined: no such id. Idempotent. */
export async function revokeToken(store: Store, tokenId: string, nowReal: number): Promise<Token | undefined> {
  return store.transaction(async (tx) => {
    await tx
      .updateTable('tokens')
      .set({ revoked_real: nowReal })
      .where('token_id', '=', tokenId)
      .where('revoked_real', 'is', null)
      .execute();
    await tx.deleteFrom('sessions').where('token_id', '=', tokenId).execute();
    const row = await tx.selectFrom('tokens').selectAll().where('token_id', '=', tokenId).executeTakeFirst();
    return row === undefined ? undefined : toToken(row);
  });
}

export function mayAct(held: TokenRole, required: TokenRole): boolean {
  return tokenRoles.indexOf(held) >= tokenRoles.indexOf(required);
}

/** Covers a working day. */
export const sessionLastsMs = 12 * 3_600_000;

/** Returns the session's text; the ledger stores its hash. Deletes expired sessions. */
export async function beginSession(store: Store, { tokenId, nowReal }: { tokenId: string; nowReal: number }): Promise<string> {
  const text = randomBytes(secretBytes).toString('base64url');
  const row = { hash: hashOf(text), token_id: tokenId, ends_real: nowReal + sessionLastsMs };
  await store.transaction(async (tx) => {
    await tx.deleteFrom('sessions').where('ends_real', '<=', nowReal).execute();
    await tx.insertInto('sessions').values(row).execute();
  });
  return text;
}

/** Null unless session and token are valid. */
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
