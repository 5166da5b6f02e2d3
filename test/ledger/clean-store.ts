import { sql } from 'kysely';
import { afterAll } from 'vitest';
import { openStore, type Store } from '../../src/ledger/open-ledger.ts';
import { emptyDatabase, openTestStore, type TestDialect } from './test-stores.ts';

let shared: Promise<Store> | undefined;

afterAll(async () => {
  await (await shared)?.close();
});

const tables = [
  'accounts', 'campaigns', 'rounds', 'recipients', 'attempts', 'batches', 'posts', 'conversations', 'agents',
  'suppressions', 'events', 'aggregates', 'callers', 'schedules', 'wishes', 'staged_suppressions', 'dismissals',
]; // prettier-ignore

/** As `openTestStore`; on PostgreSQL the tests of a file share one database, which each finds empty: making one takes longer. */
export async function openCleanStore(dialect: TestDialect): Promise<Store> {
  if (dialect === 'sqlite') return openTestStore(dialect);
  shared ??= emptyDatabase(dialect).then(openStore);
  const store = await shared;
  await sql`truncate ${sql.join(tables.map((table) => sql.table(table)))} restart identity`.execute(store.db);
  return store;
}
