import type { Config } from '../../../shared/config.ts';
import { readTextFile } from '../terminal/secret-input.ts';
import { UsageError } from '../../../shared/input/errors.ts';

/** Throws UsageError. */
export async function readJsonFile(name: string, path: string): Promise<unknown> {
  const text = await readTextFile(name, path);
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new UsageError(`${name}: not JSON (${(cause as Error).message}).`, { cause });
  }
}

/** The control token of a sandbox: from a file, else from the environment; undefined when neither names one. Throws UsageError. */
export async function readControlToken(
  file: string | undefined,
  { CARILLON_SANDBOX_TOKEN: token }: Pick<Config, 'CARILLON_SANDBOX_TOKEN'>,
): Promise<string | undefined> {
  return file === undefined ? token : (await readTextFile(`--control-token-file ${file}`, file)).trim();
}
