import { PostgresAdapter, type Kysely, type Transaction } from 'kysely';
import type { NewEvent } from '../rules/events.ts';
import type { Database } from './schema.ts';

/** What reads: the database itself, or a transaction. */
export type Queries = Pick<Kysely<Database>, 'selectFrom' | 'getExecutor'>;

/** A transaction, for whatever writes, and for what is read to be written or locked. The database itself is none. */
export type Tx = Transaction<Database>;

/** Whether the database is PostgreSQL, where transactions run beside each other; on SQLite they take turns, and no lock is needed. */
export function isPostgres(db: Queries): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** Which campaign something is done to, and when (service time). */
export interface At {
  campaignId: string;
  now: number;
}

export type StoreDialect = 'sqlite' | 'postgres';

export interface Store {
  readonly dialect: StoreDialect;
  readonly db: Kysely<Database>;
  /** Random per database; part of every task queue's name, so that a worker with another database never picks up the work. */
  readonly ledgerId: string;
  /** Real epoch milliseconds on the clock of the database, the only one that all processes share. A test hands in its own. */
  readonly now: (db: Queries) => Promise<number>;
  /**
   * Runs `work` in one transaction: BEGIN IMMEDIATE on SQLite, READ COMMITTED on PostgreSQL; on disk when the promise resolves. Use only
   * `tx` inside. `work` may run several times, and the last one counts.
   */
  transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>;
  /** Told of the events of each transaction of this process once it has committed. Must not throw. */
  onEvents: ((events: readonly NewEvent[]) => void) | null;
  close(): Promise<void>;
}
