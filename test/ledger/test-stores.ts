import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openStore, type StoreLocation } from '../../src/ledger/open-ledger.ts';
import { isFull } from '../support/depth.ts';
import { createDatabase } from '../support/postgres-server.ts';
import { sharedServer } from '../support/shared-server.ts';
import type { Store } from '../../src/ledger/tx.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** For what differs between databases: locks, retries, migrations, isolation, settings. `DIALECTS=sqlite` narrows it. */
export const bothDialects = (process.env['DIALECTS']?.split(',') ?? ['sqlite', 'postgres']) as ('sqlite' | 'postgres')[];
/** For what is the same on both, as the random walks bear out: at full depth both, else the first. */
export const dialects = isFull ? bothDialects : bothDialects.slice(0, 1);
export type TestDialect = 'sqlite' | 'postgres';

/** Gone after the test; on PostgreSQL, with the server that all files share. `template`: a database there to copy. */
export async function emptyDatabase(dialect: TestDialect, template?: string): Promise<StoreLocation> {
  const sqlitePath = join(temporaryFolder(), 'carillon.db');
  if (dialect === 'sqlite') return { sqlitePath };
  const name = `store_${randomUUID().replaceAll('-', '')}`;
  return { databaseUrl: await createDatabase(await sharedServer('postgres'), name, template), sqlitePath };
}

/** As another process would; closed after the test. */
export async function openAt(location: StoreLocation): Promise<Store> {
  const store = await openStore(location);
  onTestFinished(() => store.close());
  return store;
}

export async function openTestStore(dialect: TestDialect): Promise<Store> {
  return openAt(await emptyDatabase(dialect));
}
