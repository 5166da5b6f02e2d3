import * as fs from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';
import { parseJson } from '../core/json.ts';
import { SandboxStartError } from '../core/settings/settings.ts';

const format = 'carillon-sandbox-data';
const version = 4;
/** Version 3 also has a digest in its header, which is ignored. */
const oldestRead = 3;

/** Readable by its owner only: a JSON header line, then the state. Open in one process at a time. */
export class StateFile {
  readonly path: string;
  /** The last written state; null for a new file. */
  readonly found: unknown;
  /** Last `touch` of a process that had the file open, epoch ms; 0: unknown. */
  readonly touchedAt: number;
  readonly #lock: { release(): void };

  /** Throws `SandboxStartError` when the file is unusable, and then changes nothing. */
  constructor(path: string) {
    this.path = path;
    const isNew = (fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
    if (!isNew) checkHeader(path);
    this.touchedAt = fs.statSync(`${path}.lock`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    this.#lock = lock(path);
    try {
      this.found = isNew ? null : readState(path);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Atomic: survives a crash or power loss. */
  write(state: string): void {
    const header = JSON.stringify({ format, version });
    const file = fs.openSync(`${this.path}.new`, 'w', 0o600);
    try {
      fs.writeFileSync(file, `${header}\n${state}`);
      fs.fsyncSync(file);
    } finally {
      fs.closeSync(file);
    }
    fs.renameSync(`${this.path}.new`, this.path);
    const folder = fs.openSync(dirname(this.path), 'r');
    fs.fsyncSync(folder);
    fs.closeSync(folder);
  }

  /** Records the time in a second file, so that a copy of the state does not look younger. */
  touch(): void {
    const now = new Date();
    fs.utimes(`${this.path}.lock`, now, now, () => undefined);
  }

  close(): void {
    this.#lock.release();
  }
}

/** Reads only the first bytes: the file may belong to another program. */
function checkHeader(path: string): void {
  const bytes = Buffer.alloc(256);
  try {
    const file = fs.openSync(path, 'r');
    fs.readSync(file, bytes, 0, bytes.length, 0);
    fs.closeSync(file);
  } catch (cause) {
    throw new SandboxStartError(`${path} cannot be read (${codeOf(cause)}).`, { cause });
  }
  const [, found] = /^\{"format":"carillon-sandbox-data","version":(\d+)/.exec(bytes.toString('latin1')) ?? [];
  // `application_id` of the SQLite database of early versions; version 2 was encrypted.
  const isDatabase = bytes.toString('latin1', 0, 15) === 'SQLite format 3' && bytes.toString('latin1', 68, 72) === 'CARI';
  if (isDatabase || Number(found) < oldestRead)
    throw new SandboxStartError(
      `${path} was made by an earlier release, which kept its state in another form. It is left as it is: choose another --data file. To go on with its state, export it with that release (GET /_sandbox/export) and import it here (POST /_sandbox/import).`,
    );
  if (found === undefined)
    throw new SandboxStartError(`${path} is not a data file of the sandbox. It is left as it is: choose another --data file.`);
  if (Number(found) > version)
    throw new SandboxStartError(
      `${path} is of format ${found}; this sandbox reads format ${version}. It is left as it is: use the sandbox that made it, or choose another --data file.`,
    );
}

function readState(path: string): unknown {
  const [, state = ''] = fs.readFileSync(path, 'utf8').split(/\n(.*)/s, 2);
  const read = parseJson(state);
  if (read !== undefined) return read;
  throw new SandboxStartError(`${path} is damaged. It is left as it is: put a copy back, or choose another --data file.`);
}

function lock(path: string): { release(): void } {
  let database: Database.Database | undefined;
  try {
    database = new Database(`${path}.lock`);
    database.exec('PRAGMA busy_timeout=0');
    database.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    database?.close();
    const inUse = `${path} is in use by another sandbox. Stop that one, or choose another --data file.`;
    const message = codeOf(cause).startsWith('SQLITE_BUSY')
      ? inUse
      : `${path} cannot be made or used (${codeOf(cause)}). Its folder has to exist, and you have to be allowed to write there.`;
    throw new SandboxStartError(message, { cause });
  }
  const held = database;
  return {
    release: () => {
      held.exec('ROLLBACK');
      held.close();
    },
  };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
