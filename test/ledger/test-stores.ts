import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openStore, type StoreLocation } from '../../src/ledger/open-ledger.ts';
import { isFull } from '../support/depth.ts';
import { createDatabase } from '../support/postgres-server.ts';
import { sharedServer } from '../support/shared-server.ts';
import type { Store } from '../../src/ledger/tx.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/**
 * Both databases, for what differs between them: locks, retries, migrations, isolation, upserts, settings, and what is read.
 * `DIALECTS=sqlite` narrows it while working on one.
 */
export const bothDialects = (process.env['DIALECTS']?.split(',') ?? ['sqlite', 'postgres']) as ('sqlite' | 'postgres')[];
/** For what is the same on both, as the random walks on both bear out: at full depth both, else the first. */
export const dialects = isFull ? bothDialects : bothDialects.slice(0, 1);
export type TestDialect = 'sqlite' | 'postgres';

/**
 * An empty database of its own, gone after the test; on PostgreSQL it goes with the server that all files share. `template`: the name of
 * one there, which it is a copy of.
 */
export async function emptyDatabase(dialect: TestDialect, template?: string): Promise<StoreLocation> {
  const sqlitePath = join(temporaryFolder(), 'carillon.db');
  if (dialect === 'sqlite') return { sqlitePath };
  const name = `store_${randomUUID().replaceAll('-', '')}`;
  return { databaseUrl: await createDatabase(await sharedServer('postgres'), name, template), sqlitePath };
}

/** Opens the database as another process would; closed after the test. */
export async function openAt(location: StoreLocation): Promise<Store> {
  const store = await openStore(location);
  onTestFinished(() => store.close());
  return store;
}

export async function openTestStore(dialect: TestDialect): Promise<Store> {
  return openAt(await emptyDatabase(dialect));
}
