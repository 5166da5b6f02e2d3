import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import Database from 'libsql';
import { SandboxStartError } from '../core/start-error.ts';
import { codeOf, createDataKey, readDataKey, refuseLoneKey, type DataKey } from './data-key.ts';

/** "CARI" as SQLite's `application_id`, which tells our files from those of other programs. */
const applicationId = 0x43415249;
/** SQLite's `user_version`. */
const dataFileVersion = 1;

/** Run before anything else is written, so that the file is known as ours from its first page on. */
const layout = [
  `PRAGMA application_id=${applicationId}`,
  `PRAGMA user_version=${dataFileVersion}`,
  'CREATE TABLE entity (kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID',
];

/** Locks hold between processes, and one process loses its own when it looks into the file beside SQLite. */
const openHere = new Set<string>();

const sqliteHeader = 'SQLite format 3\u0000';
const checkRow = { kind: 'check', key: 'key', text: 'sealed with the key beside this file' };

/** Rows that cannot be read go under this kind, so that nothing of them is lost. */
const asideKind = 'unreadable';

export interface Row {
  kind: string;
  key: string;
  text: string;
}

export type RowChange = Row | { kind: string; key: string; text: null };

/** Rows by kind and key in one SQLite file, each sealed. Open in one process at a time. */
export class DataFile {
  readonly path: string;
  readonly isNew: boolean;
  readonly #database: Database.Database;
  readonly #key: DataKey;

  private constructor(path: string, database: Database.Database, key: DataKey, isNew: boolean) {
    this.path = path;
    this.#database = database;
    this.#key = key;
    this.isNew = isNew;
  }

  /** Opens or makes the file. Throws `SandboxStartError` when it cannot be used; nothing in it is changed then. */
  static open(path: string): DataFile {
    if (openHere.has(resolve(path))) throw inUse(path);
    const isNew = !existsSync(path) || statSync(path).size === 0;
    if (!isNew) refuseForeignFile(path);
    const keyPath = `${path}.key`;
    if (isNew) refuseLoneKey(keyPath, path);
    else readDataKey(keyPath);
    const database = openAlone(path, isNew);
    try {
      const file = new DataFile(path, database, isNew ? createDataKey(keyPath) : readDataKey(keyPath), isNew);
      if (isNew) file.write([], true);
      else file.#checkVersion();
      file.#checkKey(keyPath);
      openHere.add(resolve(path));
      return file;
    } catch (error) {
      letGo(database);
      throw error;
    }
  }

  /** All rows but those put aside; text null where the seal of one does not fit. */
  read(): (Omit<Row, 'text'> & { text: string | null })[] {
    const found = this.#database.prepare('SELECT kind, key, value FROM entity WHERE kind <> ?').all([asideKind]);
    return (found as { kind: string; key: string; value: Buffer }[]).map(({ kind, key, value }) => {
      try {
        return { kind, key, text: this.#key.open(Buffer.from(value), `${kind} ${key}`) };
      } catch {
        return { kind, key, text: null };
      }
    });
  }

  /** Takes rows out of what is read, and keeps them in the file. */
  putAside(rows: readonly Omit<Row, 'text'>[]): void {
    this.#inTransaction(() => {
      const put = this.#database.prepare('UPDATE OR REPLACE entity SET kind = ?, key = ? WHERE kind = ? AND key = ?');
      for (const { kind, key } of rows) put.run([asideKind, `${kind} ${key}`, kind, key]);
    });
  }

  /** All or nothing. With `fromScratch` nothing but these rows, and what was put aside, is left. A null text removes the row. */
  write(changes: readonly RowChange[], fromScratch = false): void {
    this.#inTransaction(() => {
      if (fromScratch) this.#database.exec(`DELETE FROM entity WHERE kind <> '${asideKind}'`);
      const put = this.#database.prepare('INSERT OR REPLACE INTO entity (kind, key, value) VALUES (?, ?, ?)');
      const remove = this.#database.prepare('DELETE FROM entity WHERE kind = ? AND key = ?');
      if (fromScratch) this.#put(put, checkRow);
      for (const { kind, key, text } of changes) {
        if (text === null) remove.run([kind, key]);
        else this.#put(put, { kind, key, text });
      }
    });
  }

  close(): void {
    openHere.delete(resolve(this.path));
    letGo(this.#database);
  }

  #put(statement: Database.Statement, { kind, key, text }: Row): void {
    statement.run([kind, key, this.#key.seal(text, `${kind} ${key}`)]);
  }

  #checkVersion(): void {
    const { user_version: found } = this.#database.prepare('PRAGMA user_version').get([]) as { user_version: number };
    if (found === dataFileVersion) return;
    throw new SandboxStartError(
      `${this.path} is of format ${found}; this sandbox reads format ${dataFileVersion}. It is left as it is: use the sandbox that made it, or choose another --data file.`,
    );
  }

  #checkKey(keyPath: string): void {
    try {
      const row = this.#database
        .prepare('SELECT value FROM entity WHERE kind = ? AND key = ?')
        .get([checkRow.kind, checkRow.key]) as { value: Buffer } | undefined;
      if (row !== undefined) {
        this.#key.open(Buffer.from(row.value), `${checkRow.kind} ${checkRow.key}`);
        return;
      }
    } catch (error) {
      throw new SandboxStartError(
        `${keyPath} is not the key of ${this.path}. Put the right one back, or choose another --data file.`,
        { cause: error },
      );
    }
    throw new SandboxStartError(`${this.path} is damaged: it does not say which key it is sealed with.`);
  }

  #inTransaction(work: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }
}

