import { nearWords } from '../correlation/near-form.ts';

/** How well opening lines distinguish a list's calls; lines are compared in near form. */
export interface WordsForecast {
  /** Rows with a line. */
  rows: number;
  /** Rows whose words are, begin, or are begun by those of another row. */
  shared: number;
  /** Sets of rows called one at a time: the maximum number of open calls. */
  groups: number;
  /** Rows of the largest set, and the sizes above one with their counts. */
  largest: number;
  sizes: { rows: number; groups: number }[];
  /** Rows whose line continues another row's, and the first such pair. */
  begun: number;
  begunExample: { short: string; long: string } | null;
  /** Whether all lines were checked for beginnings; memory limits their number. */
  beginningsKnown: boolean;
  /** Column that, added to the line, distinguishes most rows; `left`: rows of `looked` still shared. Null: none helps. */
  column: { name: string; left: number; looked: number } | null;
}

interface Line {
  rows: number;
  /** Keys of its beginnings, shortest first; null: not checked. */
  beginnings: Float64Array | null;
  text: string | null;
}

/** Shorter beginnings fit too many lines by chance. */
const fewestWords = 3;
const mostLinesWithBeginnings = 200_000;
const mostLinesWithText = 1_000;
/** Rows used to compare columns. */
const mostSamples = 20_000;

/** Collects lines row by row as 53-bit hashes, which confuse two of a million lines once in ten thousand lists. */
export class WordsCounter {
  readonly #columns: readonly string[];
  readonly #places: readonly number[];
  readonly #lines = new Map<number, Line>();
  readonly #samples: { key: number; values: Float64Array }[] = [];
  #rows = 0;

  /** `columns`: candidates for the line, with their index in a row. */
  constructor(columns: readonly { name: string; index: number }[]) {
    this.#columns = columns.map(({ name }) => name);
    this.#places = columns.map(({ index }) => index);
  }

  add(line: string, cells: readonly string[]): void {
    this.#rows += 1;
    const words = nearWords(line);
    const keys = keysOfBeginnings(words);
    const key = keys.at(-1) ?? 0;
    const known = this.#lines.get(key);
    if (known !== undefined) known.rows += 1;
    else {
      const size = this.#lines.size;
      const beginnings = size < mostLinesWithBeginnings ? keys.slice(fewestWords - 1, -1) : null;
      this.#lines.set(key, { rows: 1, beginnings, text: size < mostLinesWithText ? line : null });
    }
    if (this.#samples.length >= mostSamples) return;
    const values = this.#places.map((place) => keysOfBeginnings(nearWords(cells[place] ?? '')).at(-1) ?? 0);
    this.#samples.push({ key, values: Float64Array.from(values) });
  }

  report(): WordsForecast {
    const roots = new Map<number, number>();
    const rowsOf = new Map<number, number>();
    let begun = 0;
    let begunExample: WordsForecast['begunExample'] = null;
    for (const [key, line] of this.#lines) {
      // No other line begins the shortest beginning, so it represents all that it begins.
      const root = line.beginnings?.find((beginning) => this.#lines.has(beginning)) ?? key;
      roots.set(key, root);
      rowsOf.set(root, (rowsOf.get(root) ?? 0) + line.rows);
      if (root === key) continue;
      begun += line.rows;
      const short = this.#lines.get(root)?.text ?? null;
      if (short !== null && line.text !== null) begunExample ??= { short, long: line.text };
    }
    const sizes = new Map<number, number>();
    for (const rows of rowsOf.values()) if (rows > 1) sizes.set(rows, (sizes.get(rows) ?? 0) + 1);
    const counted = [...sizes].map(([rows, groups]) => ({ rows, groups })).sort((a, b) => b.rows - a.rows);
    return {
      rows: this.#rows,
      shared: counted.reduce((sum, { rows, groups }) => sum + rows * groups, 0),
      groups: rowsOf.size,
      largest: counted[0]?.rows ?? Math.min(1, this.#rows),
      sizes: counted,
      begun,
      begunExample,
      beginningsKnown: this.#lines.size <= mostLinesWithBeginnings,
      column: this.#bestColumn(roots),
    };
  }

  #bestColumn(roots: ReadonlyMap<number, number>): WordsForecast['column'] {
    const keys = this.#samples.map(({ key }) => roots.get(key) ?? key);
    const without = repeated(keys.map(String));
    const lefts = this.#columns.map((name, column) => ({
      name,
      left: repeated(this.#samples.map(({ values }, row) => `${String(keys[row])} ${String(values[column])}`)),
      looked: this.#samples.length,
    }));
    const best = lefts.sort((a, b) => a.left - b.left)[0];
    return best !== undefined && best.left < without ? best : null;
  }
}

/** How many keys occur more than once. */
function repeated(keys: readonly string[]): number {
  const times = new Map<string, number>();
  for (const key of keys) times.set(key, (times.get(key) ?? 0) + 1);
  return keys.filter((key) => (times.get(key) ?? 0) > 1).length;
}

/** One key per number of initial words, without white space; the last is the line's. */
function keysOfBeginnings(words: readonly string[]): Float64Array {
  const keys = new Float64Array(words.length);
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  words.forEach((word, index) => {
    for (let at = 0; at < word.length; at += 1) {
      const code = word.charCodeAt(at);
      low = Math.imul(low ^ code, 2_654_435_761);
      high = Math.imul(high ^ code, 1_597_334_677);
    }
    const mixed = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
    const other = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(mixed ^ (mixed >>> 13), 3_266_489_909);
    keys[index] = 4_294_967_296 * (0x1f_ffff & other) + (mixed >>> 0);
  });
  return keys;
}
