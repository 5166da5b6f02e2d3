import { isAscii, isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import { textReader } from '../../shared/input/encoding.ts';
import type { LetterReading } from '../../shared/input/errors.ts';
import { printable } from '../../shared/input/printable.ts';

export interface MarkedEncoding {
  /** As returned by `readEncoding`. */
  encoding: string;
  markBytes: number;
}

const marks: readonly (MarkedEncoding & { mark: readonly number[] })[] = [
  { mark: [0xef, 0xbb, 0xbf], encoding: 'utf-8', markBytes: 3 },
  { mark: [0xff, 0xfe], encoding: 'utf-16le', markBytes: 2 },
  { mark: [0xfe, 0xff], encoding: 'utf-16be', markBytes: 2 },
];

/** Encoding by byte order mark or by the zero bytes of UTF-16. Null: UTF-8 or one byte per character. */
export function encodingOfHead(head: Uint8Array): MarkedEncoding | null {
  const marked = marks.find(({ mark }) => mark.every((byte, index) => head[index] === byte));
  if (marked !== undefined) return { encoding: marked.encoding, markBytes: marked.markBytes };
  const zeros = [0, 0];
  head.forEach((byte, index) => {
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  });
  const [even = 0, odd = 0] = zeros;
  const half = head.length / 2;
  // A stray zero byte spoils one cell; zeros in every second place mean UTF-16.
  if (head.length < 8 || Math.max(even, odd) <= half * 0.8 || Math.min(even, odd) >= half * 0.2) return null;
  return { encoding: odd > even ? 'utf-16le' : 'utf-16be', markBytes: 0 };
}

export interface ByteStats {
  /** Multi-byte UTF-8 characters; only 0 or 1 (any) when `other` is 0. */
  utf8: number;
  /** Bytes that are invalid in UTF-8. */
  other: number;
  /** Line of the first invalid byte, from 1; 0: none. */
  firstLine: number;
}

/** Counts valid and invalid UTF-8; a fully valid file takes the fast path. */
export async function readByteStats(open: () => AsyncIterable<Uint8Array>): Promise<ByteStats> {
  let rest: Uint8Array = new Uint8Array(0);
  let utf8 = 0;
  for await (const chunk of open()) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const whole = bytes.length - unfinishedBytes(bytes);
    if (!isUtf8(bytes.subarray(0, whole))) return countBytes(open());
    if (utf8 === 0 && !isAscii(bytes)) utf8 = 1;
    rest = bytes.slice(whole);
  }
  return rest.length === 0 ? { utf8, other: 0, firstLine: 0 } : countBytes(open());
}

/** Bytes at the end that begin a character continued in the next chunk. */
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

