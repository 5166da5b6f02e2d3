import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';
import { SandboxStartError } from '../core/settings/check-settings.ts';

const format = 'carillon-sandbox-data';
const version = 2;
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
/** Lines after the first may grow to this, and to so many times the first, before all is written anew. */
const mostChangedBytes = 16 * 1024 * 1024;
const mostTimesFirst = 4;

/**
 * A state in a file: a line of JSON that says what the file is, a line with the whole state, and one for each change since. All but the
 * first are sealed with the key in the file beside it. Open in one process at a time.
 */
export class StateFile {
  readonly path: string;
  readonly found: Map<string, unknown> | null;
  readonly #key: Buffer;
  readonly #lock: { release(): void };
  #file: number | null = null;
  #lines = 0;
  #firstBytes = 0;
  #changedBytes = 0;

  /** Opens or makes the file. Throws `SandboxStartError` when it cannot be used; nothing in it is changed then. */
  constructor(path: string) {
    this.path = path;
    const isNew = (fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
    const key = isNew ? null : readKey(path, readHeader(path));
    this.#lock = lock(path);
    try {
      this.#key = key ?? makeKey(path);
      this.found = isNew ? null : this.#read();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  get isLong(): boolean {
    return this.#changedBytes > Math.max(mostChangedBytes, mostTimesFirst * this.#firstBytes);
  }

  /** Adds what has changed, an object in JSON. What is added survives the end of the process, however sudden; not that of the power. */
  add(changes: string): void {
    if (this.#file === null) throw new Error('The whole state is written first.');
    const line = this.#seal(changes, this.#lines);
    fs.writeFileSync(this.#file, line);
    this.#lines += 1;
    this.#changedBytes += line.length;
  }

  write(state: string): void {
    const header = JSON.stringify({ format, version, key: digestOf(this.#key) });
    const first = this.#seal(state, 1);
    const file = fs.openSync(`${this.path}.new`, 'w', 0o600);
    try {
      fs.writeFileSync(file, `${header}\n${first}`);
      fs.fsyncSync(file);
      fs.renameSync(`${this.path}.new`, this.path);
      const folder = fs.openSync(dirname(this.path), 'r');
      fs.fsyncSync(folder);
      fs.closeSync(folder);
    } catch (error) {
      fs.closeSync(file);
      throw error;
    }
    if (this.#file !== null) fs.closeSync(this.#file);
    this.#file = file;
    this.#lines = 2;
    this.#firstBytes = first.length;
    this.#changedBytes = 0;
  }

  close(): void {
    if (this.#file !== null) fs.closeSync(this.#file);
    this.#file = null;
    this.#lock.release();
  }

  /** A last line without its end is one that was being written when the process ended: nobody was told of it. */
  #read(): Map<string, unknown> {
    const found = new Map<string, unknown>();
    for (const [nth, line] of fs.readFileSync(this.path, 'latin1').split('\n').slice(0, -1).entries()) {
      if (nth === 0) continue;
      try {
        for (const [name, value] of Object.entries(JSON.parse(this.#open(line, nth)))) found.set(name, value);
      } catch (cause) {
        const message = `${this.path} is damaged: line ${nth + 1} cannot be read. It is left as it is: put a copy back, or choose another --data file.`;
        throw new SandboxStartError(message, { cause });
      }
    }
    return found;
  }

  /** It opens in that line alone. */
  #seal(text: string, line: number): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(String(line)));
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${sealed.toString('base64')}\n`;
  }

  #open(line: string, nth: number): string {
    const sealed = Buffer.from(line, 'base64');
    const decipher = createDecipheriv('aes-256-gcm', this.#key, sealed.subarray(0, nonceBytes))
      .setAAD(Buffer.from(String(nth)))
      .setAuthTag(sealed.subarray(-tagBytes));
    return decipher.update(sealed.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8');
  }
}

/** The digest of the key with which a file is sealed. Looks at its first bytes alone: it may be somebody else's. */
function readHeader(path: string): string {
  const bytes = Buffer.alloc(256);
  try {
    const file = fs.openSync(path, 'r');
    fs.readSync(file, bytes, 0, bytes.length, 0);
    fs.closeSync(file);
  } catch (cause) {
    throw new SandboxStartError(`${path} cannot be read (${codeOf(cause)}).`, { cause });
  }
  // The `application_id` of the SQLite database that kept the state before.
  if (bytes.toString('latin1', 0, 15) === 'SQLite format 3' && bytes.toString('latin1', 68, 72) === 'CARI')
    throw new SandboxStartError(
      `${path} was made by an earlier release, which kept its state in a database. It is left as it is: choose another --data file. To go on with its state, export it with that release (GET /_sandbox/export) and import it here (POST /_sandbox/import).`,
    );
  const [, found, key] =
    /^\{"format":"carillon-sandbox-data","version":(\d+)(?:,"key":"([\w-]+)"\}\n)?/.exec(bytes.toString('latin1')) ?? [];
  if (found === undefined)
    throw new SandboxStartError(`${path} is not a data file of the sandbox. It is left as it is: choose another --data file.`);
  if (found !== String(version) || key === undefined)
    throw new SandboxStartError(
      `${path} is of format ${found}; this sandbox reads format ${version}. It is left as it is: use the sandbox that made it, or choose another --data file.`,
    );
  return key;
}

function readKey(dataPath: string, digest: string): Buffer {
  const path = `${dataPath}.key`;
  let key: Buffer;
  try {
    key = Buffer.from(fs.readFileSync(path, 'utf8').trim(), 'base64');
  } catch (cause) {
    const message = `The key of the data file cannot be read from ${path} (${codeOf(cause)}). Without it the file stays closed: put it back, or choose another --data file.`;
    throw new SandboxStartError(message, { cause });
  }
  if (key.length === keyBytes && digestOf(key) === digest) return key;
  const message = `${path} is not the key of ${dataPath}. Put the right one back, or choose another --data file.`;
  throw new SandboxStartError(message);
}

/** A key whose data file is gone may open a copy of it some day: it is not overwritten. */
function makeKey(dataPath: string): Buffer {
  const path = `${dataPath}.key`;
  const key = randomBytes(keyBytes);
  try {
    fs.writeFileSync(path, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
    return key;
  } catch (cause) {
    const message =
      codeOf(cause) === 'EEXIST'
        ? `${path} exists, but ${dataPath}, to which it belongs, does not. Put that back, or remove the key to begin anew.`
        : `The key of the data file cannot be written to ${path} (${codeOf(cause)}).`;
    throw new SandboxStartError(message, { cause });
  }
}

function digestOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 22);
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
