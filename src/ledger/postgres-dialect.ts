import type { Socket } from 'node:net';
import {
  CompiledQuery,
  PostgresDialect,
  PostgresDriver,
  sql,
  type DatabaseConnection,
  type PostgresDialectConfig,
  type TransactionSettings,
} from 'kysely';
import type { ClientBase } from 'pg';
import { readPostgresAddress } from '../shared/input/postgres-address.ts';
import { requireWriter, WriterPool } from './postgres/writer-pool.ts';
import type { Tx } from './tx.ts';
import { StoreError } from './ledger-error.ts';

const limits = {
  /** Longer than any lock is kept, except to publish a very long do-not-call list. */
  lock_timeout: '60s',
  statement_timeout: '300s',
  /** A frozen process must not keep its locks, for which its agent's campaigns wait; little runs between two statements. */
  idle_in_transaction_session_timeout: '10s',
};

/**
 * Per transaction, in one round trip: `?options=`, defaults of role or database, and poolers replace settings made once. "Committed" must
 * mean "on disk" before a POST: `remote_apply` stays, `remote_write` does not.
 */
const begin = `begin isolation level read committed read write; select
  set_config('synchronous_commit', case current_setting('synchronous_commit') when 'remote_apply' then 'remote_apply' else 'on' end, true),
  ${Object.entries(limits)
    .map(([name, value]) => `set_config('${name}', '${value}', true)`)
    .join(', ')}`;

/** SQLSTATE classes of refusals, as opposed to temporary failures. */
const refusals = /^(0A|22|25|42|55)[0-9A-Z]{3}$/;

function explainRefusal(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && refusals.test(String(error.code)))) return error;
  const names = ['synchronous_commit', ...Object.keys(limits)].join(', ');
  return new StoreError(
    `The database refuses the settings of a transaction: ${error.message}. Use the primary server, let transactions be read committed, ` +
      `and let this user set ${names} (GRANT SET ON PARAMETER … TO …).`,
    { cause: error },
  );
}

class PinnedPostgresDriver extends PostgresDriver {
  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    // Migrations name no level and may exceed the limits.
    if (settings.isolationLevel === undefined) return super.beginTransaction(connection, settings);
    try {
      await connection.executeQuery(CompiledQuery.raw(begin));
    } catch (error) {
      await this.rollbackTransaction(connection);
      if (['0A000', '25006'].includes(String((error as { code?: unknown }).code)))
        await requireWriter((text) => connection.executeQuery(CompiledQuery.raw(text)));
      throw explainRefusal(error);
    }
  }

  /** On failure the connection is dropped with its transaction; the original error is reported. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => {});
  }
}

class PinnedPostgresDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig;

  constructor(config: PostgresDialectConfig) {
    super(config);
    this.#config = config;
  }

  override createDriver(): PinnedPostgresDriver {
    return new PinnedPostgresDriver(this.#config);
  }
}

export interface ConnectionLimits {
  /** Real milliseconds that a connection lives, ±20%; default: 5 minutes. */
  connectionAgeMs?: number | undefined;
  /**
   * Silence in real milliseconds that ends a connection and its statement: an unreachable server never reports itself. Default: no limit of
   * ours.
   */
  longestSilenceMs?: number | undefined;
}

/** Throws StoreError for an unreadable connection string. Does not connect. */
export async function createPostgresDialect(connectionString: string, limits: ConnectionLimits = {}): Promise<PostgresDialect> {
  const { connectionAgeMs = 300_000, longestSilenceMs } = limits;
  const onConnect = (client: ClientBase): void => {
    if (longestSilenceMs !== undefined) endWhenSilent(client, longestSilenceMs);
  };
  // Loaded only for PostgreSQL.
  const pg = await import('pg');
  // Counts and epoch milliseconds stay far below 2^53.
  pg.types.setTypeParser(pg.types.builtins.INT8, Number);
  return new PinnedPostgresDialect({ pool: new WriterPool({ pg, urls: addressesOf(connectionString), connectionAgeMs, onConnect }) });
}

