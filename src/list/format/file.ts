import { open, type FileHandle } from 'node:fs/promises';
import { describeFileError, ListFileError } from '../../shared/input/errors.ts';
import { recogniseKind, type ListKind } from './sniff.ts';

/** An open list. Whoever asked for it closes it. */
export interface OpenList {
  handle: FileHandle;
  /** Where its bytes end, without zeros that only fill it up. */
  end: number;
  /** How many those are. */
  zeros: number;
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
    const text = await endOfText(handle, found.size);
    const { bytesRead } = await handle.read(buffer, 0, sniffedBytes, 0);
    const head = buffer.subarray(0, Math.min(bytesRead, text));
    const kind = recogniseKind(head);
    if (kind.kind === 'other') throw new ListFileError(path, refusalOf(kind.name));
    // The last zero byte belongs to the last character there.
    const isHalf = kind.kind === 'text' && kind.encoding?.encoding === 'utf-16le' && text % 2 === 1;
    const end = kind.kind === 'archive' ? found.size : text + (isHalf ? 1 : 0);
    return { handle, end, zeros: found.size - end, kind };
  } catch (error) {
    await handle?.close();
    if (error instanceof ListFileError) throw error;
    throw new ListFileError(path, describeFileError(error), { cause: error });
  }
}

/**
 * Where a file ends when the zero bytes behind its text are left out: a program that reserves room for a file, or a disk that was full,
 * leaves them.
 */
async function endOfText(handle: FileHandle, size: number): Promise<number> {
  const buffer = Buffer.alloc(sniffedBytes);
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - sniffedBytes);
    const { bytesRead } = await handle.read(buffer, 0, end - start, start);
    const last = buffer.subarray(0, bytesRead).findLastIndex((byte) => byte !== 0);
    if (last >= 0) return start + last + 1;
    end = start;
  }
  return 0;
}

/** The bytes of an open list from `start` on. Can be stopped and begun again, which a stream of the same handle cannot. */
export async function* bytesOf({ handle, end }: OpenList, start: number): AsyncGenerator<Buffer> {
  for (let position = start; position < end;) {
    const length = Math.min(readBytes, end - position);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

/** What to do about a file that is something else than a list. */
export function refusalOf(kind: string): string {
  return `this is ${kind}, not a list; export the list as "CSV UTF-8" or as an Excel workbook (.xlsx), and name that file`;
}
