import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import LibsqlDatabase from 'libsql';
import type { SqliteDatabase, SqliteStatement } from 'kysely';

/** Maximum wait for another process's transaction. */
const busyTimeoutMs = 10_000;
/** With SQLite's own 2 MB a campaign of thousands rereads the same pages. */
const usualCacheKib = 64 * 1024;
/** 4 KiB pages before a checkpoint, which waits for the disk twice more. */
const pagesPerCheckpoint = 4_000;

const betweenTriesMs = 10;

/** Two processes may open a new file at once: switching to WAL is the one step at which SQLite fails instead of waiting. */
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

/** Another process has locked the file, or the part needed. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
}

/** New files are private to their owner. Others lose read access; a group that may write was granted it on purpose. */
function keepPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600));
    return;
  } catch {
    // It exists; other faults show on opening.
  }
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      const { mode } = statSync(file);
      const kept = mode & ((mode & 0o020) === 0 ? ~0o077 : ~0o007);
      if (kept !== mode) chmodSync(file, kept & 0o7777);
    } catch {
      // It is missing, or belongs to another user, who decides.
    }
  }
}

/** Each commit is on disk before it returns; a lock is waited for. */
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

/** None when empty or missing. Changes nothing, not even the journal. */
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

/** Preparing costs more than running most statements; the texts are few and fixed. */
export function cachePrepared(database: Libsql, limit = 400): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    close: () => {
      try {
        // Prepared statements keep SQLite from cleaning up on close.
        database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
      } catch {
        // A read-only or busy file stays as it is, without loss.
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

/** libsql checks all columns to see whether a statement returns rows, and names them again per row: both are done here, once. */
function nameHere(statement: ReturnType<Libsql['prepare']>): SqliteStatement {
  const run: SqliteStatement['run'] = (parameters) => statement.run(parameters);
  const { reader } = statement;
  if (!reader) return { reader, run, all: () => [], iterate: () => [].values() };
  statement.raw(true);
  let names: string[] = [];
  const all: SqliteStatement['all'] = (parameters) => {
    const rows = statement.all(parameters) as unknown[][];
    // Another process may have added a column meanwhile.
    if (rows[0] !== undefined && rows[0].length !== names.length) names = statement.columns().map(({ name }) => name);
    return rows.map((values) => {
      const row: Record<string, unknown> = {};
      for (let at = 0; at < names.length; at += 1) row[names[at] as string] = values[at];
      return row;
    });
  };
  return { reader, run, all, iterate: (parameters) => all(parameters).values() };
}
