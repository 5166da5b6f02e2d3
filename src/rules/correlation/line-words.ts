import { distanceToBeginning, editDistance } from '../nearest-name.ts';
import { firstThat, remember } from '../collections.ts';
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

/** Whether a line was cut off: a beginning of it is shown. */
export function isCutLine(shown: Wording, whole: Wording): boolean {
  return shown.near.length < whole.near.length && whole.near.startsWith(shown.near);
}

/** Whether one of these near forms, which are sorted, begins so. */
export function hasBeginning(beginning: string, sorted: readonly string[]): boolean {
  return (sorted[firstFrom(sorted, beginning)] ?? '').startsWith(beginning);
}

/** Whether one of these near forms, which are sorted, is that of a near line (see `isNearLine`). */
export function hasNearLine({ words, near }: Wording, sorted: readonly string[]): boolean {
  if (words.length >= leastWords && hasBeginning(near, sorted)) return true;
  let beginning = '';
  for (const [index, word] of words.entries()) {
    beginning += word;
    if (index + 1 >= leastWords || index === words.length - 1) if (sorted[firstFrom(sorted, beginning)] === beginning) return true;
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
  // The last word may have been cut.
  const last = shown.words.length - 1;
  const isShared = (word: string, at: number) => line.words.some((known) => known === word || (at === last && known.startsWith(word)));
  return shown.words.filter(isShared).length * 2 < shown.words.length;
}

/**
 * The fixed text of a template in near form: before the first field, between the fields, and behind the last. What is too short to be told
 * from letters of a value counts as part of the values around it.
 */
export type TemplateShape = readonly string[];

/** Fewer letters of a fixed text than this may stand in any value. */
const leastFixed = 5;

/** Null where the fixed text depends on the row. */
export const shapeOf: (template: string) => TemplateShape | null = remember((template) => {
  const [first = '', ...others] = template.split(/\{\{[\s\S]*?\}\}/).map(nearForm);
  if (template.includes('{%') || others.length === 0) return null;
  const isLong = (fixed: string) => fixed.length >= leastFixed;
  const last = others.pop() ?? '';
  return [first, ...others.filter(isLong), isLong(last) ? last : ''];
}, 1_000);

/**
 * Whether a line was cut off behind words that are this one's own: it is the beginning of it, three words at least, and reaches into a
 * field of its template.
 */
export function isCutOwnLine(shape: TemplateShape | null, shown: Wording, own: Wording): boolean {
  if (shape === null || shown.words.length < leastWords || !own.near.startsWith(shown.near)) return false;
  return shown.near.length >= (shape[0] ?? '').length + shortestValue;
}

/**
 * Whether somebody else was meant. `surely`: the fixed words of the template stand around a field, and the value there is further than a
 * third, by edit distance, from that of the attempt's own line; or a field behind such a one is as far, as much of it as was spoken.
 * `perhaps`: the first field is as far, as much of it as was spoken. A field that cannot be found says nothing.
 */
export function namesSomebodyElse(shape: TemplateShape, shown: Wording, own: Wording): 'surely' | 'perhaps' | null {
  const mine = fieldsIn(shape, own.near);
  const theirs = fieldsIn(shape, shown.near);
  for (const [index, { value, rest }] of theirs.entries()) {
    const expected = mine[index];
    if (expected === undefined) return null;
    if (value !== null && expected.value !== null) {
      if (isFar(editDistance(value, expected.value), value, expected.value)) return 'surely';
    } else if (isFar(distanceToBeginning(rest, expected.rest), rest, expected.value ?? expected.rest))
      return index > 0 ? 'surely' : 'perhaps';
  }
  return null;
}

/** A line as far as its first field goes; null where nothing of the template stands behind that. */
export function beginningOf(shape: TemplateShape, own: Wording): string | null {
  const value = fieldsIn(shape, own.near)[0]?.value ?? null;
  return value === null ? null : (shape[0] ?? '') + value;
}

const shortestValue = 2;

/** One letter misheard makes no other name. */
function isFar(distance: number, value: string, expected: string): boolean {
  return value.length >= shortestValue && distance > 1 && distance * 3 > Math.max(value.length, expected.length);
}

/** What stands in a field: the text from there on, and the value; null where the words behind it were cut off, or cannot be found. */
interface Field {
  value: string | null;
  rest: string;
}

/** The fields as far as they can be found. */
function fieldsIn(shape: TemplateShape, near: string): Field[] {
  const fields: Field[] = [];
  const [first = '', ...others] = shape;
  if (!beginsLike(near, first)) return [];
  let rest = near.slice(first.length);
  for (const fixed of others) {
    const found = fixed === '' ? null : findFixed(rest, fixed);
    if (found !== null) fields.push({ value: rest.slice(0, found), rest });
    // Words that nothing of the template stands before may be anybody's.
    else if (first !== '' || fields.length > 0) return [...fields, { value: null, rest }];
    else return [];
    rest = rest.slice(found + fixed.length);
  }
  return fields;
}

/** One letter in four may differ. */
function beginsLike(text: string, fixed: string): boolean {
  if (fixed === '' || text.startsWith(fixed)) return true;
  if (text.length < fixed.length) return false;
  return editDistance(text.slice(0, fixed.length), fixed) * 4 <= fixed.length;
}

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
