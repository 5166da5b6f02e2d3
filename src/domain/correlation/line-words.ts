import { editDistance } from '../edit-distance.ts';
import { firstThat } from '../first-that.ts';
import { remember } from '../remember.ts';
import { nearForm, nearWords } from './near-form.ts';

/** Fewer words than this at the beginning of a line say nothing: many lines begin so. */
const leastWords = 3;

/** A line in the form in which lines are compared. */
export interface Wording {
  words: readonly string[];
  /** The words without white space. */
  near: string;
}

const mostKept = 20_000;

/** The wording of a line; null when it holds no word. */
export const wordingOf: (line: string | null) => Wording | null = remember((line) => {
  const words = line === null ? [] : nearWords(line);
  return words.length === 0 ? null : { words, near: words.join('') };
}, mostKept);

/** Whether two lines are equal, or one of three words or more is the beginning of the other. */
export function isNearLine(a: Wording, b: Wording): boolean {
  if (a.near === b.near) return true;
  const [short, long] = a.near.length < b.near.length ? [a, b] : [b, a];
  return short.words.length >= leastWords && long.near.startsWith(short.near);
}

/** Whether one of these near forms, which are sorted, is that of a near line (see `isNearLine`). */
export function hasNearLine({ words, near }: Wording, sorted: readonly string[]): boolean {
  if (words.length >= leastWords && (sorted[firstFrom(sorted, near)] ?? '').startsWith(near)) return true;
  let beginning = '';
  for (const [index, word] of words.entries()) {
    beginning += word;
    if (index + 1 >= leastWords || index === words.length - 1)
      if (sorted[firstFrom(sorted, beginning)] === beginning) return true;
  }
  return false;
}

/** The place of the first text that is not before this one. */
function firstFrom(sorted: readonly string[], text: string): number {
  return firstThat((place) => (sorted[place] ?? '') >= text, -1, sorted.length);
}

/** Whether what was shown shares fewer than half of its words with a line; a word or two may be ours, altered and cut short. */
export function sharesFewWords(shown: Wording, line: Wording): boolean {
  if (shown.words.length < leastWords) return false;
  const known = new Set(line.words);
  const shared = shown.words.filter((word) => known.has(word)).length;
  return shared * 2 < shown.words.length;
}

/** The fixed text of a template in near form: before the first field, between the fields, and behind the last. */
export type TemplateShape = readonly string[];

/** Null where the fixed text depends on the row. */
export const shapeOf: (template: string) => TemplateShape | null = remember((template) => {
  const fixed = template.split(/\{\{[\s\S]*?\}\}/).map(nearForm);
  return template.includes('{%') || fixed.length === 1 ? null : fixed;
}, 1_000);

/**
 * Whether somebody else was meant: the fixed words of the template stand around a field, and the value there is further than a third, by
 * edit distance, from that of the attempt's own line. A field that cannot be found, or was cut, says nothing.
 */
export function namesSomebodyElse(shape: TemplateShape, shown: Wording, own: Wording): boolean {
  const mine = valuesIn(shape, own.near);
  const theirs = valuesIn(shape, shown.near);
  return theirs.some((value, index) => {
    const expected = mine[index];
    return value !== null && expected != null && isFar(value, expected);
  });
}

const shortestValue = 2;

function isFar(value: string, expected: string): boolean {
  if (value.length < shortestValue || expected.startsWith(value)) return false;
  return editDistance(value, expected) * 3 > Math.max(value.length, expected.length);
}

/** The value of each field; null from the first one on whose surroundings cannot be found. */
function valuesIn(shape: TemplateShape, near: string): (string | null)[] {
  const values: (string | null)[] = [];
  const [first = '', ...others] = shape;
  if (!beginsLike(near, first)) return [];
  let rest = near.slice(first.length);
  for (const [index, fixed] of others.entries()) {
    const isLast = index === others.length - 1;
    // Nothing behind the field tells where it ends, or whether it was cut.
    if (fixed === '') return isLast && first !== '' && rest !== '' ? [...values, rest] : values;
    const found = findFixed(rest, fixed);
    if (found === null) return values;
    values.push(rest.slice(0, found));
    rest = rest.slice(found + fixed.length);
  }
  return values;
}

/** One letter in four may differ. */
function beginsLike(text: string, fixed: string): boolean {
  if (fixed === '' || text.startsWith(fixed)) return true;
  if (text.length < fixed.length) return false;
  return editDistance(text.slice(0, fixed.length), fixed) * 4 <= fixed.length;
}

/** Fewer letters of a fixed text than this may stand in any value. */
const leastFixed = 5;

/** Where a fixed text begins: whole, by either half when a letter was changed, or cut at the end of what is shown; null: nowhere. */
function findFixed(text: string, fixed: string): number | null {
  const whole = text.indexOf(fixed, 1);
  if (whole > 0) return whole;
  const half = Math.floor(fixed.length / 2);
  if (half >= leastFixed) {
    const head = text.indexOf(fixed.slice(0, half), 1);
    if (head > 0) return head;
    const tail = text.indexOf(fixed.slice(half), half + 1);
    if (tail > half) return tail - half;
  }
  for (let length = Math.min(fixed.length, text.length - 1); length >= leastFixed; length -= 1)
    if (text.endsWith(fixed.slice(0, length))) return text.length - length;
  return null;
}
