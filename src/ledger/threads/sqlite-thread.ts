import { workerData } from 'node:worker_threads';
import { cachePrepared, isBusy, openSqliteFile } from '../sqlite-file.ts';
import { answerOwner } from './thread.ts';

/** A thread with its own connection: SQLite blocks its thread until it has answered. */
const { path, cacheKib } = workerData as SqliteThreadInput;
/** SQLite retries ten times a second, which never succeeds while others write one transaction after the other. */
const retryEveryMs = 5;
const longestWaitMs = 10_000;
let database: ReturnType<typeof cachePrepared> | null = null;

function open(): ReturnType<typeof cachePrepared> {
  const file = openSqliteFile(path, { cacheKib });
  file.exec(`PRAGMA busy_timeout=${retryEveryMs}`);
  return cachePrepared(file);
}

function run({ sql, parameters }: SqliteQuestion): SqliteAnswer {
  const giveUpAt = performance.now() + longestWaitMs;
  for (;;)
    try {
      const statement = (database ??= open()).prepare(sql);
      if (statement.reader) return { rows: statement.all(parameters), changes: null };
      return { rows: [], changes: Number(statement.run(parameters).changes) };
    } catch (error) {
      if (!isBusy(error) || performance.now() >= giveUpAt) throw error;
    }
}

answerOwner(run, () => database?.close());

export interface SqliteThreadInput {
  path: string;
  cacheKib: number;
}

export interface SqliteQuestion {
  sql: string;
  parameters: readonly unknown[];
}

export interface SqliteAnswer {
  rows: unknown[];
  /** Null: a read. */
  changes: number | null;
}
