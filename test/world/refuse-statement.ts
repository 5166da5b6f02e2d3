import { CompiledQuery, type DatabaseConnection } from 'kysely';
import { heldConnection } from '../../src/ledger/sqlite-dialect.ts';
import type { Tx } from '../../src/ledger/tx.ts';
import type { Refusal } from './faults.ts';

const codes: Readonly<Record<'sqlite' | 'postgres', Readonly<Record<Refusal, string>>>> = {
  sqlite: { locked: 'SQLITE_BUSY', 'disk full': 'SQLITE_FULL' },
  postgres: { locked: '55P03', 'disk full': '53100' },
};

/** What SQLite says, as its driver passes it on. */
function refusedBySqlite(refusal: Refusal): Error {
  const said = refusal === 'locked' ? 'database is locked' : 'database or disk is full';
  return Object.assign(new Error(said), { code: codes.sqlite[refusal] });
}

/** Has PostgreSQL itself say it. */
function raise(refusal: Refusal): CompiledQuery {
  return CompiledQuery.raw(`do $$ begin raise exception 'refused' using errcode = '${codes.postgres[refusal]}'; end $$`);
}

/** Has the nth statement of this transaction refused, from 1, or its commit where there are fewer. */
export async function refuseStatement(tx: Tx, refusal: Refusal, nth: number): Promise<void> {
  let count = 0;
  const isRefused = (text: string): boolean => {
    if (text === 'rollback') return false;
    count += 1;
    return count === nth || text === 'commit';
  };
  const held = heldConnection(tx);
  if (held !== undefined) {
    const prepare = held.prepare.bind(held);
    const restore = replace(held, 'prepare', (text) => {
      const refused = isRefused(text);
      if (refused || text === 'rollback') restore();
      if (!refused) return prepare(text);
      // A full disk ends the transaction.
      if (refusal === 'disk full') prepare('rollback').run([]);
      throw refusedBySqlite(refusal);
    });
    return;
  }
  await tx.getExecutor().provideConnection(async (connection: DatabaseConnection) => {
    const executeQuery = connection.executeQuery.bind(connection);
    const restore = replace(connection, 'executeQuery', async (query) => {
      const refused = isRefused(query.sql);
      if (refused || query.sql === 'rollback') restore();
      return (await executeQuery(refused ? raise(refusal) : query)) as never;
    });
  });
}

/** Puts something in place of a method; answers what undoes that. */
function replace<Owner extends object, Key extends keyof Owner>(owner: Owner, key: Key, value: Owner[Key]): () => void {
  const own = Object.getOwnPropertyDescriptor(owner, key);
  owner[key] = value;
  return () => {
    if (own === undefined) Reflect.deleteProperty(owner, key);
    else Object.defineProperty(owner, key, own);
  };
}