function addressesOf(connectionString: string): string[] {
  const address = readPostgresAddress(connectionString);
  if ('fault' in address) throw new StoreError(`DATABASE_URL ${address.fault}`);
  return address.urls;
}

/** The pool keeps no connection idle that long: a silent one owes an answer. */
function endWhenSilent(client: ClientBase, afterMs: number): void {
  const { stream } = (client as ClientBase & { connection: { stream: Socket } }).connection;
  stream.setTimeout(afterMs, () => {
    const error = new Error(`The database has been silent for ${afterMs / 1000} s`);
    stream.destroy(Object.assign(error, { code: 'ETIMEDOUT' }));
  });
}

/** By name, address, or Unix socket. */
function isLocal(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('/') || /^127(\.\d+){3}$/.test(host);
}

/**
 * Throws StoreError for a connection leaving this machine without TLS and without `sslmode=disable`, or an unreadable one. Does not
 * connect.
 */
export async function refuseInTheClear(connectionString: string): Promise<void> {
  const { Client } = await import('pg');
  for (const url of addressesOf(connectionString)) {
    // Parsed by the client, with PGHOST and PGSSLMODE.
    const { host, ssl } = new Client({ connectionString: url });
    if (isLocal(host) || ssl || /[?&]sslmode=disable(&|$)/.test(url)) continue;
    throw new StoreError(
      `without TLS, its password and every number of the lists could be read on the way to ${host}. Add sslmode=verify-full to ` +
        'DATABASE_URL (with sslrootcert=/path/to/ca.pem for an authority of your own), or sslmode=disable to say that the network between is yours alone.',
    );
  }
}

/** Throws StoreError when this transaction would miss others' commits or may lose its own: something in between dropped the settings. */
export async function refuseUnlessPinned(tx: Tx): Promise<void> {
  const { rows } = await sql<{ level: string; commit: string }>`
    select current_setting('transaction_isolation') as level, current_setting('synchronous_commit') as commit`.execute(tx);
  for (const { level, commit } of rows) {
    if (level === 'read committed' && (commit === 'on' || commit === 'remote_apply')) continue;
    throw new StoreError(
      `The database does not keep the settings of a transaction: transaction_isolation is ${level} and synchronous_commit is ${commit}, ` +
        'where read committed and on were set. Nobody is called. Let the pooler or proxy in DATABASE_URL keep them, or connect without it.',
    );
  }
}

/** A worker's rights; the event log is append-only. */
const rights = ['campaigns', 'recipients', 'attempts', 'batches', 'posts', 'conversations', 'suppressions', 'events'].map((table) => ({
  table,
  needs: table === 'events' ? ['select', 'insert'] : ['select', 'insert', 'update'],
}));

/** One row: `missing`, our rights that this user lacks, as text; empty: none. */
export const missingRights = `select coalesce(string_agg(needs || ' on ' || name, ', '), '') as missing from (values ${rights
  .flatMap(({ table, needs }) => needs.map((need) => `('${table}', '${need}')`))
  .join(', ')}) as wanted (name, needs)
  where to_regclass(name) is not null and not has_table_privilege(to_regclass(name), needs)`;

/** A database administrator applies them. */
export const grantAdvice =
  'Let the owner of the database grant it: GRANT USAGE, CREATE ON SCHEMA public TO …; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO …; or name the user that made the tables in DATABASE_URL.';

/** Throws StoreError when this user lacks a worker's rights. */
export async function refuseWithoutRights(tx: Tx): Promise<void> {
  const { rows } = await sql<{ missing: string }>`${sql.raw(missingRights)}`.execute(tx);
  const missing = rows[0]?.missing ?? '';
  if (missing !== '') throw new StoreError(`its user lacks rights (${missing}). ${grantAdvice}`);
}
