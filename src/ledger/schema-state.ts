import { sql, type Kysely, type MigrationProvider } from 'kysely';
import { readSqliteTables } from './sqlite-file.ts';
import { StoreError } from './ledger-error.ts';
import type { Database } from './schema.ts';
import type { StoreDialect } from './tx.ts';

/** Nothing of ours, older than this program, or the same. */
export type SchemaState = 'empty' | 'older' | 'current';

const firstMigration = '001-first-schema';
const ownTables = ['kysely_migration', 'kysely_migration_lock'];

/** Throws StoreError for another program's database. Changes nothing, not even its journal. */
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

/** Changes nothing. Throws StoreError when a newer or another program made the schema. */
export async function readSchemaState(db: Kysely<Database>, dialect: StoreDialect, provider: MigrationProvider): Promise<SchemaState> {
  return compareMigrations(await readApplied(db, dialect), Object.keys(await provider.getMigrations()));
}

/** From names of migrations. Throws StoreError as `readSchemaState`. */
export function compareMigrations(applied: readonly string[], known: readonly string[]): SchemaState {
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

/** For commands that only read and change no schema. */
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
