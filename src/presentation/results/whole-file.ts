import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describeFileError, OutputFileError, codeOf } from '../../shared/input/errors.ts';

type Chunks = AsyncIterable<string | Uint8Array> | Iterable<string>;

/**
 * Writes atomically: a flushed temporary file in the same folder, renamed over `path`. On any failure, also of `chunks`, removes the
 * temporary file and leaves `path` untouched.
 * @throws OutputFileError when the system refuses; errors of `chunks` pass through.
 */
export async function writeWholeFile(path: string, chunks: Chunks): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  const handle = await attempt(path, () => open(temporary, 'wx', 0o600));
  try {
    try {
      for await (const chunk of chunks) await attempt(path, () => handle.appendFile(chunk));
      await attempt(path, async () => {
        await handle.chmod(await modeOf(path));
        await handle.sync();
      });
    } finally {
      await handle.close();
    }
    await attempt(path, () => rename(temporary, path));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/** Throws OutputFileError for an input's path, a folder, or no regular file: the rename would replace a device. */
export async function refuseToOverwrite(path: string, inputs: readonly string[]): Promise<void> {
  const target = await identify(path);
  if (target === null) return;
  if (target.kind === 'folder') throw new OutputFileError(path, 'this is a folder; name a file inside it', { isBadInput: true });
  if (target.kind === 'other') throw new OutputFileError(path, 'this is not a regular file; name another one', { isBadInput: true });
  for (const input of inputs) {
    if ((await identify(input))?.identity !== target.identity) continue;
    throw new OutputFileError(path, 'this is an input of the campaign and will not be overwritten; name another file', {
      isBadInput: true,
    });
  }
}

async function attempt<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = codeOf(error) === 'ENOENT' ? 'its folder does not exist; make that first' : describeFileError(error);
    throw new OutputFileError(path, `the file was not written: ${reason}`, { cause: error });
  }
}

/** A replaced file keeps its permissions; a new one is readable by its owner only. */
async function modeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).mode & 0o777;
  } catch {
    return 0o600;
  }
}

/** Without it the rename may be lost in a machine crash; skipped where folders cannot be opened. */
export async function syncFolder(path: string): Promise<void> {
  let folder: FileHandle | null = null;
  try {
    folder = await open(path, 'r');
    await folder.sync();
  } catch {
    // The file itself is complete and in place.
  } finally {
    await folder?.close();
  }
}

/** Identity by file, not by name. Null: does not exist. */
async function identify(path: string): Promise<{ identity: string; kind: 'file' | 'folder' | 'other' } | null> {
  try {
    const found = await stat(path);
    const kind = found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other';
    return { identity: `${String(found.dev)}:${String(found.ino)}`, kind };
  } catch {
    // A missing file cannot be overwritten; other faults show when the file is written.
    return null;
  }
}

/** As `refuseToOverwrite`, and also refuses an existing file that does not begin as one of its kind. Throws OutputFileError. */
export async function refuseOtherFile(
  path: string,
  { what, isEarlier }: { what: string; isEarlier: (begin: string) => boolean | Promise<boolean> },
): Promise<void> {
  await refuseToOverwrite(path, []);
  const isEmpty = await stat(path).then(({ size }) => size === 0, () => true); // prettier-ignore
  if (isEmpty || (await isEarlier(await readBegin(path)))) return;
  throw new OutputFileError(path, `this file is no earlier ${what} and will not be overwritten; name another file`, { isBadInput: true });
}

const longestBegin = 1024 * 1024;

/** Empty if unreadable. */
async function readBegin(path: string): Promise<string> {
  const chunks = await createReadStream(path, { end: longestBegin - 1 }).toArray().catch(() => []); // prettier-ignore
  return Buffer.concat(chunks as Buffer[]).toString('latin1');
}
