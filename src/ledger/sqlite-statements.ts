import type LibsqlDatabase from 'libsql';
import type { SqliteDatabase, SqliteStatement } from 'kysely';

type Libsql = InstanceType<typeof LibsqlDatabase>;

/** Preparing a statement costs more than running most of them; the set of texts is small and fixed. */
export function cachePrepared(database: Libsql, limit = 400): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    close: () => {
      try {
        // Statements that are still prepared keep SQLite from tidying up by itself.
        database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
      } catch {
        // A file that may only be read, or is busy, stays as it is: nothing is lost by that.
      }
      database.close();
    },
    prepare(sql) {
      const known = statements.get(sql);
      if (known !== undefined) return known;
      const statement = nameHere(database.prepare(sql));
      if (statements.size < limit) statements.set(sql, statement);
      return statement;
    },
  };
}

/**
 * libsql looks at all columns whenever it is asked whether a statement answers rows, and names those of each row anew, which takes longer
 * than reading them: both are done here, once.
 */
function nameHere(statement: ReturnType<Libsql['prepare']>): SqliteStatement {
  const run: SqliteStatement['run'] = (parameters) => statement.run(parameters);
  const { reader } = statement;
  if (!reader) return { reader, run, all: () => [], iterate: () => [].values() };
  statement.raw(true);
  let names: string[] = [];
  const all: SqliteStatement['all'] = (parameters) => {
    const rows = statement.all(parameters) as unknown[][];
    // Another process may have added a column to the table meanwhile.
    if (rows[0] !== undefined && rows[0].length !== names.length) names = statement.columns().map(({ name }) => name);
    return rows.map((values) => {
      const row: Record<string, unknown> = {};
      for (let at = 0; at < names.length; at += 1) row[names[at] as string] = values[at];
      return row;
    });
  };
  return { reader, run, all, iterate: (parameters) => all(parameters).values() };
}
