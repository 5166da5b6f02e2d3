import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { SandboxStartError } from '../core/start-error.ts';

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** Seals what is kept in a data file; the key lies in a file beside it that only its owner may read. */
export class DataKey {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** `place` is where the value belongs: it opens nowhere else. */
  seal(text: string, place: string): Buffer {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(place));
    return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  }

  /** Throws when the value was not sealed with this key, or for another place. */
  open(sealed: Buffer, place: string): string {
    const decipher = createDecipheriv('aes-256-gcm', this.#key, sealed.subarray(0, nonceBytes))
      .setAAD(Buffer.from(place))
      .setAuthTag(sealed.subarray(-tagBytes));
    return decipher.update(sealed.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8');
  }
}

/** A key whose data file is gone may open a copy of it some day: it is not overwritten. */
export function refuseLoneKey(path: string, dataPath: string): void {
  if (!existsSync(path)) return;
  throw new SandboxStartError(
    `${path} exists, but ${dataPath}, to which it belongs, does not. Put that back, or remove the key to begin anew.`,
  );
}

export function createDataKey(path: string): DataKey {
  const key = randomBytes(keyBytes);
  try {
    writeFileSync(path, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new SandboxStartError(`The key of the data file cannot be written to ${path} (${codeOf(error)}).`, {
      cause: error,
    });
  }
  return new DataKey(key);
}

export function readDataKey(path: string): DataKey {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new SandboxStartError(
      `The key of the data file cannot be read from ${path} (${codeOf(error)}). Without it the file stays closed: put it back, or choose another --data file.`,
      { cause: error },
    );
  }
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== keyBytes)
    throw new SandboxStartError(
      `${path} does not hold the key of a data file. Put the right one back, or choose another --data file.`,
    );
  return new DataKey(key);
}

/** What the machine calls a failure, such as `ENOENT`. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
