import { PostgresAdapter, type Kysely, type Transaction } from 'kysely';
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
