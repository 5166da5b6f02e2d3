import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import LibsqlDatabase from 'libsql';
import { CompiledQuery, SqliteAdapter, SqliteDriver, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { DatabaseConnection, Dialect, SqliteDatabase } from 'kysely';
import { cachePrepared } from './sqlite-statements.ts';
import type { Queries } from './tx.ts';

/** Waiting for another process's transaction, at most. */
const busyTimeoutMs = 10_000;
/** Of pages at hand: with SQLite's own 2 MB a campaign of thousands reads the same ones from the file over and over. */
const usualCacheKib = 64 * 1024;
/** Pages of 4 KiB in the journal before they are copied into the file, which waits for the disk twice more. */
const pagesPerCheckpoint = 4_000;

const betweenTriesMs = 10;

/** Two processes that open a new file at once: turning it into a WAL file is the one step at which SQLite fails instead of waiting. */
function setJournal(database: InstanceType<typeof LibsqlDatabase>, mode: string, waitMs: number): void {
  const giveUpAt = performance.now() + waitMs;
  for (;;) {
    try {
      database.exec(`PRAGMA journal_mode=${mode}`);
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() >= giveUpAt) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, betweenTriesMs);
  }
}

/** Whether somebody else has the file, or the part of it that is wanted. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
}

/** A new file is its owner's alone. One that others may read loses that; a group that may write was given it on purpose. */
function keepPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600));
    return;
  } catch {
    // It is there; what else is wrong shows when it is opened.
  }
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      const { mode } = statSync(file);
      const kept = mode & ((mode & 0o020) === 0 ? ~0o077 : ~0o007);
      if (kept !== mode) chmodSync(file, kept & 0o7777);
    } catch {
      // It is missing, or somebody else's, who decides.
    }
  }
}

/** Opens the file with what the ledger needs: every commit on disk before it returns, and waiting instead of failing on a lock. */
export function openSqliteFile(
  path: string,
  options: { journal?: 'wal' | 'delete'; busyTimeoutMs?: number; cacheKib?: number } = {},
): InstanceType<typeof LibsqlDatabase> {
  keepPrivate(path);
  const database = new LibsqlDatabase(path);
  const waitMs = options.busyTimeoutMs ?? busyTimeoutMs;
  database.exec(`PRAGMA busy_timeout=${waitMs}`);
  setJournal(database, options.journal ?? 'wal', waitMs);
  database.exec('PRAGMA synchronous=FULL');
  database.exec(`PRAGMA cache_size=-${options.cacheKib ?? usualCacheKib}`);
  database.exec(`PRAGMA wal_autocheckpoint=${pagesPerCheckpoint}`);
  return database;
}

/** Tables of the file, none when it is empty or missing. Looks without changing it: neither its journal nor anything else of it. */
export function readSqliteTables(path: string): { tables: string[]; migrations: string[] } {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return { tables: [], migrations: [] };
  const database = new LibsqlDatabase(path);
  try {
    database.exec(`PRAGMA busy_timeout=${busyTimeoutMs}`);
    const names = (text: string) => (database.prepare(text).all([]) as { name: string }[]).map(({ name }) => name);
    const tables = names(`select name from sqlite_master where type = 'table' and name not like 'sqlite~_%' escape '~'`);
    if (!tables.includes('kysely_migration')) return { tables, migrations: [] };
    const columns = names(`select name from pragma_table_info('kysely_migration')`);
    return {
      tables,
      migrations: columns.includes('name') ? names('select name from kysely_migration order by name') : [],
    };
  } finally {
    database.close();
  }
}

/** Migrations run in a transaction, so that a crash leaves either the old schema or the new one. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  readonly #opened: { database?: SqliteDatabase };

  constructor(opened: { database?: SqliteDatabase }) {
    super();
    this.#opened = opened;
  }

  /** The one connection, once it is open. Its holder alone may use it: a transaction, until it ends. */
  get database(): SqliteDatabase | undefined {
    return this.#opened.database;
  }

  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** A deferred transaction that reads and then writes can fail half-way when another process wrote in between. */
class ImmediateSqliteDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /** A full disk, or one that fails, has ended the transaction already: what is to be told is that, and not that there is none. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await super.rollbackTransaction(connection);
    } catch (error) {
      if (!/no transaction is active/.test((error as Error).message)) throw error;
    }
  }
}

/** `cacheKib`: of pages at hand; default: what a worker has. */
export function createSqliteDialect(path: string, cacheKib = usualCacheKib): Dialect {
  const opened: { database?: SqliteDatabase } = {};
  const config = { database: async () => (opened.database = cachePrepared(openSqliteFile(path, { cacheKib }))) };
  return {
    createDriver: () => new ImmediateSqliteDriver(config),
    createAdapter: () => new TransactionalSqliteAdapter(opened),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/** The connection that a transaction holds on SQLite; undefined: it is none, or one of PostgreSQL. */
export function heldConnection(db: Queries): SqliteDatabase | undefined {
  const { adapter } = db.getExecutor();
  const isHeld = adapter instanceof TransactionalSqliteAdapter && 'isTransaction' in db && db.isTransaction === true;
  return isHeld ? adapter.database : undefined;
}
