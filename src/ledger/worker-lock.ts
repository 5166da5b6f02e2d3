import { isBusy, openSqliteFile } from './sqlite-file.ts';
import { StoreError } from './ledger-error.ts';

/** Held by at most one process of this machine; ends with it. */
export interface ProcessLock {
  release(): void;
}

/** Otherwise the garbage collector would release a forgotten lock. */
const held = new Set<ReturnType<typeof openSqliteFile>>();

/** Null: another holder has it. An open exclusive transaction on an empty SQLite file, which the kernel drops with the process. */
export function tryProcessLock(path: string): ProcessLock | null {
  let database: ReturnType<typeof openSqliteFile> | undefined;
  try {
    database = openSqliteFile(path, { journal: 'delete', busyTimeoutMs: 0 });
    database.prepare('begin exclusive').run([]);
  } catch (error) {
    database?.close();
    if (isBusy(error)) return null;
    throw error;
  }
  held.add(database);
  return {
    release: () => {
      // Closing alone leaves the lock to the garbage collector while a statement is still known.
      if (database === undefined) return;
      database.prepare('rollback').run([]);
      database.close();
      held.delete(database);
      database = undefined;
    },
  };
}

/** Makes this process the only worker on a SQLite file. Throws `StoreError` when another one holds the lock. */
export function lockSqliteFile(sqlitePath: string): ProcessLock {
  const path = `${sqlitePath}.lock`;
  let lock: ProcessLock | null;
  try {
    lock = tryProcessLock(path);
  } catch (cause) {
    const why = `The lock file ${path} cannot be used: ${(cause as Error).message}`;
    throw new StoreError(`${why}. Check that you may write to its folder.`, { cause });
  }
  if (lock !== null) return lock;
  throw new StoreError(
    `Another worker is already running on ${sqlitePath}. A SQLite file takes one worker; stop the other one, or use PostgreSQL (DATABASE_URL) for several.`,
  );
}
