import { readFile } from 'node:fs/promises';
import { describeFileError } from '../../input/errors.ts';
import type { Config } from '../../config.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** The control token of a sandbox: from a file, else from the environment; undefined when neither names one. Throws UsageError. */
export async function readControlToken(
  file: string | undefined,
  { CARILLON_SANDBOX_TOKEN: token }: Pick<Config, 'CARILLON_SANDBOX_TOKEN'>,
): Promise<string | undefined> {
  if (file === undefined) return token;
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw new UsageError(`--control-token-file ${file}: the file cannot be read: ${describeFileError(error)}.`, {
      cause: error,
    });
  }
}
