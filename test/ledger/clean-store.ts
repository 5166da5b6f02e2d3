import { sql } from 'kysely';
import { openStore, type Store } from '../../src/ledger/open-ledger.ts';
import { emptyDatabase, openTestStore, type TestDialect } from './test-stores.ts';

/** Of all files that one process of the tests runs, closed with it. */
let shared: Promise<Store> | undefined;

/** What tells which database it is, and of which version. */
const kept = ['meta', 'kysely_migration', 'kysely_migration_lock'];

/** As `openTestStore`; on PostgreSQL tests share one database, which each finds empty: making one takes longer. */
export async function openCleanStore(dialect: TestDialect): Promise<Store> {
  if (dialect === 'sqlite') return openTestStore(dialect);
  shared ??= emptyDatabase(dialect).then(openStore);
  const store = await shared;
  const tables = (await store.db.introspection.getTables()).filter(({ name }) => !kept.includes(name));
  await sql`truncate ${sql.join(tables.map(({ name }) => sql.table(name)))} restart identity`.execute(store.db);
  return store;
}
