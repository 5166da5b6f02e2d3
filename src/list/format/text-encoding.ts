import { isUtf8 } from 'node:buffer';

export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

export interface MarkedEncoding {
  encoding: TextEncoding;
  /** Length of the byte order mark. */
  markBytes: number;
}

const marks: readonly (MarkedEncoding & { mark: readonly number[] })[] = [
  { mark: [0xef, 0xbb, 0xbf], encoding: 'utf-8', markBytes: 3 },
  { mark: [0xff, 0xfe], encoding: 'utf-16le', markBytes: 2 },
  { mark: [0xfe, 0xff], encoding: 'utf-16be', markBytes: 2 },
];

/** What the first bytes of a text say: a byte order mark, or the zero bytes of UTF-16. Null: UTF-8, or one byte per character. */
export function encodingOfHead(head: Uint8Array): MarkedEncoding | null {
  const marked = marks.find(({ mark }) => mark.every((byte, index) => head[index] === byte));
  if (marked !== undefined) return { encoding: marked.encoding, markBytes: marked.markBytes };
  const zeros = [0, 0];
  head.forEach((byte, index) => {
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  });
  const [even = 0, odd = 0] = zeros;
  const half = head.length / 2;
  // A stray zero byte spoils one cell; zeros in every second place are letters of two bytes.
  if (head.length < 8 || Math.max(even, odd) <= half * 0.8 || Math.min(even, odd) >= half * 0.2) return null;
  return { encoding: odd > even ? 'utf-16le' : 'utf-16be', markBytes: 0 };
}

export interface ByteCensus {
  /** Characters of more than one byte that are UTF-8. */
  utf8: number;
  /** Bytes that no character of UTF-8 has in their place. */
  other: number;
  /** Line of the first of those, from 1; 0 when there are none. */
  firstLine: number;
}

/**
 * Whether a text without marks is UTF-8 or Windows-1252 (Latin-1 with a few more characters). A file that mixes both stays UTF-8, where the
 * odd cells are refused row by row: read the other way its good names would become wrong ones.
 */
export function chooseByCensus({ utf8, other }: Pick<ByteCensus, 'utf8' | 'other'>): 'utf-8' | 'windows-1252' {
  return other > utf8 * 20 ? 'windows-1252' : 'utf-8';
}

/** Null when all of it is UTF-8, which is found at the speed of the disk; else counts what is not. */
export async function takeCensus(open: () => AsyncIterable<Uint8Array>): Promise<ByteCensus | null> {
  let rest: Uint8Array = new Uint8Array(0);
  for await (const chunk of open()) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const whole = bytes.length - unfinishedBytes(bytes);
    if (!isUtf8(bytes.subarray(0, whole))) return countBytes(open());
    rest = bytes.slice(whole);
  }
  return rest.length === 0 ? null : countBytes(open());
}

/** How many bytes at the end begin a character that goes on in the next chunk. */
function unfinishedBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return lengthOf(byte) > back ? back : 0;
  }
  return 0;
}

function lengthOf(lead: number): number {
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  if (lead >= 0xe0) return lead < 0xf0 ? 3 : 1;
  return lead >= 0xc2 ? 2 : 1;
}

async function countBytes(chunks: AsyncIterable<Uint8Array>): Promise<ByteCensus> {
  const census: ByteCensus = { utf8: 0, other: 0, firstLine: 0 };
  let line = 1;
  let length = 0;
  let missing = 0;
  const spoil = (bytes: number): void => {
    if (census.other === 0) census.firstLine = line;
    census.other += bytes;
  };
  for await (const chunk of chunks) {
    for (const byte of chunk) {
      if (missing > 0) {
        if ((byte & 0xc0) === 0x80) {
          missing -= 1;
          if (missing === 0) census.utf8 += 1;
          continue;
        }
        spoil(length - missing);
      }
      length = byte < 0x80 ? 1 : lengthOf(byte);
      missing = length - 1;
      if (byte === 0x0a) line += 1;
      else if (byte >= 0x80 && length === 1) spoil(1);
    }
  }
  if (missing > 0) spoil(length - missing);
  return census;
}

/** The same text as UTF-8. `chunks` begin after the byte order mark. */
export async function* toUtf8(chunks: AsyncIterable<Buffer>, encoding: TextEncoding): AsyncGenerator<Buffer> {
  if (encoding === 'utf-8') {
    yield* chunks;
    return;
  }
  const decoder = new TextDecoder(encoding, { ignoreBOM: true });
  for await (const chunk of chunks) yield Buffer.from(decoder.decode(chunk, { stream: true }));
  const rest = decoder.decode();
  if (rest !== '') yield Buffer.from(rest);
}

/** Enough lines with letters to know a script by. */
const sampleBytes = 64 * 1024;
const eastAsian = ['shift_jis', 'euc-jp', 'gb18030', 'big5', 'euc-kr'] as const;
const eastAsianLetters = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/**
 * What a text that is not UTF-8 holds instead of Western letters, for the end of a sentence; null when it may well be Windows-1252. Every
 * byte is a character there, so that a list in any other encoding can be read, and the names that come out are spoken.
 */
export async function findForeignLetters(chunks: AsyncIterable<Uint8Array>): Promise<string | null> {
  const sample = await linesWithLetters(chunks);
  if (eastAsian.some((encoding) => readsAs(encoding, sample))) return 'an East Asian one such as Shift-JIS, GBK or Big5';
  // Accented letters stand alone or in pairs among others: words of nothing else are of another alphabet.
  const runs = sample.toString('latin1').match(/[\x80-\xff]+/g) ?? [];
  const letters = runs.join('').length;
  const inWords = runs.filter((run) => run.length >= 4).join('').length;
  return inWords * 2 > letters ? 'one of another alphabet, such as Windows-1251 (Cyrillic)' : null;
}

/** Whether all of the text is valid so, and most of what is not ASCII are letters of the East that stand side by side, as in words. */
function readsAs(encoding: (typeof eastAsian)[number], sample: Buffer): boolean {
  // The last line may end in the middle of a character.
  const text = new TextDecoder(encoding).decode(sample).replace(/\uFFFD$/, '');
  if (text.includes('\uFFFD')) return false;
  // eslint-disable-next-line no-control-regex
  const runs = text.match(/[^\x00-\x7f]+/g) ?? [];
  const lettersOf = (run: string): number => run.match(eastAsianLetters)?.length ?? 0;
  const all = runs.reduce((sum, run) => sum + (run.match(/./gsu)?.length ?? 0), 0);
  const inWords = runs.reduce((sum, run) => sum + (lettersOf(run) >= 2 ? lettersOf(run) : 0), 0);
  return inWords * 2 > all;
}

async function linesWithLetters(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const lines: Buffer[] = [];
  let length = 0;
  let rest: Uint8Array = new Uint8Array(0);
  const take = (line: Uint8Array): void => {
    if (length >= sampleBytes || line.every((byte) => byte < 0x80)) return;
    lines.push(Buffer.from(line.subarray(0, sampleBytes)));
    length += line.length;
  };
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
      take(bytes.subarray(start, end + 1));
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (length >= sampleBytes || rest.length >= sampleBytes) break;
  }
  take(rest);
  return Buffer.concat(lines);
}
