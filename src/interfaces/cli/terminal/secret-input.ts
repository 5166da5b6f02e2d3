import { capital } from '../../../shared/input/figures.ts';
import { readFile } from 'node:fs/promises';
import { describeFileError, UsageError } from '../../../shared/input/errors.ts';
import type { PersonInput } from './person-input.ts';

export interface SecretSource {
  /** What it is, as in `the auth token`. */
  what: string;
  /** A path, or `-` for standard input; undefined to ask the person. */
  file: string | undefined;
  /** The flag that names a file, for the message when nobody can be asked. */
  fileFlag: string;
}

/**
 * A secret of one line, from a file or from a prompt without echo; never from the command line, which other users of the machine can
 * read. Throws UsageError.
 */
export async function readSecret(input: PersonInput, { what, file, fileFlag }: SecretSource): Promise<string> {
  if (file !== undefined) return oneLine(await readSource(input, file, what), `${what} in ${nameOf(file)}`);
  if (!input.isInteractive) {
    throw new UsageError(`There is nobody here to ask for ${what}. Give it in a file: ${fileFlag}, with - for standard input.`);
  }
  return oneLine(await input.askSecret(`${capital(what)} (not shown)`), what);
}

/** The text of a file, or of standard input for `-`. Throws UsageError. */
export async function readSource(input: PersonInput, file: string, what: string): Promise<string> {
  return file === '-' ? input.readAll() : readTextFile(file, file, what);
}

/** The text of a file, which `name` calls as the person did. Throws UsageError. */
export async function readTextFile(name: string, path: string, what = 'the file'): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`${name}: ${what} cannot be read: ${describeFileError(cause)}.`, { cause });
  });
}

function oneLine(text: string, name: string): string {
  const value = text.replace(/\r?\n$/, '').trim();
  if (value === '') throw new UsageError(`${capital(name)} is empty.`);
  if (/[\r\n]/.test(value)) throw new UsageError(`${capital(name)} has more than one line; it must be the value alone.`);
  return value;
}

/** How messages call a file that a flag names. */
export function nameOf(file: string): string {
  return file === '-' ? 'standard input' : file;
}
