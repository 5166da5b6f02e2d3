import { PostgresAdapter, type Kysely, type Transaction } from 'kysely';
import type { NewEvent } from '../rules/events.ts';
import type { Database } from './schema.ts';

/** The database or a transaction. */
export type Queries = Pick<Kysely<Database>, 'selectFrom' | 'getExecutor'>;

/** For writing, and for reading what is then written or locked. The database itself is none. */
export type Tx = Transaction<Database>;

/** Transactions of PostgreSQL run concurrently; on SQLite they take turns and need no locks. */
export function isPostgres(db: Queries): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** `now`: service time. */
export interface At {
  campaignId: string;
  now: number;
}

export type StoreDialect = 'sqlite' | 'postgres';

export interface Store {
  readonly dialect: StoreDialect;
  readonly db: Kysely<Database>;
  /** Random; part of every task queue's name, so that a worker with another database never takes the work. */
  readonly ledgerId: string;
  /** Real epoch ms by the database's clock, the only one that all processes share. Tests supply their own. */
  readonly now: (db: Queries) => Promise<number>;
  /**
   * BEGIN IMMEDIATE on SQLite, READ COMMITTED on PostgreSQL; on disk when the promise resolves. Use only `tx` inside. `work` may run
   * several times; the last run counts.
   */
  transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>;
  /** Gets the events of each committed transaction of this process. Must not throw. */
  onEvents: ((events: readonly NewEvent[]) => void) | null;
  close(): Promise<void>;
}
