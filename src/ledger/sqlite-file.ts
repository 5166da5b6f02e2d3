import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import LibsqlDatabase from 'libsql';
import type { SqliteDatabase, SqliteStatement } from 'kysely';

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

type Libsql = InstanceType<typeof LibsqlDatabase>;

/** Preparing a statement costs more than running most of them; the set of texts is small and fixed. */
export function cachePrepared(database: Libsql, limit = 400): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    close: () => {
      try {
        // Statements that are still prepared keep SQLite from tidying up by itself.
        database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
      } catch {
        // A file that may only be read, or is busy, stays as it is: nothing is lost by that.
      }
      database.close();
    },
    prepare(sql) {
      const known = statements.get(sql);
      if (known !== undefined) return known;
      const statement = nameHere(database.prepare(sql));
      if (statements.size < limit) statements.set(sql, statement);
      return statement;
    },
  };
}

/** libsql looks at all columns when asked whether a statement answers rows, and names those of each row anew: both are done here, once. */
function nameHere(statement: ReturnType<Libsql['prepare']>): SqliteStatement {
  const run: SqliteStatement['run'] = (parameters) => statement.run(parameters);
  const { reader } = statement;
  if (!reader) return { reader, run, all: () => [], iterate: () => [].values() };
  statement.raw(true);
  let names: string[] = [];
  const all: SqliteStatement['all'] = (parameters) => {
    const rows = statement.all(parameters) as unknown[][];
    // Another process may have added a column to the table meanwhile.
    if (rows[0] !== undefined && rows[0].length !== names.length) names = statement.columns().map(({ name }) => name);
    return rows.map((values) => {
      const row: Record<string, unknown> = {};
      for (let at = 0; at < names.length; at += 1) row[names[at] as string] = values[at];
      return row;
    });
  };
  return { reader, run, all, iterate: (parameters) => all(parameters).values() };
}
