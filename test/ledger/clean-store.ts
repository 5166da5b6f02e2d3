import { sql } from 'kysely';
import { openStore, type Store } from '../../src/ledger/open-ledger.ts';
import { emptyDatabase, openTestStore, type TestDialect } from './test-stores.ts';

/** Of all files that one process of the tests runs, closed with it. */
let shared: Promise<Store> | undefined;

const tables = [
  'accounts', 'campaigns', 'rounds', 'recipients', 'attempts', 'batches', 'posts', 'conversations', 'agents',
  'suppressions', 'events', 'aggregates', 'callers', 'schedules', 'wishes', 'staged_suppressions', 'dismissals',
  'drafts', 'draft_pieces', 'webhooks', 'sessions', 'rehearsals',
]; // prettier-ignore

/** As `openTestStore`; on PostgreSQL tests share one database, which each finds empty: making one takes longer. */
export async function openCleanStore(dialect: TestDialect): Promise<Store> {
  if (dialect === 'sqlite') return openTestStore(dialect);
  shared ??= emptyDatabase(dialect).then(openStore);
  const store = await shared;
  await sql`truncate ${sql.join(tables.map((table) => sql.table(table)))} restart identity`.execute(store.db);
  return store;
}
