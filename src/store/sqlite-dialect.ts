import LibsqlDatabase from 'libsql';
import { CompiledQuery, SqliteAdapter, SqliteDriver, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { DatabaseConnection, Dialect, SqliteDatabase, SqliteStatement } from 'kysely';

/** Waiting for another process's transaction, at most. */
const busyTimeoutMs = 10_000;

/** Preparing a statement costs more than running most of them; the set of texts is small and fixed. */
function cachePrepared(database: SqliteDatabase, limit = 400): SqliteDatabase {
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
      const statement = database.prepare(sql);
      if (statements.size < limit) statements.set(sql, statement);
      return statement;
    },
  };
}

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

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
}

/** Opens the file with what the ledger needs: every commit on disk before it returns, and waiting instead of failing on a lock. */
export function openSqliteFile(
  path: string,
  options: { journal?: 'wal' | 'delete'; busyTimeoutMs?: number } = {},
): SqliteDatabase {
  const database = new LibsqlDatabase(path);
  const waitMs = options.busyTimeoutMs ?? busyTimeoutMs;
  database.exec(`PRAGMA busy_timeout=${waitMs}`);
  setJournal(database, options.journal ?? 'wal', waitMs);
  database.exec('PRAGMA synchronous=FULL');
  return database;
}

/** Migrations run in a transaction, so that a crash leaves either the old schema or the new one. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** A deferred transaction that reads and then writes can fail half-way when another process wrote in between. */
class ImmediateSqliteDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }
}

export function createSqliteDialect(path: string): Dialect {
  const config = { database: async () => cachePrepared(openSqliteFile(path)) };
  return {
    createDriver: () => new ImmediateSqliteDriver(config),
    createAdapter: () => new TransactionalSqliteAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}
