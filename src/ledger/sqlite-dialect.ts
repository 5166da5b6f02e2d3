import { CompiledQuery, SqliteAdapter, SqliteDriver, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { DatabaseConnection, Dialect, SqliteDatabase } from 'kysely';
import { cachePrepared, openSqliteFile } from './sqlite-file.ts';
import type { Queries } from './tx.ts';

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

export function createSqliteDialect(path: string, options: Parameters<typeof openSqliteFile>[1] = {}): Dialect {
  const opened: { database?: SqliteDatabase } = {};
  const config = {
    database: async () => (opened.database = cachePrepared(openSqliteFile(path, options))),
  };
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