async function countBytes(chunks: AsyncIterable<Uint8Array>): Promise<ByteStats> {
  const stats: ByteStats = { utf8: 0, other: 0, firstLine: 0 };
  let line = 1;
  let length = 0;
  let missing = 0;
  const spoil = (bytes: number): void => {
    if (stats.other === 0) stats.firstLine = line;
    stats.other += bytes;
  };
  for await (const chunk of chunks) {
    for (const byte of chunk) {
      if (missing > 0) {
        if ((byte & 0xc0) === 0x80) {
          missing -= 1;
          if (missing === 0) stats.utf8 += 1;
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
  return stats;
}

/** The text as UTF-8. `chunks` must begin after the byte order mark. */
export async function* toUtf8(chunks: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  if (encoding === 'utf-8') {
    yield* chunks;
    return;
  }
  const read = textReader(encoding);
  for await (const chunk of chunks) yield Buffer.from(read(chunk));
  const rest = read();
  if (rest !== '') yield Buffer.from(rest);
}

const mostWords = 300;
const wordWithLetters = /[\x40-\xff]*[\x80-\xff][\x40-\xff]*/g;
const shown = { words: 3, characters: 24 } as const;

/** Of encodings that read the same words, the first is shown. */
// prettier-ignore
const likely = [
  'windows-1252', 'macintosh', 'cp850', 'windows-1250', 'windows-1254', 'iso-8859-2', 'windows-1257', 'windows-1251', 'koi8-r', 'ibm866',
  'iso-8859-5', 'x-mac-cyrillic', 'windows-1253', 'windows-1255', 'windows-1256', 'windows-874', 'windows-1258', 'gb18030', 'big5',
  'shift_jis', 'euc-jp', 'euc-kr',
] as const;

/**
 * Likely readings of a text, likeliest first, for the operator to choose from; `first` come before the others. Words are cut at digits, so
 * no phone number appears.
 */
export async function likelyReadings(chunks: AsyncIterable<Uint8Array>, first: readonly string[] = []): Promise<LetterReading[]> {
  const words = await wordsWithLetters(chunks);
  const readings = [...new Set([...first, ...likely])].map((encoding, at) => {
    const reader = textReader(encoding);
    const read = (reader(Buffer.from(words.join('\n'), 'latin1')) + reader()).split('\n');
    return { encoding, read, fit: at < first.length ? 100 - at : read.reduce((sum, word) => sum + fitOf(word), 0) / read.length };
  });
  const distinct = readings.filter(({ read }, at) => readings.findIndex((other) => isDeepStrictEqual(other.read, read)) === at);
  const sorted = distinct.sort((left, right) => right.fit - left.fit);
  // Windows-1252 is always among them.
  const third = sorted.slice(2).find(({ encoding }) => encoding === 'windows-1252') ?? sorted[2];
  const best = [...sorted.slice(0, 2), ...(third === undefined ? [] : [third])];
  const kindsAt = (at: number) => new Set(best.map(({ read }) => read[at])).size;
  const places = [...words.keys()].sort((left, right) => kindsAt(right) - kindsAt(left)).slice(0, shown.words);
  const show = (word = '') => printable(word.slice(0, shown.characters));
  return best.map(({ encoding, read }) => ({ encoding, words: places.map((at) => show(read[at])) }));
}

/** Letters, first characters of East Asian names, and marks that occur in names. */
const usual = new Set(
  'áéíóúàèìòùâêîôûäëïöüãõñçåæøœßÿąćęłńśźżčďěňřšťůýžőűăđğışİ’“”–€аеиновтрслкдмпαιοεσςτνρκλημυπ' +
    '王李张張刘劉陈陳杨楊黄黃赵趙吴吳周林田中山本小大木村井上川子美太郎一김이박최정강조윤장임',
);
const kana = /[\u3041-\u30ff]/u;

/* eslint-disable no-control-regex */
/** How plausible a word is: letters of one alphabet in usual positions. */
function fitOf(word: string): number {
  const others = word.match(/[^\x00-\x7f]/gu) ?? [];
  let fit = others.filter((letter) => usual.has(letter) || usual.has(letter.toLowerCase()) || kana.test(letter)).length / others.length;
  if (/[\p{C}\ufffd]/u.test(word)) fit -= 8;
  if (/[^\x00-\x7f\p{L}\p{M}’“”–€]|[\uff61-\uff9f]|\p{L}[“”–€]\p{L}/u.test(word)) fit -= 3;
  if (/\p{Ll}\p{Lu}|\p{L}(?![A-Z])\p{Lu}\p{Ll}/u.test(word)) fit -= 3;
  // Accented letters occur singly or in pairs; a word of another alphabet has no Latin letters.
  const mixed = /\p{Script=Latin}/u.test(word) && /[\p{L}\p{M}]/u.test(word.replaceAll(/\p{Script=Latin}/gu, ''));
  return mixed || /[\u0080-\u024f]{4}/.test(word) ? fit - 3 : fit;
}

/** True when the likeliest reading has Latin letters only. */
export function looksWestern([best]: readonly LetterReading[]): boolean {
  return best?.words.some((word) => /(?!\p{Script=Latin})\p{L}/u.test(word)) === false;
}
/* eslint-enable no-control-regex */

/** Distinct words with non-ASCII bytes, one byte per character. Split at digits and commas, which end no multi-byte character. */
async function wordsWithLetters(chunks: AsyncIterable<Uint8Array>): Promise<string[]> {
  const words = new Set<string>();
  let rest = '';
  for await (const chunk of chunks) {
    const text = rest + Buffer.from(chunk).toString('latin1');
    rest = /[\x40-\xff]{0,200}$/.exec(text)?.[0] ?? '';
    for (const word of text.slice(0, text.length - rest.length).match(wordWithLetters) ?? []) words.add(word);
    if (words.size >= mostWords) break;
  }
  if (/[\x80-\xff]/.test(rest)) words.add(rest);
  return [...words].slice(0, mostWords);
}
