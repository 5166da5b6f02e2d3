import { Kysely, Migrator, PostgresDialect, sql, type Selectable, type Transaction } from 'kysely';
import { Pool, types } from 'pg';
import { compareAndSetBatch, type CompareAndSetBatch } from './batch-state.ts';
import { olderWhileSubmitting } from './ledger-older.ts';
import { createMigrations, type StoreDialect } from './migrations.ts';
import type { Database } from './schema.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';

/** A transaction, or the database itself where one statement is enough. */
export type Queries = Kysely<Database>;

export interface Store {
  readonly dialect: StoreDialect;
  readonly db: Queries;
  /** Random per database; part of every task queue's name, so that a worker with another database never picks up the work. */
  readonly ledgerId: string;
  /** The one guard of "never call twice": every change of a batch goes through it. */
  readonly compareAndSetBatch: CompareAndSetBatch;
  /** Runs `work` in one transaction: BEGIN IMMEDIATE on SQLite. Its commit is on disk when the promise resolves. Use only `tx` inside. */
  transaction<Result>(work: (tx: Transaction<Database>) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** Thrown when the database cannot be used; the message says which one, why, and what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError' as const;
  readonly exitCode = 1;
}

export interface StoreLocation {
  /** PostgreSQL connection string; wins over `sqlitePath`. */
  databaseUrl?: string | undefined;
  sqlitePath: string;
}

// Counts and epoch milliseconds stay far below 2^53.
types.setTypeParser(types.builtins.INT8, Number);

function createPostgresDialect(connectionString: string): PostgresDialect {
  const pool = new Pool({
    connectionString,
    max: 10,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // "Committed" must mean "on disk" before a POST goes out, whatever the server's default is. A process that froze inside a
    // transaction must not keep its locks: the others would wait for it until its connection breaks.
    options: '-c synchronous_commit=on -c idle_in_transaction_session_timeout=60000',
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  // The same for one that is in use, between two statements of a transaction: the next statement fails and says so.
  pool.on('connect', (client) => client.on('error', () => {}));
  return new PostgresDialect({ pool });
}

/** The location as it may be printed: without the password of a connection string. */
export function describeLocation(location: StoreLocation): string {
  if (location.databaseUrl === undefined) return `SQLite file ${location.sqlitePath}`;
  try {
    const url = new URL(location.databaseUrl);
    return `PostgreSQL at ${url.host}${url.pathname}`;
  } catch {
    return 'PostgreSQL (DATABASE_URL)';
  }
}

function explainFault(location: StoreLocation, cause: unknown): StoreError {
  const code = (cause as { code?: string }).code ?? '';
  const words = cause instanceof Error && cause.message !== '' ? cause.message : code;
  const advice =
    location.databaseUrl === undefined
      ? 'Check that its folder exists, that you may write to it, and that the file is a database of Carillon (set CARILLON_DB for another one).'
      : 'Check DATABASE_URL and that the server is up and accepts this user.';
  return new StoreError(`The database cannot be used: ${describeLocation(location)}: ${words}. ${advice}`, { cause });
}

/**
 * Opens the database and brings its schema up to date; safe to run by several processes at once.
 * Throws `StoreError` when the database is out of reach, read-only, no database, or newer than this program.
 */
export async function openStore(location: StoreLocation): Promise<Store> {
  const dialect: StoreDialect = location.databaseUrl === undefined ? 'sqlite' : 'postgres';
  const db = new Kysely<Database>({
    dialect:
      location.databaseUrl === undefined
        ? createSqliteDialect(location.sqlitePath)
        : createPostgresDialect(location.databaseUrl),
  });
  try {
    const { error } = await new Migrator({ db, provider: createMigrations(dialect) }).migrateToLatest();
    if (error !== undefined) throw error;
    const row = await db.selectFrom('meta').select('value').where('key', '=', 'ledger_id').executeTakeFirstOrThrow();
    return {
      dialect,
      db,
      ledgerId: row.value,
      compareAndSetBatch,
      transaction: (work) => db.transaction().execute(work),
      close: () => db.destroy(),
    };
  } catch (cause) {
    await db.destroy().catch(() => {});
    throw explainFault(location, cause);
  }
}

/** Locks a campaign's row for the rest of the transaction, so that planning, dialling and state changes of it take turns. */
export async function lockCampaign(tx: Queries, store: Pick<Store, 'dialect'>, campaignId: string): Promise<void> {
  if (store.dialect === 'postgres')
    await sql`select 1 from campaigns where campaign_id = ${campaignId} for update`.execute(tx);
}

/** As `lockCampaign`, for all campaigns of an agent, always in the same order. */
export async function lockCampaignsOf(tx: Queries, store: Pick<Store, 'dialect'>, agentId: string): Promise<void> {
  if (store.dialect === 'postgres')
    await sql`select 1 from campaigns where agent_id = ${agentId} order by campaign_id for update`.execute(tx);
}

/**
 * Locks a batch's campaign, then reads the batch: what it says stays true until the transaction ends. Throws `LedgerOlderError` when
 * it is missing.
 */
export async function lockBatch(
  tx: Queries,
  store: Pick<Store, 'dialect'>,
  batchId: string,
): Promise<Selectable<Database['batches']>> {
  const found = await tx.selectFrom('batches').select('campaign_id').where('batch_id', '=', batchId).executeTakeFirst();
  if (found === undefined) throw olderWhileSubmitting(batchId);
  await lockCampaign(tx, store, found.campaign_id);
  return tx.selectFrom('batches').selectAll().where('batch_id', '=', batchId).executeTakeFirstOrThrow();
}
