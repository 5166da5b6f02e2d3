import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { CompiledQuery, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely';
import type { SqliteAnswer, SqliteQuestion, SqliteThreadInput } from './sqlite-thread.ts';
import { programBeside, revivedError, startThread } from './thread.ts';

const program = programBeside('sqlite-thread', import.meta.url);
/** More only get into each other's way on a machine with few processors; one costly statement leaves others a thread. */
const mostReaders = 3;
/** The pages of several connections add up. */
const cacheKib = 16 * 1024;

/**
 * The file in threads of its own: whoever asks waits for the answer, and the process goes on with what others ask it for. SELECTs outside
 * of transactions run beside each other and beside the one transaction that there is at a time; each sees all that was committed before.
 */
export function createThreadedSqliteDialect(path: string): Dialect {
  return {
    createDriver: () => new ThreadedSqliteDriver(path),
    createAdapter: () => new TransactionalAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class ThreadedSqliteDriver implements Driver {
  readonly #writer: SqliteThreads;
  readonly #readers: SqliteThreads;
  readonly #holders = new Set<DatabaseConnection>();
  /** Ends when nobody holds the writing connection any more. */
  #turn: Promise<void> = Promise.resolve();
  #endTurn = (): void => {};

  constructor(path: string) {
    this.#writer = new SqliteThreads({ path, cacheKib }, 1);
    this.#readers = new SqliteThreads({ path, cacheKib }, mostReaders);
  }

  async init(): Promise<void> {
    // Whatever is wrong with the file shows here; and nobody waits for a thread to begin.
    const first = CompiledQuery.raw('select count(*) from sqlite_master');
    await Promise.all([this.#writer.ask(first), ...Array.from({ length: mostReaders }, () => this.#readers.ask(first))]);
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
    this.#holders.add(connection);
    // Deferred, one that reads and then writes could fail half-way when another process wrote in between.
    await this.#writer.ask(CompiledQuery.raw('begin immediate'));
  }

  async commitTransaction(): Promise<void> {
    await this.#writer.ask(CompiledQuery.raw('commit'));
  }

  /** A full disk, or one that fails, has ended the transaction already: what is to be told is that, and not that there is none. */
  async rollbackTransaction(): Promise<void> {
    try {
      await this.#writer.ask(CompiledQuery.raw('rollback'));
    } catch (error) {
      if (!/no transaction is active/.test((error as Error).message)) throw error;
    }
  }

  async destroy(): Promise<void> {
    await Promise.all([this.#readers.close(), this.#writer.close()]);
  }

  async #run<Row>(connection: DatabaseConnection, query: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#holders.has(connection)) return this.#writer.ask(query);
    if (isReading(query)) return this.#readers.ask(query);
    await this.#takeTurn();
    try {
      return await this.#writer.ask(query);
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

interface Waiting {
  question: SqliteQuestion;
  answer: (given: SqliteAnswer) => void;
  fail: (error: Error) => void;
}

/** A thread, and what it is being asked; null while it rests. */
interface Thread {
  worker: Worker;
  asked: Waiting | null;
}

/** Threads that answer what comes, each one statement at a time, in the order in which it came. They are started as they are needed. */
class SqliteThreads {
  readonly #input: SqliteThreadInput;
  readonly #most: number;
  readonly #threads = new Set<Thread>();
  readonly #waiting: Waiting[] = [];

  constructor(input: SqliteThreadInput, most: number) {
    this.#input = input;
    this.#most = most;
  }

  async ask<Row>({ sql, parameters }: Pick<CompiledQuery, 'sql' | 'parameters'>): Promise<QueryResult<Row>> {
    const given = await new Promise<SqliteAnswer>((answer, fail) => {
      this.#waiting.push({ question: { sql, parameters }, answer, fail });
      this.#next();
    });
    if ('error' in given) throw revivedError(given.error);
    const { rows, changes } = given;
    return { rows: rows as Row[], ...(changes === null ? {} : { numAffectedRows: BigInt(changes) }) };
  }

  async close(): Promise<void> {
    await Promise.all(
      [...this.#threads].map(async ({ worker }) => {
        const ended = once(worker, 'exit');
        worker.postMessage('close', []);
        await ended;
      }),
    );
  }

  #next(): void {
    if (this.#waiting.length === 0) return;
    const resting = [...this.#threads].find(({ asked }) => asked === null);
    const thread = resting ?? (this.#threads.size < this.#most ? this.#start() : undefined);
    if (thread === undefined) return;
    thread.asked = this.#waiting.shift() as Waiting;
    thread.worker.postMessage(thread.asked.question, []);
  }

  #start(): Thread {
    const thread: Thread = { worker: startThread(program, this.#input), asked: null };
    this.#threads.add(thread);
    const end = (cause: unknown): void => {
      if (!this.#threads.delete(thread)) return;
      thread.asked?.fail(new Error('A thread that works on the database has ended.', { cause }));
      this.#next();
    };
    thread.worker.on('message', (given: SqliteAnswer) => {
      const { asked } = thread;
      thread.asked = null;
      asked?.answer(given);
      this.#next();
    });
    thread.worker.on('error', end).on('exit', end);
    return thread;
  }
}
