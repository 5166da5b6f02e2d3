import { expect, test } from 'vitest';
import {
  beginningOf,
  hasNearLine,
  isCutOwnLine,
  isNearLine,
  namesOtherRecipient,
  shapeOf,
  sharesFewWords,
  wordingOf,
  type Wording,
} from '../../../src/rules/correlation/line-words.ts';

function wording(line: string): Wording {
  const found = wordingOf(line);
  if (found === null) throw new Error('no words');
  return found;
}

test.for([null, '', '…', ' - '])('%j has no wording', (line) => {
  expect(wordingOf(line)).toBeNull();
});

/** Two lines, and whether a record with one of them may be of a call with the other. */
const pairs: [string, string, boolean][] = [
  ['Hello Ana, it is the clinic.', 'hello ana it is the clinic', true],
  ['Hello Ana, it is the clinic.', 'Hello Ana, it is', true],
  ['Hello Ana, it is the clinic.', 'Hello Ana', false],
  ['Hello Ana, it is the clinic.', 'Hello Ben, it is the clinic.', false],
  ['Hi', 'Hi!', true],
  ['Hi', 'Hi Ana', false],
];

test.for(pairs)('%j is near %j: %s', ([one, other, near]) => {
  const [a, b] = [wording(one), wording(other)];
  expect([isNearLine(a, b), isNearLine(b, a)]).toEqual([near, near]);
  expect([hasNearLine(a, [b.near]), hasNearLine(b, [a.near])]).toEqual([near, near]);
});

test('a line that ends within a word of the other is near it', () => {
  const [short, long] = [wording('Good morning Ana'), wording('Good morning Anabel')];
  expect([isNearLine(short, long), isNearLine(long, short), hasNearLine(short, [long.near])]).toEqual([true, true, true]);
});

test('a near line is found among many, wherever it stands', () => {
  const others = ['a b c', 'hello ana it', 'hello anton it is', 'zoe is here now'].map((line) => wording(line).near).sort();
  expect(hasNearLine(wording('Hello Ana, it is the clinic.'), others)).toBe(true);
  expect(hasNearLine(wording('Hello Anna, it is the clinic.'), others)).toBe(false);
  expect(hasNearLine(wording('Hello Ana, it is the clinic.'), [])).toBe(false);
});

test.for([
  ['Hello Ana, it is the clinic', 'Hello Ana, it is the clinic', false],
  ['Welcome to the parcel service', 'Hello Ana, it is the clinic', true],
  ['Hello, the clinic here', 'Hello Ana, it is the clinic', false],
  // The last word may have been cut.
  ['Hallo Ana, it i', 'Hello Ana, it is the clinic', false],
  ['Hallo Ax, it is the cli', 'Hello Ana, it is the clinic', false],
  ['Hallo Axa cli', 'Hello Ana, it is the clinic', true],
  // A word or two may be ours, altered and cut short.
  ['Helao', 'Hello Ana, it is the clinic', false],
] as const)('of %j and %j few words are shared: %s', ([shown, line, few]) => {
  expect(sharesFewWords(wording(shown), wording(line))).toBe(few);
});

test('a template that is no plain text around fields has no shape', () => {
  expect(shapeOf('Hello {{ name }}, the clinic.')).toEqual(['hello', 'theclinic']);
  // Fields that nothing stands between, or nothing that could be told from their letters, are one.
  expect(shapeOf('{{ a }}{{ b }}')).toEqual(['', '']);
  expect(shapeOf('Hello {{ a }} of {{ b }}, good day {{ c }}!')).toEqual(['hello', 'goodday', '']);
  expect(shapeOf('Hello there')).toBeNull();
  expect(shapeOf('{% if name %}Hello {{ name }}{% endif %}')).toBeNull();
});

const clinic = 'Hello {{ n }}, this is the clinic.';
const numbered = 'Hello {{ n }} number {{ k }}, this is the clinic.';
const asked = 'Good morning, am I talking to {{ n }}';

