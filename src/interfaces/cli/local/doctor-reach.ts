import { access, constants, mkdtemp, rmdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Database from 'libsql';
import { Client } from 'pg';
import { campaignQueues } from '../../../rules/ids.ts';
import type { Config } from '../../../shared/config.ts';
import { StoreError } from '../../../ledger/ledger-error.ts';
import { createMigrations } from '../../../ledger/migrations.ts';
import { grantAdvice, missingRights, refuseInTheClear } from '../../../ledger/postgres-dialect.ts';
import { standbyAdvice, standbyText } from '../../../ledger/postgres/writer-pool.ts';
import { readPostgresAddress } from '../../../shared/input/postgres-address.ts';
import { isLedgerFile, judgeMigrations } from '../../../ledger/schema-state.ts';
import { readSqliteTables } from '../../../ledger/sqlite-file.ts';
import { connectTemporal, countWorkers } from '../../../temporal/connection.ts';
import { openExistingLedger } from '../../../operations/control/ledger.ts';
import { codeOf } from '../../../shared/input/errors.ts';
import type { StoreDialect } from '../../../ledger/tx.ts';

/** One thing that `carillon doctor` looked at. A fault keeps Carillon from working; a warning does not. */
export interface Finding {
  name: string;
  status: 'ok' | 'warning' | 'fault';
  /** What was found; never a key, a password or a phone number. */
  detail: string;
  /** What to do about it; null when all is well. */
  advice: string | null;
}

export function ok(name: string, detail: string): Finding {
  return { name, status: 'ok', detail, advice: null };
}

export function warning(name: string, detail: string, advice: string): Finding {
  return { name, status: 'warning', detail, advice };
}

export function fault(name: string, detail: string, advice: string): Finding {
  return { name, status: 'fault', detail, advice };
}

/** The first line of what an error says, or its code where it says nothing. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message.split('\n')[0] || (codeOf(error) ?? error.name);
}

const limitMs = 5_000;

export async function checkTemporal(config: Config): Promise<Finding> {
  const name = 'Temporal server';
  if (config.TEMPORAL_ADDRESS === undefined) {
    return ok(name, 'TEMPORAL_ADDRESS is not set: carillon dev and demo start their own');
  }
  try {
    const { connection, address, namespace } = await connectTemporal(config, { timeoutMs: limitMs });
    try {
      const info = await connection.withDeadline(Date.now() + limitMs, () => connection.workflowService.getSystemInfo({}));
      return ok(name, `${address}, namespace ${namespace}, server ${info.serverVersion ?? 'of unknown version'}`);
    } finally {
      await connection.close();
    }
  } catch (error) {
    return fault(
      name,
      reasonOf(error),
      'carillon worker, run and status need it; carillon demo does without when TEMPORAL_ADDRESS is unset.',
    );
  }
}

/** Whether somebody works on the campaigns of the database; nothing where database or Temporal are not there to be asked. */
export async function checkWorkers(config: Config, now: number): Promise<Finding[]> {
  if (config.TEMPORAL_ADDRESS === undefined) return [];
  try {
    const store = await openExistingLedger(config);
    const name = campaignQueues(config.CARILLON_QUEUE_PREFIX, store.ledgerId).campaign;
    await store.close();
    const { connection, namespace } = await connectTemporal(config, { timeoutMs: limitMs });
    try {
      const workers = await countWorkers(connection, { namespace, name, limitMs, now });
      if (workers > 0) return [ok('Worker', `${workers} at work on this database`)];
      const advice = 'Start one with the same database, TEMPORAL_* and SVC_* variables: carillon worker';
      return [warning('Worker', 'none has asked for work on this database in the last minute: no campaign moves', advice)];
    } finally {
      await connection.close();
    }
  } catch {
    // What is wrong with database or Temporal is told by those who look at them.
    return [];
  }
}

export async function checkDatabase(config: Config): Promise<Finding> {
  return config.DATABASE_URL === undefined ? await checkSqlite(resolve(config.CARILLON_DB)) : await checkPostgres(config.DATABASE_URL);
}

async function checkSqlite(path: string): Promise<Finding> {
  const name = 'Database';
  const folder = dirname(path);
  const advice = `Set CARILLON_DB to a file in a folder that you may write to, or DATABASE_URL to a PostgreSQL database.`;
  try {
    // Access rights alone do not tell: a read-only file system shows only when something is made there.
    await rmdir(await mkdtemp(join(folder, '.carillon-doctor-')));
  } catch (error) {
    return fault(name, `SQLite ${path}: its folder cannot be written (${reasonOf(error)})`, advice);
  }
  if (!existsSync(path)) return ok(name, `SQLite ${path}, will be made`);
  try {
    await access(path, constants.R_OK | constants.W_OK);
    const found = readSqlite(name, path);
    if (!isLedgerFile(path)) return found;
    return await judgeSchema(found, 'sqlite', readSqliteTables(path).migrations);
  } catch (error) {
    if (error instanceof StoreError) return fault(name, `SQLite ${path}: ${reasonOf(error)}`, anotherDatabase);
    return fault(name, `SQLite ${path} cannot be used: ${reasonOf(error)}`, `${advice} Is it a Carillon database, and yours?`);
  }
}

const anotherDatabase = 'Set CARILLON_DB or DATABASE_URL to the database of the campaigns.';

/** The finding, unless the schema is not this program's. */
async function judgeSchema(found: Finding, dialect: StoreDialect, applied: string[]): Promise<Finding> {
  const { name, detail } = found;
  const known = Object.keys(await createMigrations(dialect).getMigrations());
  try {
    if (judgeMigrations(applied, known) !== 'older') return found;
  } catch (error) {
    return fault(name, `${detail}: ${reasonOf(error)}`, 'Install that version of Carillon here, or name another database.');
  }
  const advice = 'Stop the workers of the earlier version, then start carillon worker: it brings the database up to date.';
  return warning(name, `${detail}: an earlier Carillon made it`, advice);
}

function readSqlite(name: string, path: string): Finding {
  const database = new Database(path, { timeout: 1_000 });
  try {
    database.exec('BEGIN IMMEDIATE');
    // A transaction that writes nothing begins in a file that may only be read as well.
    database.exec('CREATE TABLE may_write (tried)');
    database.exec('ROLLBACK');
    return ok(name, `SQLite ${path}, writable`);
  } catch (error) {
    if (codeOf(error)?.startsWith('SQLITE_BUSY') === true) return ok(name, `SQLite ${path}, in use by another process`);
    throw error;
  } finally {
    database.close();
  }
}

/** Of several servers, what is found at the one that may write; where none may, at the last. */
async function checkPostgres(address: string): Promise<Finding> {
  const name = 'Database';
  const read = readPostgresAddress(address);
  if ('fault' in read) return fault(name, `DATABASE_URL ${read.fault}`, 'Give postgres://user:password@host:5432/database.');
  const { urls, place } = read;
  try {
    await refuseInTheClear(address);
  } catch {
    const advice = 'Add sslmode=verify-full to DATABASE_URL, or sslmode=disable where the network between is yours alone.';
    return fault(name, `PostgreSQL at ${place} is on another host and would be reached without TLS`, advice);
  }
  for (const [index, url] of urls.entries()) {
    const finding = await checkServer(url, place);
    if (finding.status !== 'fault' || index === urls.length - 1) return finding;
  }
  throw new Error('An address has a server.');
}

async function checkServer(url: string, place: string): Promise<Finding> {
  const name = 'Database';
  const client = new Client({ connectionString: url, connectionTimeoutMillis: limitMs, query_timeout: limitMs });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ version: string; standby: boolean; creates: boolean; made: boolean }>(
      `select current_setting('server_version') as version, pg_is_in_recovery() as standby,
              coalesce(has_schema_privilege(current_schema(), 'create'), false) as creates,
              to_regclass('kysely_migration') is not null as made`,
    );
    const { version = '?', standby = false, creates = false, made = false } = rows[0] ?? {};
    const detail = `PostgreSQL ${version} at ${place}`;
    if (standby) return fault(name, `${detail}: ${standbyText}`, standbyAdvice);
    if (!made) return creates ? ok(name, detail) : fault(name, `${detail}: its user may not create tables`, grantAdvice);
    const { missing } = (await client.query<{ missing: string }>(missingRights)).rows[0] ?? { missing: '' };
    if (missing !== '') return fault(name, `${detail}: its user lacks rights (${missing})`, grantAdvice);
    const applied = await client.query<{ name: string }>('select name from kysely_migration order by name');
    return await judgeSchema(
      ok(name, detail),
      'postgres',
      applied.rows.map((row) => row.name),
    );
  } catch (error) {
    const advice =
      codeOf(error) === '42501' ? grantAdvice : 'Check that it runs, and host, port, user, password and database in DATABASE_URL.';
    return fault(name, `PostgreSQL at ${place} cannot be used (${describePostgresError(error)})`, advice);
  } finally {
    await client.end().catch(() => {});
  }
}

function describePostgresError(error: unknown): string {
  // A refused connection to a name with several addresses comes as an AggregateError without a message of its own.
  return error instanceof AggregateError ? reasonOf(error.errors[0]) : reasonOf(error);
}