/** Looks at the first bytes alone, so that a file of somebody else's is not even opened as a database. */
function refuseForeignFile(path: string): void {
  const header = Buffer.alloc(72);
  try {
    const file = openSync(path, 'r');
    readSync(file, header, 0, header.length, 0);
    closeSync(file);
  } catch (error) {
    throw new SandboxStartError(`${path} cannot be read (${codeOf(error)}).`, { cause: error });
  }
  const isSqlite = header.toString('latin1', 0, sqliteHeader.length) === sqliteHeader;
  if (isSqlite && header.readUInt32BE(68) === applicationId) return;
  throw new SandboxStartError(
    `${path} is not a data file of the sandbox. It is left as it is: choose another --data file.`,
  );
}

function openAlone(path: string, isNew: boolean): Database.Database {
  try {
    if (isNew) closeSync(openSync(path, 'a', 0o600));
  } catch (error) {
    throw new SandboxStartError(
      `${path} cannot be made (${codeOf(error)}). Its folder has to exist, and you have to be allowed to write there.`,
      { cause: error },
    );
  }
  const database = new Database(path);
  try {
    database.exec('PRAGMA busy_timeout=0');
    database.exec('PRAGMA locking_mode=EXCLUSIVE');
    // Takes the lock, which lasts until the file is closed.
    database.exec('BEGIN EXCLUSIVE');
    if (isNew) for (const statement of layout) database.exec(statement);
    database.exec('COMMIT');
    database.exec('PRAGMA journal_mode=WAL');
    // A commit survives the end of the process, however sudden; not that of the machine's power.
    database.exec('PRAGMA synchronous=NORMAL');
    database.exec('PRAGMA secure_delete=ON');
  } catch (error) {
    database.close();
    if (codeOf(error).startsWith('SQLITE_BUSY')) throw inUse(path, error);
    throw new SandboxStartError(`${path} cannot be opened (${codeOf(error)}).`, { cause: error });
  }
  return database;
}

/** Statements that are still prepared keep a closed database and its lock alive, so the lock is given up first. */
function letGo(database: Database.Database): void {
  database.exec('PRAGMA journal_mode=DELETE');
  database.exec('PRAGMA locking_mode=NORMAL');
  database.exec('BEGIN IMMEDIATE');
  database.exec('COMMIT');
  database.close();
}

function inUse(path: string, cause?: unknown): SandboxStartError {
  const message = `${path} is in use by another sandbox. Stop that one, or choose another --data file.`;
  return new SandboxStartError(message, { cause });
}
