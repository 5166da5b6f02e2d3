import { openSqliteFile } from './sqlite-dialect.ts';
import { StoreError } from './ledger-error.ts';

/**
 * Makes this process the only worker on a SQLite file. The lock is one of the operating system, held through SQLite on a file
 * beside the database: it ends with the process, however that ends. Throws `StoreError` when another worker holds it.
 */
export function lockSqliteFile(sqlitePath: string): { release(): void } {
  const path = `${sqlitePath}.lock`;
  let database: ReturnType<typeof openSqliteFile> | undefined;
  try {
    database = openSqliteFile(path, { journal: 'delete', busyTimeoutMs: 0 });
    database.prepare('begin exclusive').run([]);
  } catch (cause) {
    database?.close();
    const busy = /busy|locked/i.test((cause as Error).message);
    throw new StoreError(
      busy
        ? `Another worker is already running on ${sqlitePath}. A SQLite file takes one worker; stop the other one, or use PostgreSQL (DATABASE_URL) for several.`
        : `The lock file ${path} cannot be used: ${(cause as Error).message}. Check that you may write to its folder.`,
      { cause },
    );
  }
  const held = database;
  return {
    release: () => {
      // Closing alone leaves the lock to the garbage collector, as long as a statement of the connection is still known.
      held.prepare('rollback').run([]);
      held.close();
    },
  };
}
