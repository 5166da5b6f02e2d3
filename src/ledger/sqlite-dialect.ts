import { CompiledQuery, SqliteAdapter, SqliteDriver, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { DatabaseConnection, Dialect, SqliteDatabase } from 'kysely';
import { cachePrepared, isBusy, openSqliteFile } from './sqlite-file.ts';
import type { Queries } from './tx.ts';

/** Migrations run in a transaction, so that a crash leaves the old or the new schema. */
export class TransactionalSqliteAdapter extends SqliteAdapter {
  readonly #opened: { database?: SqliteDatabase };

  constructor(opened: { database?: SqliteDatabase } = {}) {
    super();
    this.#opened = opened;
  }

  /** The one connection, once open; only for its holder: a transaction, until it ends. */
  get database(): SqliteDatabase | undefined {
    return this.#opened.database;
  }

  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** A deferred transaction that reads, then writes can fail when another process wrote in between. */
class ImmediateSqliteDriver extends SqliteDriver {
  readonly #looksForMs: number;

  constructor(config: ConstructorParameters<typeof SqliteDriver>[0], looksForMs: number) {
    super(config);
    this.#looksForMs = looksForMs;
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const giveUpAt = performance.now() + this.#looksForMs;
    for (;;)
      try {
        await connection.executeQuery(CompiledQuery.raw('begin immediate'));
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() >= giveUpAt) throw error;
      }
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await forgiveEnded(super.rollbackTransaction(connection));
  }
}

/** A full or failing disk has ended the transaction: report that, not the missing transaction. */
export async function forgiveEnded(rollback: Promise<unknown>): Promise<void> {
  try {
    await rollback;
  } catch (error) {
    if (!/no transaction is active/.test((error as Error).message)) throw error;
  }
}

/** Busy timeout per try to begin, if there are several. */
const tryMs = 20;

/**
 * `looksForMs`: how long a transaction tries to begin; default: as SQLite, ten times a second for ten seconds, which never succeeds beside
 * steady writers.
 */
export function createSqliteDialect(path: string, { looksForMs = 0, cacheKib }: { looksForMs?: number; cacheKib?: number } = {}): Dialect {
  const opened: { database?: SqliteDatabase } = {};
  const open = (): SqliteDatabase => {
    const file = openSqliteFile(path, cacheKib === undefined ? {} : { cacheKib });
    if (looksForMs > 0) file.exec(`PRAGMA busy_timeout=${tryMs}`);
    return (opened.database = cachePrepared(file));
  };
  const config = { database: async () => open() };
  return {
    createDriver: () => new ImmediateSqliteDriver(config, looksForMs),
    createAdapter: () => new TransactionalSqliteAdapter(opened),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/** Undefined: no transaction, or PostgreSQL. */
export function heldConnection(db: Queries): SqliteDatabase | undefined {
  const { adapter } = db.getExecutor();
  const isHeld = adapter instanceof TransactionalSqliteAdapter && 'isTransaction' in db && db.isTransaction === true;
  return isHeld ? adapter.database : undefined;
}
