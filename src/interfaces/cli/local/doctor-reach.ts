import { access, constants, mkdtemp, rmdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Database from 'libsql';
import { Client } from 'pg';
import { campaignQueues } from '../../../rules/ids.ts';
import { StoreError } from '../../../ledger/ledger-error.ts';
import { createMigrations } from '../../../ledger/migrations.ts';
import { grantAdvice, missingRights, refuseInTheClear } from '../../../ledger/postgres-dialect.ts';
import { standbyAdvice, standbyText } from '../../../ledger/postgres/writer-pool.ts';
import { readPostgresAddress } from '../../../shared/input/postgres-address.ts';
import { isLedgerFile, compareMigrations } from '../../../ledger/schema-state.ts';
import { readSqliteTables } from '../../../ledger/sqlite-file.ts';
import { connectTemporal, countWorkers } from '../../../temporal/connection.ts';
import { codeOf } from '../../../shared/input/errors.ts';
import type { Config } from '../../../shared/config.ts';
import type { StoreDialect } from '../../../ledger/tx.ts';
import { bad, doubtful, good, limitMs, reasonOf, type Check, type Verdict } from './doctor-check.ts';

const serverCheck: Check = {
  name: 'Temporal server',
  ifItFails: 'carillon worker, run and status need it; carillon demo does without when TEMPORAL_ADDRESS is unset.',
  look: async ({ config }) => {
    if (config.TEMPORAL_ADDRESS === undefined) return good('TEMPORAL_ADDRESS is not set: carillon dev and demo start their own');
    return withTemporal(config, async ({ connection, address, namespace }) => {
      const info = await connection.withDeadline(Date.now() + limitMs, () => connection.workflowService.getSystemInfo({}));
      return good(`${address}, namespace ${namespace}, server ${info.serverVersion ?? 'of unknown version'}`);
    });
  },
};

const workerCheck: Check = {
  name: 'Worker',
  ifItFails: null,
  look: async (around) => {
    const { config, now } = around;
    if (config.TEMPORAL_ADDRESS === undefined) return null;
    const name = await around.inLedger(async ({ ledgerId }) => campaignQueues(config.CARILLON_QUEUE_PREFIX, ledgerId).campaign);
    return withTemporal(config, async ({ connection, namespace }) => {
      const workers = await countWorkers(connection, { namespace, name, limitMs, now });
      if (workers > 0) return good(`${workers} at work on this database`);
      const advice = 'Start one with the same database, TEMPORAL_* and SVC_* variables: carillon worker';
      return doubtful('none has asked for work on this database in the last minute: no campaign moves', advice);
    });
  },
};

type Temporal = Awaited<ReturnType<typeof connectTemporal>>;

async function withTemporal(config: Config, work: (temporal: Temporal) => Promise<Verdict>): Promise<Verdict> {
  const temporal = await connectTemporal(config, { timeoutMs: limitMs });
  try {
    return await work(temporal);
  } finally {
    await temporal.connection.close();
  }
}

const databaseCheck: Check = {
  name: 'Database',
  look: ({ config: { DATABASE_URL: url, CARILLON_DB: path } }) => (url === undefined ? checkSqlite(resolve(path)) : checkPostgres(url)),
};

export const reachChecks: readonly Check[] = [serverCheck, databaseCheck, workerCheck];

async function checkSqlite(path: string): Promise<Verdict> {
  const folder = dirname(path);
  const advice = `Set CARILLON_DB to a file in a folder that you may write to, or DATABASE_URL to a PostgreSQL database.`;
  try {
    // Access rights are not enough: a read-only file system shows only on a write.
    await rmdir(await mkdtemp(join(folder, '.carillon-doctor-')));
  } catch (error) {
    return bad(`SQLite ${path}: its folder cannot be written (${reasonOf(error)})`, advice);
  }
  if (!existsSync(path)) return good(`SQLite ${path}, will be made`);
  try {
    await access(path, constants.R_OK | constants.W_OK);
    const found = readSqlite(path);
    if (!isLedgerFile(path)) return found;
    return await evaluateSchema(found, 'sqlite', readSqliteTables(path).migrations);
  } catch (error) {
    if (error instanceof StoreError) return bad(`SQLite ${path}: ${reasonOf(error)}`, anotherDatabase);
    return bad(`SQLite ${path} cannot be used: ${reasonOf(error)}`, `${advice} Is it a Carillon database, and yours?`);
  }
}

const anotherDatabase = 'Set CARILLON_DB or DATABASE_URL to the database of the campaigns.';

/** Returns `found` unless the schema is not this program's. */
async function evaluateSchema(found: Verdict, dialect: StoreDialect, applied: string[]): Promise<Verdict> {
  const { detail } = found;
  const known = Object.keys(await createMigrations(dialect).getMigrations());
  try {
    if (compareMigrations(applied, known) !== 'older') return found;
  } catch (error) {
    return bad(`${detail}: ${reasonOf(error)}`, 'Install that version of Carillon here, or name another database.');
  }
  const advice = 'Stop the workers of the earlier version, then start carillon worker: it brings the database up to date.';
  return doubtful(`${detail}: an earlier Carillon made it`, advice);
}

function readSqlite(path: string): Verdict {
  const database = new Database(path, { timeout: 1_000 });
  try {
    database.exec('BEGIN IMMEDIATE');
    // Beginning an empty transaction succeeds in a read-only file too.
    database.exec('CREATE TABLE may_write (tried)');
    database.exec('ROLLBACK');
    return good(`SQLite ${path}, writable`);
  } catch (error) {
    if (codeOf(error)?.startsWith('SQLITE_BUSY') === true) return good(`SQLite ${path}, in use by another process`);
    throw error;
  } finally {
    database.close();
  }
}

/** Of several servers, reports the writable one; without one, the last. */
async function checkPostgres(address: string): Promise<Verdict> {
  const read = readPostgresAddress(address);
  if ('fault' in read) return bad(`DATABASE_URL ${read.fault}`, 'Give postgres://user:password@host:5432/database.');
  const { urls, place } = read;
  try {
    await refuseInTheClear(address);
  } catch {
    const advice = 'Add sslmode=verify-full to DATABASE_URL, or sslmode=disable where the network between is yours alone.';
    return bad(`PostgreSQL at ${place} is on another host and would be reached without TLS`, advice);
  }
  let found = await checkServer(urls[0] ?? address, place);
  for (const url of urls.slice(1)) if (found.status === 'fault') found = await checkServer(url, place);
  return found;
}

async function checkServer(url: string, place: string): Promise<Verdict> {
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
    if (standby) return bad(`${detail}: ${standbyText}`, standbyAdvice);
    if (!made) return creates ? good(detail) : bad(`${detail}: its user may not create tables`, grantAdvice);
    const { missing } = (await client.query<{ missing: string }>(missingRights)).rows[0] ?? { missing: '' };
    if (missing !== '') return bad(`${detail}: its user lacks rights (${missing})`, grantAdvice);
    const applied = await client.query<{ name: string }>('select name from kysely_migration order by name');
    const names = applied.rows.map((row) => row.name);
    return await evaluateSchema(good(detail), 'postgres', names);
  } catch (error) {
    const advice =
      codeOf(error) === '42501' ? grantAdvice : 'Check that it runs, and host, port, user, password and database in DATABASE_URL.';
    return bad(`PostgreSQL at ${place} cannot be used (${reasonOf(error)})`, advice);
  } finally {
    await client.end().catch(() => {});
  }
}
