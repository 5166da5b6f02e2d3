import { parentPort, workerData } from 'node:worker_threads';
import { openSqliteFile } from '../sqlite-dialect.ts';
import { cachePrepared } from '../sqlite-statements.ts';
import { carryError, type CarriedError } from './thread.ts';

/** The program of a thread with a connection of its own: SQLite keeps whoever asks it busy until it has answered. */
const { path, cacheKib } = workerData as SqliteThreadInput;
let database: ReturnType<typeof cachePrepared> | null = null;

function run({ sql, parameters }: SqliteQuestion): SqliteAnswer {
  try {
    database ??= cachePrepared(openSqliteFile(path, { cacheKib }));
    const statement = database.prepare(sql);
    if (statement.reader) return { rows: statement.all(parameters), changes: null };
    return { rows: [], changes: Number(statement.run(parameters).changes) };
  } catch (error) {
    return { error: carryError(error) };
  }
}

parentPort?.on('message', (question: SqliteQuestion | 'close') => {
  if (question !== 'close') {
    parentPort?.postMessage(run(question), []);
    return;
  }
  database?.close();
  parentPort?.close();
});

export interface SqliteThreadInput {
  path: string;
  /** Of pages at hand. */
  cacheKib: number;
}

export interface SqliteQuestion {
  sql: string;
  parameters: readonly unknown[];
}

export type SqliteAnswer = { rows: unknown[]; changes: number | null } | { error: CarriedError };
