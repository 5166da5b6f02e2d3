import { distanceToBeginning, editDistance } from '../nearest-name.ts';
import { firstThat, remember } from '../collections.ts';
import { nearForm, nearWords } from './near-form.ts';

/** Shorter beginnings prove nothing: many lines begin alike. */
const leastWords = 3;

/** A line in the form used for comparison. */
export interface Wording {
  words: readonly string[];
  /** The words, without white space. */
  near: string;
}

const mostKept = 20_000;

/** Wording of a line; null: no word. */
export const wordingOf: (line: string | null) => Wording | null = remember((line) => {
  const words = line === null ? [] : nearWords(line);
  return words.length === 0 ? null : { words, near: words.join('') };
}, mostKept);

/** Whether lines are equal, or one of three words or more begins the other. */
export function isNearLine(a: Wording, b: Wording): boolean {
  if (a.near === b.near) return true;
  const [short, long] = a.near.length < b.near.length ? [a, b] : [b, a];
  return short.words.length >= leastWords && long.near.startsWith(short.near);
}

/** Whether only a beginning of the line is shown. */
export function isCutLine(shown: Wording, whole: Wording): boolean {
  return shown.near.length < whole.near.length && whole.near.startsWith(shown.near);
}

/** Whether one of these sorted near forms starts with `beginning`. */
export function hasBeginning(beginning: string, sorted: readonly string[]): boolean {
  return (sorted[firstFrom(sorted, beginning)] ?? '').startsWith(beginning);
}

/** Whether one of these sorted near forms is near (see `isNearLine`). */
export function hasNearLine({ words, near }: Wording, sorted: readonly string[]): boolean {
  if (words.length >= leastWords && hasBeginning(near, sorted)) return true;
  let beginning = '';
  for (const [index, word] of words.entries()) {
    beginning += word;
    if (index + 1 >= leastWords || index === words.length - 1) if (sorted[firstFrom(sorted, beginning)] === beginning) return true;
  }
  return false;
}

/** Index of the first text that is not before this one. */
function firstFrom(sorted: readonly string[], text: string): number {
  return firstThat((place) => (sorted[place] ?? '') >= text, -1, sorted.length);
}

/** Whether a line has fewer than half of the shown words; a word or two may be ours, altered and cut. */
export function sharesFewWords(shown: Wording, line: Wording): boolean {
  if (shown.words.length < leastWords) return false;
  // The last word may have been cut.
  const last = shown.words.length - 1;
  const isShared = (word: string, at: number) => line.words.some((known) => known === word || (at === last && known.startsWith(word)));
  return shown.words.filter(isShared).length * 2 < shown.words.length;
}

/**
 * Fixed text of a template in near form: before, between and after its fields. Text too short to distinguish from values counts as part of
 * them.
 */
export type TemplateShape = readonly string[];

/** Fixed text with fewer letters may occur in any value. */
const leastFixed = 5;

/** Null: no field, or the fixed text depends on the row. */
export const shapeOf: (template: string) => TemplateShape | null = remember((template) => {
  const [first = '', ...others] = template.split(/\{\{[\s\S]*?\}\}/).map(nearForm);
  if (template.includes('{%') || others.length === 0) return null;
  const isLong = (fixed: string) => fixed.length >= leastFixed;
  const last = others.pop() ?? '';
  return [first, ...others.filter(isLong), isLong(last) ? last : ''];
}, 1_000);

/** Whether a line was cut within or after a template field: a beginning of at least three words. */
export function isCutOwnLine(shape: TemplateShape | null, shown: Wording, own: Wording): boolean {
  if (shape === null || shown.words.length < leastWords || !own.near.startsWith(shown.near)) return false;
  return shown.near.length >= (shape[0] ?? '').length + shortestValue;
}

/**
 * Whether the words name another recipient. `surely`: a value between fixed words, or a later one as far as spoken, differs by more than a
 * third in edit distance; `perhaps`: the first one, as far as spoken. A field not found proves nothing.
 */
export function namesOtherRecipient(shape: TemplateShape, shown: Wording, own: Wording): 'surely' | 'perhaps' | null {
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

/** The line up to the end of its first field; null: no template text follows it. */
export function beginningOf(shape: TemplateShape, own: Wording): string | null {
  const value = fieldsIn(shape, own.near)[0]?.value ?? null;
  return value === null ? null : (shape[0] ?? '') + value;
}

const shortestValue = 2;

/** One misheard letter does not make another name. */
function isFar(distance: number, value: string, expected: string): boolean {
  return value.length >= shortestValue && distance > 1 && distance * 3 > Math.max(value.length, expected.length);
}

/** Text from a field on, and its value; null: the words after it were cut or not found. */
interface Field {
  value: string | null;
  rest: string;
}

function fieldsIn(shape: TemplateShape, near: string): Field[] {
  const fields: Field[] = [];
  const [first = '', ...others] = shape;
  if (!beginsLike(near, first)) return [];
  let rest = near.slice(first.length);
  for (const fixed of others) {
    const found = fixed === '' ? null : findFixed(rest, fixed);
    if (found !== null) fields.push({ value: rest.slice(0, found), rest });
    // Words without template text before them may be from any call.
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

/** Start of a fixed text: whole, by either half if a letter changed, or cut at the end; null: not found. */
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
