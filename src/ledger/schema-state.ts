import { sql, type Kysely, type MigrationProvider } from 'kysely';
import { readSqliteTables } from './sqlite-file.ts';
import { StoreError } from './ledger-error.ts';
import type { Database } from './schema.ts';
import type { StoreDialect } from './tx.ts';

/** How far the schema of a database is: nothing of ours in it, behind this program's, or the same. */
export type SchemaState = 'empty' | 'older' | 'current';

const firstMigration = '001-first-schema';
const ownTables = ['kysely_migration', 'kysely_migration_lock'];

/** Whether the file holds a ledger. Throws StoreError for another program's database. Changes nothing, not even its journal. */
export function isLedgerFile(path: string): boolean {
  const { tables, migrations } = readSqliteTables(path);
  const others = tables.filter((name) => !ownTables.includes(name));
  if (migrations.includes(firstMigration)) return true;
  if (others.length === 0 && migrations.length === 0) return false;
  const shown = others.slice(0, 5).join(', ');
  throw new StoreError(
    `it is the database of another program${shown === '' ? '' : ` (its tables: ${shown}${others.length > 5 ? ', …' : ''})`}. ` +
      'Nothing was changed. Set CARILLON_DB to the file of the campaigns, or to a new one.',
  );
}

/** Reads how far the schema is, without changing it. Throws StoreError when a newer program has made it, or another one altogether. */
export async function readSchemaState(db: Kysely<Database>, dialect: StoreDialect, provider: MigrationProvider): Promise<SchemaState> {
  return judgeMigrations(await readApplied(db, dialect), Object.keys(await provider.getMigrations()));
}

/** How far the schema is, by the names of the migrations in the database and in this program. Throws StoreError as `readSchemaState`. */
export function judgeMigrations(applied: readonly string[], known: readonly string[]): SchemaState {
  if (applied.length === 0) return 'empty';
  if (applied[0] !== known[0]) throw new StoreError('its schema is that of another program. Nothing was changed. Name another database.');
  const newer = applied.filter((name) => !known.includes(name));
  if (newer.length > 0) {
    throw new StoreError(
      `a newer Carillon has brought it up to date (to ${newer.at(-1)}; this program knows ${known.at(-1)}). ` +
        'Nothing was changed. Use that version of the program, or another database.',
    );
  }
  return applied.length < known.length ? 'older' : 'current';
}

/** What to say to a command that reads, and so changes no schema. */
export function notReadable(state: Exclude<SchemaState, 'current'>): StoreError {
  if (state === 'empty') return new StoreError('it has no campaigns yet.', { remedy: { kind: 'start_first' } });
  return new StoreError(
    'an earlier Carillon made it, and this command changes no schema. Stop the workers of the earlier version, then start one of this version: it brings the database up to date.',
    { remedy: { kind: 'upgrade' } },
  );
}

async function readApplied(db: Kysely<Database>, dialect: StoreDialect): Promise<string[]> {
  const found =
    dialect === 'sqlite'
      ? sql<{ name: string | null }>`select name from sqlite_master where type = 'table' and name = 'kysely_migration'`
      : sql<{ name: string | null }>`select to_regclass('kysely_migration')::text as name`;
  if ((await found.execute(db)).rows[0]?.name == null) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return rows.map(({ name }) => name);
}
