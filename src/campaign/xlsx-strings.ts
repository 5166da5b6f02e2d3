import type { WorkbookArchive } from './xlsx-archive.ts';
import { readXml } from './xlsx-xml.ts';

/** All texts together, in characters. A sheet of a million rows with ten texts of twenty characters each has less. */
const mostCharacters = 400_000_000;

/** Gathers the text of one cell or shared text: its runs joined, without readings above the line. */
export class RichText {
  #text = '';
  #inText = false;
  #inReading = false;

  open(name: string): void {
    if (name === 't') this.#inText = true;
    else if (name === 'rPh') this.#inReading = true;
  }

  text(text: string): void {
    if (this.#inText && !this.#inReading) this.#text += text;
  }

  close(name: string): void {
    if (name === 't') this.#inText = false;
    else if (name === 'rPh') this.#inReading = false;
  }

  /** The text so far; begins a new one. */
  take(): string {
    const text = this.#text;
    this.#text = '';
    return unescape(text);
  }
}

/** Reads the texts that cells refer to by their place. */
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
  for await (const _ of reading) if (characters > mostCharacters) throw new Error('it holds too much text');
  return strings;
}

/** Characters that XML cannot hold are written as `_x000D_`. */
export function unescape(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9a-f]{4})_/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
