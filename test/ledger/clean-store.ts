import { sql } from 'kysely';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { emptyDatabase, openTestStore, type TestDialect } from './test-stores.ts';
import type { Store } from '../../src/ledger/tx.ts';

/** Of all files that one process of the tests runs, closed with it. */
let shared: Promise<Store> | undefined;

/** The tables that hold what campaigns leave: all but the one that tells which database it is. */
export async function tablesOf({ db }: Pick<Store, 'db'>): Promise<string[]> {
  return (await db.introspection.getTables()).map(({ name }) => name).filter((name) => name !== 'meta');
}

/** As `openTestStore`; on PostgreSQL tests share one database, which each finds empty: making one takes longer. */
export async function openCleanStore(dialect: TestDialect): Promise<Store> {
  if (dialect === 'sqlite') return openTestStore(dialect);
  shared ??= emptyDatabase(dialect).then(openStore);
  const store = await shared;
  const tables = await tablesOf(store);
  await sql`truncate ${sql.join(tables.map((name) => sql.table(name)))} restart identity`.execute(store.db);
  return store;
}
