import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { openStore, type StoreLocation } from '../../src/ledger/open-ledger.ts';
import { emptyDatabase, openAt, type TestDialect } from './test-stores.ts';
import type { Store } from '../../src/ledger/tx.ts';

/** Of all files that one process of the tests runs, closed with it. */
let shared: Promise<Store> | undefined;

/** A SQLite file with all tables, and the name of such a PostgreSQL database: copying tables is faster than making them. */
let file: Promise<Buffer> | undefined;
let original: Promise<string> | undefined;

async function makeFile(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-tables-'));
  const sqlitePath = join(folder, 'carillon.db');
  await (await openStore({ sqlitePath })).close();
  const content = readFileSync(sqlitePath);
  rmSync(folder, { recursive: true });
  return content;
}

async function makeOriginal(): Promise<string> {
  const { databaseUrl = '', sqlitePath } = await emptyDatabase('postgres');
  await (await openStore({ databaseUrl, sqlitePath })).close();
  return new URL(databaseUrl).pathname.slice(1);
}

/** All that one process of the tests writes have one ledger id. */
export async function writeTables(path: string): Promise<void> {
  file ??= makeFile();
  writeFileSync(path, await file);
}

/** As `emptyDatabase`, with its tables, and one ledger id as above. */
export async function newDatabase(dialect: TestDialect): Promise<StoreLocation> {
  if (dialect === 'postgres') return emptyDatabase(dialect, await (original ??= makeOriginal()));
  const location = await emptyDatabase(dialect);
  await writeTables(location.sqlitePath);
  return location;
}

/** All tables but the one that tells which database it is. */
export async function tablesOf({ db }: Pick<Store, 'db'>): Promise<string[]> {
  return (await db.introspection.getTables()).map(({ name }) => name).filter((name) => name !== 'meta');
}

/** As `openTestStore`; on PostgreSQL tests share one database, which each finds empty: making one takes longer. */
export async function openCleanStore(dialect: TestDialect): Promise<Store> {
  if (dialect === 'sqlite') return openAt(await newDatabase(dialect));
  shared ??= newDatabase(dialect).then(openStore);
  const store = await shared;
  const tables = await tablesOf(store);
  await sql`truncate ${sql.join(tables.map((name) => sql.table(name)))} restart identity`.execute(store.db);
  return store;
}
