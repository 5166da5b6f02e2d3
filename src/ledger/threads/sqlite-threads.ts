import { CompiledQuery, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely';
import type { SqliteAnswer, SqliteQuestion, SqliteThreadInput } from './sqlite-thread.ts';
import { forgiveEnded, TransactionalSqliteAdapter } from '../sqlite-dialect.ts';
import { programBeside, Threads } from './thread.ts';

const program = programBeside('sqlite-thread', import.meta.url);
/** More would compete on few processors; one costly statement still leaves others a thread. */
const mostReaders = 3;
/** Per connection; several add up. */
const cacheKib = 16 * 1024;

/** SELECTs outside of transactions run in parallel with each other and with the one transaction, and see all that was committed before. */
export function createThreadedSqliteDialect(path: string): Dialect {
  return {
    createDriver: () => new ThreadedSqliteDriver(path),
    createAdapter: () => new TransactionalSqliteAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

class ThreadedSqliteDriver implements Driver {
  readonly #writer: Threads<SqliteQuestion>;
  readonly #readers: Threads<SqliteQuestion>;
  /** Connections in a transaction, with the writer threads ended when it began. */
  readonly #holders = new Map<DatabaseConnection, number>();
  /** Resolves when the writing connection is free. */
  #turn: Promise<void> = Promise.resolve();
  #endTurn = (): void => {};

  constructor(path: string) {
    const input: SqliteThreadInput = { path, cacheKib };
    this.#writer = new Threads(program, input, { most: 1, keep: true });
    this.#readers = new Threads(program, input, { most: mostReaders, keep: true });
  }

  async init(): Promise<void> {
    // Shows faults of the file early, and starts the threads before they are needed.
    const first = CompiledQuery.raw('select count(*) from sqlite_master');
    await Promise.all([ask(this.#writer, first), ...Array.from({ length: mostReaders }, () => ask(this.#readers, first))]);
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const connection: DatabaseConnection = {
      executeQuery: (query) => this.#run(connection, query),
      streamQuery: () => {
        throw new Error('A ledger in threads is read page by page.');
      },
    };
    return connection;
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    if (this.#holders.delete(connection)) this.#endTurn();
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await this.#takeTurn();
    this.#holders.set(connection, this.#writer.ended);
    // A deferred one that reads, then writes, could fail half-way after another process wrote in between.
    await ask(this.#writer, CompiledQuery.raw('begin immediate'));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await ask(this.#writer, CompiledQuery.raw('commit'), this.#holders.get(connection));
  }

  async rollbackTransaction(): Promise<void> {
    await forgiveEnded(ask(this.#writer, CompiledQuery.raw('rollback')));
  }

  async destroy(): Promise<void> {
    await Promise.all([this.#readers.close(), this.#writer.close()]);
  }

  async #run<Row>(connection: DatabaseConnection, query: CompiledQuery): Promise<QueryResult<Row>> {
    const ended = this.#holders.get(connection);
    // A restarted thread would commit each statement of a transaction by itself.
    if (ended !== undefined) return ask(this.#writer, query, ended);
    if (isReading(query)) return ask(this.#readers, query);
    await this.#takeTurn();
    try {
      return await ask(this.#writer, query);
    } finally {
      this.#endTurn();
    }
  }

  async #takeTurn(): Promise<void> {
    const before = this.#turn;
    let end = (): void => {};
    this.#turn = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    this.#endTurn = end;
  }
}

/** SQLite has no SELECT that writes. */
function isReading({ query, sql }: CompiledQuery): boolean {
  return (
    query.kind === 'SelectQueryNode' || /^\s*select\b/i.test(sql) || (/^\s*with\b/i.test(sql) && !/\b(insert|update|delete)\b/i.test(sql))
  );
}

type Statement = Pick<CompiledQuery, 'sql' | 'parameters'>;

async function ask<Row>(threads: Threads<SqliteQuestion>, { sql, parameters }: Statement, ended?: number): Promise<QueryResult<Row>> {
  const { rows, changes } = (await threads.ask({ sql, parameters }, ended)) as SqliteAnswer;
  return { rows: rows as Row[], ...(changes === null ? {} : { numAffectedRows: BigInt(changes) }) };
}