/** Template, line of the attempt, line of the record, and whether the record names somebody else. */
const named: [string, string, string, 'surely' | 'perhaps' | null][] = [
  [clinic, 'Hello Ana, this is the clinic.', 'Hello Ana, this is the clinic.', null],
  [clinic, 'Hello Ana, this is the clinic.', 'Hello Benjamin, this is the clinic.', 'surely'],
  // A letter misheard is no other name, however short the name.
  [clinic, 'Hello Joanna, this is the clinic.', 'Hello Johanna, this is the clinic.', null],
  [clinic, 'Hello Al, this is the clinic.', 'Hello Ad, this is the clinic.', null],
  // A letter of the fixed text was changed.
  [clinic, 'Hello Ana, this is the clinic.', 'Hallo Benjamin, this is the clinic.', 'surely'],
  // Cut before the name, within it, and behind it.
  [clinic, 'Hello Anabel, this is the clinic.', 'Hello', null],
  [clinic, 'Hello Anabel, this is the clinic.', 'Hello A', null],
  [clinic, 'Hello Anabel, this is the clinic.', 'Hello Ana', null],
  [clinic, 'Hello Anabel, this is the clinic.', 'Hello Anabel, th', null],
  [clinic, 'Hello Anabel, this is the clinic.', 'Hello Benjamin', 'perhaps'],
  [clinic, 'Hello Anabel, this is the clinic.', 'Hello Benja', 'perhaps'],
  [clinic, 'Hello Anabel, this is the clinic.', 'Hello Benjamin, this', 'perhaps'],
  [clinic, 'Hello Anabel, this is the clinic.', 'Hello Benjamin, this is', 'surely'],
  // Altered and cut.
  [clinic, 'Hello Anabel, this is the clinic.', 'Hallo Axab', null],
  [clinic, 'Hello Anabel, this is the clinic.', 'Hello Xn', null],
  [clinic, 'Hello Anabel, this is the clinic.', 'Hello Axaxel, th', null],
  // Words of somebody else altogether say nothing by the template.
  [clinic, 'Hello Ana, this is the clinic.', 'Good evening, parcel service', null],
  // Several fields: each as far as it was spoken.
  [numbered, 'Hello Daniel number 19, this is the clinic.', 'Hello Daniel number 19,', null],
  [numbered, 'Hello Daniel number 23, this is the clinic.', 'Hello Daniel number 19,', 'surely'],
  [numbered, 'Hello Maria number 4, this is the clinic.', 'Hello Daniel number 19,', 'surely'],
  [numbered, 'Hello Maria number 4, this is the clinic.', 'Hello Daniel number', 'surely'],
  [numbered, 'Hello Maria number 4, this is the clinic.', 'Hello Daniel', 'perhaps'],
  [numbered, 'Hello Daniel number 195, this is the clinic.', 'Hello Daniel number 19', null],
  [numbered, 'Hello Daniel number 1954, this is the clinic.', 'Hello Dxniel numxer 19', null],
  ['Hello {{ a }} {{ b }}, this is us.', 'Hello Ana Brix, this is us.', 'Hello Benjamin Brix, this is', 'surely'],
  // A field that comes last: nothing behind it tells whether it was cut.
  [asked, 'Good morning, am I talking to Ana', 'Good morning, am I talking to Benjamin', 'perhaps'],
  [asked, 'Good morning, am I talking to Benjamin', 'Good morning, am I talking to Bexj', null],
  // Nothing of the template stands before the field.
  ['{{ n }}, good morning', 'Ana, good morning', 'Benjamin, good morning', 'surely'],
  ['{{ n }}, good morning', 'Ana, good morning', 'Benjamin', null],
];

test.for(named)('with %j, %j and then %j: somebody else is %s', ([template, own, shown, else_]) => {
  const shape = shapeOf(template);
  if (shape === null) throw new Error('no shape');
  expect(namesOtherRecipient(shape, wording(shown), wording(own))).toBe(else_);
});

/** A line that was shown, and whether it is the beginning of Daniel's and reaches into what is his own. */
test.for([
  ['Hello Daniel number 19,', true],
  ['hello daniel, number 19 this is', true],
  ['Hello Daniel num', true],
  ['Hello Daniel', false],
  ['Hello', false],
  ['Hello Daniel number 18', false],
  ['Hello Daniel number 19, this is the clinic. How are you?', false],
] as const)('%j is cut from the own line: %s', ([shown, cut]) => {
  const own = wording('Hello Daniel number 19, this is the clinic.');
  expect(isCutOwnLine(shapeOf(numbered), wording(shown), own)).toBe(cut);
});

test.for([
  [clinic, 'Hello Ana, this is the clinic.', 'helloana'],
  [numbered, 'Hello Daniel number 19, this is the clinic.', 'hellodaniel'],
  ['Hello {{ a }} {{ b }}, this is us.', 'Hello Ana Brix, this is us.', 'helloanabrix'],
  ['{{ n }}, good morning', 'Ana, good morning', 'ana'],
  [asked, 'Good morning, am I talking to Ana', null],
] as const)('with %j, %j begins with %j', ([template, own, beginning]) => {
  const shape = shapeOf(template);
  expect(shape === null ? undefined : beginningOf(shape, wording(own))).toBe(beginning);
});

test("words that stand before every field are nobody's own", () => {
  const [shape, own] = [shapeOf(asked), wording('Good morning, am I talking to Ana')];
  expect(isCutOwnLine(shape, wording('Good morning, am I talking'), own)).toBe(false);
  expect(isCutOwnLine(shape, wording('Good morning, am I talking to An'), own)).toBe(true);
});
