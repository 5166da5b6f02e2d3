import { longestCell } from '../record.ts';
import type { WorkbookArchive } from './archive.ts';
import { readXml } from './xml.ts';

/** Total over all texts. A sheet of a million rows with ten texts of twenty characters each stays below. */
const mostCharacters = 400_000_000;
const mostStrings = 12_000_000;
/** `_x000D_` encodes one character in seven. Beyond this a cell is too long in any case; the rest is dropped. */
const longestText = 8 * longestCell;

/** Accumulates text pieces up to `longestText`. */
export class CappedText {
  #text = '';

  add(text: string): void {
    const remaining = longestText - this.#text.length;
    if (remaining > 0) this.#text += text.length > remaining ? text.slice(0, remaining) : text;
  }

  /** Returns the text and resets it. */
  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}

/** Joins the runs of one cell or shared text, without phonetic readings. */
export class RichText {
  readonly #text = new CappedText();
  #inText = false;
  #inReading = false;

  open(name: string): void {
    if (name === 't') this.#inText = true;
    else if (name === 'rPh') this.#inReading = true;
  }

  text(text: string): void {
    if (this.#inText && !this.#inReading) this.#text.add(text);
  }

  close(name: string): void {
    if (name === 't') this.#inText = false;
    else if (name === 'rPh') this.#inReading = false;
  }

  take(): string {
    return unescape(this.#text.take());
  }
}

export async function readSharedStrings(archive: WorkbookArchive, part: string | null): Promise<string[]> {
  const strings: string[] = [];
  if (part === null || !archive.has(part)) return strings;
  const rich = new RichText();
  let characters = 0;
  const reading = readXml(await archive.read(part), {
    open: (name) => rich.open(name),
    text: (text) => rich.text(text),
    close: (name) => {
      rich.close(name);
      if (name !== 'si') return;
      const text = rich.take();
      characters += text.length;
      strings.push(text);
    },
  });
  for await (const _ of reading)
    if (characters > mostCharacters || strings.length > mostStrings) throw new Error('it holds too many texts');
  return strings;
}

/** Decodes `_x000D_` escapes. Keeps one character beyond the limit, so that an overlong text is detected. */
export function unescape(text: string): string {
  const read = text.includes('_x')
    ? text.replace(/_x([0-9a-f]{4})_/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text;
  return read.length > longestCell ? read.slice(0, longestCell + 1) : read;
}
