import { open, type FileHandle } from 'node:fs/promises';
import { describeFileError, ListFileError } from '../../shared/input/errors.ts';
import { encodingOfHead, type MarkedEncoding } from './text-encoding.ts';

/** An open list; the caller closes `handle`. */
export interface OpenList {
  handle: FileHandle;
  /** Length without trailing zero bytes. */
  end: number;
  zeros: number;
  kind: Exclude<ListKind, { kind: 'other' }>;
}

const sniffedBytes = 4096;
const readBytes = 256 * 1024;

/** Opens a list and detects its kind by content. Throws ListFileError when it is unreadable or clearly not a list. */
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
    // An odd length means that the high byte of the last UTF-16 character is one of the zeros cut off.
    const isHalf = kind.kind === 'text' && kind.encoding?.encoding === 'utf-16le' && text % 2 === 1;
    const end = kind.kind === 'archive' ? found.size : text + (isHalf ? 1 : 0);
    return { handle, end, zeros: found.size - end, kind };
  } catch (error) {
    await handle?.close();
    if (error instanceof ListFileError) throw error;
    throw new ListFileError(path, describeFileError(error), { cause: error });
  }
}

/** File length without trailing zero bytes, as left by a full disk or a preallocating program. */
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

/** Bytes of an open list from `start`. Can be stopped and restarted, unlike a stream of the same handle. */
export async function* bytesOf({ handle, end }: OpenList, start: number): AsyncGenerator<Buffer> {
  for (let position = start; position < end;) {
    const length = Math.min(readBytes, end - position);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

export function refusalOf(kind: string): string {
  return `this is ${kind}, not a list; export the list as "CSV UTF-8" or as an Excel workbook (.xlsx), and name that file`;
}

interface Signature {
  bytes: readonly number[];
  kind: string;
}

const ascii = (text: string): number[] => [...Buffer.from(text, 'latin1')];

const signatures: readonly Signature[] = [
  { bytes: [0x89, 0x50, 0x4e, 0x47], kind: 'a PNG picture' },
  { bytes: [0xff, 0xd8, 0xff], kind: 'a JPEG picture' },
  { bytes: ascii('GIF8'), kind: 'a GIF picture' },
  { bytes: ascii('RIFF'), kind: 'a picture or recording' },
  { bytes: ascii('%PDF'), kind: 'a PDF document' },
  { bytes: [0xd0, 0xcf, 0x11, 0xe0], kind: 'an old Excel workbook (.xls), or one that is protected by a password' },
  { bytes: [0x1f, 0x8b], kind: 'a gzip archive' },
  { bytes: ascii('BZh'), kind: 'a bzip2 archive' },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], kind: 'a zstd archive' },
  { bytes: [0xfd, 0x37, 0x7a, 0x58, 0x5a], kind: 'an xz archive' },
  { bytes: [0x37, 0x7a, 0xbc, 0xaf], kind: 'a 7z archive' },
  { bytes: ascii('Rar!'), kind: 'a RAR archive' },
  { bytes: ascii('SQLite format 3'), kind: 'an SQLite database' },
  { bytes: ascii('{\\rtf'), kind: 'an RTF document' },
  { bytes: [0x00, 0x00, 0xfe, 0xff], kind: 'text in UTF-32' },
  { bytes: [0xff, 0xfe, 0x00, 0x00], kind: 'text in UTF-32' },
];

/** File kind by its first bytes. `archive` may be a workbook; `encoding` null: UTF-8 or one byte per character. */
type ListKind = { kind: 'text'; encoding: MarkedEncoding | null } | { kind: 'archive' } | { kind: 'other'; name: string };

function recogniseKind(head: Uint8Array): ListKind {
  const found = signatures.find(({ bytes }) => bytes.every((byte, index) => head[index] === byte));
  if (found !== undefined) return { kind: 'other', name: found.kind };
  const bytes = Buffer.from(head);
  if (['PK\x03\x04', 'PK\x05\x06'].includes(bytes.toString('latin1', 0, 4))) return { kind: 'archive' };
  const encoding = encodingOfHead(head);
  const text = new TextDecoder(encoding?.encoding ?? 'latin1').decode(head);
  if (/^\s*<(?:!doctype|html|\?xml)/i.test(text)) return { kind: 'other', name: 'a web page or XML document' };
  if (/^\s*(?:\{\s*"|\[\s*[[{"])/.test(text)) return { kind: 'other', name: 'JSON' };
  return isBinary(text) ? { kind: 'other', name: 'binary data' } : { kind: 'text', encoding };
}

/** One stray control character spoils one row; more than one in ten means binary. */
function isBinary(text: string): boolean {
  // eslint-disable-next-line no-control-regex
  return (text.match(/[\0-\x08\x0b\x0c\x0e-\x1f]/g)?.length ?? 0) > text.length / 10;
}
