import { Kysely, Migrator, sql, type Dialect } from 'kysely';
import { createMigrations } from './migrations.ts';
import {
  createPostgresDialect,
  grantAdvice,
  refuseInTheClear,
  refuseUnlessPinned,
  refuseWithoutRights,
  type ConnectionLimits,
} from './postgres-dialect.ts';
import { StandbyError } from './postgres/writer-pool.ts';
import { readPostgresAddress } from '../shared/input/postgres-address.ts';
import { notReadable, readSchemaState, isLedgerFile } from './schema-state.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';
import { describeFullDisk, StoreError } from './ledger-error.ts';
import { runTransaction } from './transaction.ts';
import type { Queries, Tx, StoreDialect, Store } from './tx.ts';
import type { Database } from './schema.ts';

export interface StoreLocation extends ConnectionLimits {
  /** PostgreSQL connection string; wins over `sqlitePath`. */
  databaseUrl?: string | undefined;
  sqlitePath: string;
}

/** Not `now()`, which is constant within a transaction. */
async function readPostgresClock(db: Queries): Promise<number> {
  const { rows } = await sql<{
    ms: number;
  }>`select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms`.execute(db);
  return rows[0]?.ms ?? Date.now();
}

/** SQLite reveals a read-only file at the first write statement, even an empty one. */
async function refuseReadOnly(tx: Tx): Promise<void> {
  await sql`delete from meta where false`.execute(tx);
}

/** For display, without the password of a connection string. */
export function describeLocation(location: StoreLocation): string {
  if (location.databaseUrl === undefined) return `SQLite file ${location.sqlitePath}`;
  const address = readPostgresAddress(location.databaseUrl);
  return 'fault' in address ? 'PostgreSQL (DATABASE_URL)' : `PostgreSQL at ${address.place}`;
}

function explainFault(location: StoreLocation, cause: unknown): StoreError {
  const code = (cause as { code?: string }).code ?? '';
  const full = describeFullDisk(code);
  if (full !== null) return new StoreError(`The database cannot be used: ${describeLocation(location)}: ${full}.`, { cause });
  const words = cause instanceof Error && cause.message !== '' ? cause.message : code;
  const what = `The database cannot be used: ${describeLocation(location)}: ${words}`;
  if (cause instanceof StandbyError) return new StoreError(what, { cause });
  if (cause instanceof StoreError) return new StoreError(what, { cause, remedy: cause.remedy });
  // PostgreSQL's "insufficient privilege".
  if (code === '42501') return new StoreError(`${what}. ${grantAdvice}`, { cause });
  const advice =
    location.databaseUrl === undefined
      ? 'Check that its folder exists, that you may write to it, and that the file is a database of Carillon (set CARILLON_DB for another one).'
      : 'Check DATABASE_URL and that the server is up and accepts this user.';
  return new StoreError(`${what}. ${advice}`, { cause });
}

/**
 * `upgrade` creates or updates the schema, safe for several processes at once; `as-is` refuses any but ours. `sqlite`: dialect for a file;
 * default: on this thread. Throws `StoreError`.
 */
export async function openStore(
  location: StoreLocation,
  schema: 'upgrade' | 'as-is' = 'upgrade',
  sqlite: (path: string) => Dialect = createSqliteDialect,
): Promise<Store> {
  const dialect: StoreDialect = location.databaseUrl === undefined ? 'sqlite' : 'postgres';
  try {
    // Checked first, since opening a file changes its journal.
    if (dialect === 'sqlite' && !isLedgerFile(location.sqlitePath) && schema === 'as-is') throw notReadable('empty');
    if (location.databaseUrl !== undefined) await refuseInTheClear(location.databaseUrl);
  } catch (cause) {
    throw explainFault(location, cause);
  }
  const db = new Kysely<Database>({
    dialect: location.databaseUrl === undefined ? sqlite(location.sqlitePath) : await createPostgresDialect(location.databaseUrl, location),
  });
  try {
    const provider = createMigrations(dialect);
    const state = await readSchemaState(db, dialect, provider);
    if (state !== 'current') {
      if (schema === 'as-is') throw notReadable(state);
      const { error } = await new Migrator({ db, provider }).migrateToLatest();
      if (error !== undefined) throw error;
    }
    const row = await db.selectFrom('meta').select('value').where('key', '=', 'ledger_id').executeTakeFirstOrThrow();
    const transaction: Store['transaction'] = (work) => runTransaction(db, work, (events) => store.onEvents?.(events));
    const store: Store = {
      dialect,
      db,
      ledgerId: row.value,
      now: dialect === 'postgres' ? readPostgresClock : async () => Date.now(),
      transaction,
      onEvents: null,
      close: () => db.destroy(),
    };
    // Refused now rather than at the first call.
    if (dialect === 'postgres') await transaction(refuseUnlessPinned);
    if (schema === 'upgrade') await transaction(dialect === 'postgres' ? refuseWithoutRights : refuseReadOnly);
    return store;
  } catch (cause) {
    await db.destroy().catch(() => {});
    throw explainFault(location, cause);
  }
}
