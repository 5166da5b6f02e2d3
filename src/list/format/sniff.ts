import { encodingOfHead, type MarkedEncoding } from './text-encoding.ts';

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

/** What a file is by its first bytes. `archive` may be a workbook; `encoding` null: UTF-8, or one byte per character. */
export type ListKind = { kind: 'text'; encoding: MarkedEncoding | null } | { kind: 'archive' } | { kind: 'other'; name: string };

export function recogniseKind(head: Uint8Array): ListKind {
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

/** A stray control character spoils one row; one in ten is no text at all. */
function isBinary(text: string): boolean {
  // eslint-disable-next-line no-control-regex
  return (text.match(/[\0-\x08\x0b\x0c\x0e-\x1f]/g)?.length ?? 0) > text.length / 10;
}
