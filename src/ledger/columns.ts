import { sql, type ColumnBuilderCallback, type CreateTableBuilder, type Generated, type Kysely } from 'kysely';

/** Declares a column's type in both databases and in the program. */
export interface Column<Type = unknown> {
  readonly type: 'text' | 'bytes' | 'integer' | 'sequence';
  readonly use: 'key' | 'value' | 'nullable';
  readonly standard?: string | number;
  /** Migration that added it; absent: created with the table. */
  readonly since?: number | undefined;
  /** Types only. */
  readonly holds?: Type;
}

type Since = number | undefined;

export const textKey = (): Column<string> => ({ type: 'text', use: 'key' });
export const integerKey = (): Column<number> => ({ type: 'integer', use: 'key' });
export const text = <Type extends string = string>(): Column<Type> => ({ type: 'text', use: 'value' });
export const textOrNull = <Type extends string = string>(since?: Since): Column<Type | null> => ({ type: 'text', use: 'nullable', since });
export const integer = (): Column<number> => ({ type: 'integer', use: 'value' });
export const integerOrNull = (since?: Since): Column<number | null> => ({ type: 'integer', use: 'nullable', since });
export const bytes = (): Column<Uint8Array> => ({ type: 'bytes', use: 'value' });
/** Numbers assigned by the database. */
export const sequence = (): Column<Generated<number>> => ({ type: 'sequence', use: 'value' });

export function textOr<Type extends string>(standard: NoInfer<Type>, since?: Since): Column<Generated<Type>> {
  return { type: 'text', use: 'value', standard, since };
}

export function integerOr<Type extends number = number>(standard: NoInfer<Type>, since?: Since): Column<Generated<Type>> {
  return { type: 'integer', use: 'value', standard, since };
}

type Columns = Readonly<Record<string, Column>>;

export type RowTypes<Tables extends Readonly<Record<string, Columns>>> = {
  [Table in keyof Tables]: { [Name in keyof Tables[Table]]: Tables[Table][Name] extends Column<infer Type> ? Type : never };
};

/** 64 bits in both: epoch milliseconds do not fit into PostgreSQL's `integer`. */
const typesIn = {
  sqlite: { text: 'text', bytes: 'bytea', integer: 'bigint', sequence: 'integer primary key autoincrement' },
  postgres: { text: 'text', bytes: 'bytea', integer: 'bigint', sequence: 'bigint generated always as identity primary key' },
} as const;

interface TableNames {
  /** Column names when the table was created. */
  former?: Readonly<Record<string, string>> | undefined;
  keyName?: string | undefined;
}

/** As its first migration did, without later columns. */
export async function createTable<Tables>(
  db: Kysely<Tables>,
  dialect: keyof typeof typesIn,
  name: string,
  columns: Columns,
  { former = {}, keyName = `${name}_pk` }: TableNames = {},
): Promise<void> {
  let table: CreateTableBuilder<string, string> = db.schema.createTable(name);
  const first = Object.entries(columns).filter(([, { since }]) => since === undefined);
  for (const [column, given] of first)
    table = table.addColumn(former[column] ?? column, sql.raw(typesIn[dialect][given.type]), declared(given));
  const key = first.filter(([, { use }]) => use === 'key').map(([column]) => column);
  await (key.length === 0 ? table : table.addPrimaryKeyConstraint(keyName, key)).execute();
}

export async function addColumns<Tables>(
  db: Kysely<Tables>,
  dialect: keyof typeof typesIn,
  tables: Readonly<Record<string, Columns>>,
  migration: number,
): Promise<void> {
  for (const [table, columns] of Object.entries(tables))
    for (const [name, given] of Object.entries(columns))
      if (given.since === migration)
        await db.schema.alterTable(table).addColumn(name, sql.raw(typesIn[dialect][given.type]), declared(given)).execute();
}

function declared({ type, use, standard }: Column): ColumnBuilderCallback {
  return (built) => {
    const filled = standard === undefined ? built : built.defaultTo(standard);
    return use === 'nullable' || type === 'sequence' ? filled : filled.notNull();
  };
}
