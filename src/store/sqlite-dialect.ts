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

/** Opens the file with what the ledger needs: every commit on disk before it returns, and waiting instead of failing on a lock. */
export function openSqliteFile(
  path: string,
  options: { journal?: 'wal' | 'delete'; busyTimeoutMs?: number } = {},
): SqliteDatabase {
  const database = new LibsqlDatabase(path);
  database.exec(`PRAGMA busy_timeout=${options.busyTimeoutMs ?? busyTimeoutMs}`);
  database.exec(`PRAGMA journal_mode=${options.journal ?? 'wal'}`);
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
