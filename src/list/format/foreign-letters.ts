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
