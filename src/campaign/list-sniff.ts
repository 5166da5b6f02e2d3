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
  { bytes: [0xd0, 0xcf, 0x11, 0xe0], kind: 'an old Excel workbook (.xls)' },
  { bytes: [0x1f, 0x8b], kind: 'a gzip archive' },
  { bytes: ascii('BZh'), kind: 'a bzip2 archive' },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], kind: 'a zstd archive' },
  { bytes: [0xfd, 0x37, 0x7a, 0x58, 0x5a], kind: 'an xz archive' },
  { bytes: [0x37, 0x7a, 0xbc, 0xaf], kind: 'a 7z archive' },
  { bytes: ascii('Rar!'), kind: 'a RAR archive' },
  { bytes: ascii('SQLite format 3'), kind: 'an SQLite database' },
  { bytes: ascii('{\\rtf'), kind: 'an RTF document' },
  { bytes: [0xff, 0xfe], kind: 'text in UTF-16' },
  { bytes: [0xfe, 0xff], kind: 'text in UTF-16' },
  { bytes: [0x00, 0x00, 0xfe, 0xff], kind: 'text in UTF-32' },
];

/** What the first bytes of a file are, when that is plainly not a CSV list in UTF-8; null when they may be one. */
export function recogniseOtherKind(head: Uint8Array): string | null {
  const found = signatures.find(({ bytes }) => bytes.every((byte, index) => head[index] === byte));
  if (found !== undefined) return found.kind;
  const text = Buffer.from(head).toString('latin1');
  if (text.startsWith('PK\x03\x04') || text.startsWith('PK\x05\x06')) return recogniseZip(text);
  if (/^\s*<(?:!doctype|html|\?xml)/i.test(text)) return 'a web page or XML document';
  if (/^\s*(?:\{\s*"|\[\s*[[{"])/.test(text)) return 'JSON';
  return recogniseBinary(head);
}

function recogniseZip(text: string): string {
  if (/\[Content_Types\]\.xml|xl\//.test(text)) return 'an Excel workbook (.xlsx)';
  return text.includes('opendocument.spreadsheet') ? 'an OpenDocument spreadsheet (.ods)' : 'a ZIP archive';
}

/** A stray NUL spoils one row; NULs in every second place are UTF-16, and one byte in ten is no text at all. */
function recogniseBinary(head: Uint8Array): string | null {
  let control = 0;
  const nulls = [0, 0];
  head.forEach((byte, index) => {
    if (byte === 0) nulls[index % 2] = (nulls[index % 2] ?? 0) + 1;
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) control++;
  });
  const [even = 0, odd = 0] = nulls;
  const half = head.length / 2;
  if (head.length >= 8 && Math.max(even, odd) > half * 0.8 && Math.min(even, odd) < half * 0.2) return 'text in UTF-16';
  return control > head.length / 10 ? 'binary data' : null;
}
