import { open, type FileHandle } from 'node:fs/promises';
import { describeFileError, ListFileError } from './errors.ts';
import { recogniseKind, type ListKind } from './list-sniff.ts';

/** An open list. Whoever asked for it closes it. */
export interface OpenList {
  handle: FileHandle;
  head: Buffer;
  kind: Exclude<ListKind, { kind: 'other' }>;
}

const sniffedBytes = 4096;
const readBytes = 256 * 1024;

/**
 * Opens a list and recognises by its content what it is.
 * @throws ListFileError when it cannot be read, or is plainly no list.
 */
export async function openList(path: string): Promise<OpenList> {
  let handle: FileHandle | null = null;
  try {
    handle = await open(path, 'r');
    const found = await handle.stat();
    if (found.isDirectory()) throw new ListFileError(path, 'this is a folder; name the CSV file inside it');
    if (!found.isFile()) throw new ListFileError(path, 'this is not a regular file; save the list to disk first');
    const buffer = Buffer.alloc(sniffedBytes);
    const { bytesRead } = await handle.read(buffer, 0, sniffedBytes, 0);
    const head = buffer.subarray(0, bytesRead);
    const kind = recogniseKind(head);
    if (kind.kind === 'other') throw new ListFileError(path, refusalOf(kind.name));
    return { handle, head, kind };
  } catch (error) {
    await handle?.close();
    if (error instanceof ListFileError) throw error;
    throw new ListFileError(path, describeFileError(error), { cause: error });
  }
}

/** The bytes of an open file from `start` on. Can be stopped and begun again, which a stream of the same handle cannot. */
export async function* bytesOf(handle: FileHandle, start: number): AsyncGenerator<Buffer> {
  for (let position = start; ;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(readBytes), 0, readBytes, position);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

/** What to do about a file that is something else than a list. */
export function refusalOf(kind: string): string {
  return `this is ${kind}, not a list; export the list as "CSV UTF-8" or as an Excel workbook (.xlsx), and name that file`;
}
