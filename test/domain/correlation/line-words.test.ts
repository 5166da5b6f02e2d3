import { expect, test } from 'vitest';
import {
  hasNearLine,
  isNearLine,
  namesSomebodyElse,
  shapeOf,
  sharesFewWords,
  wordingOf,
  type Wording,
} from '../../../src/domain/correlation/line-words.ts';

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
  expect([isNearLine(short, long), isNearLine(long, short), hasNearLine(short, [long.near])]).toEqual([
    true,
    true,
    true,
  ]);
});

test('a near line is found among many, wherever it stands', () => {
  const others = ['a b c', 'hello ana it', 'hello anton it is', 'zoe is here now']
    .map((line) => wording(line).near)
    .sort();
  expect(hasNearLine(wording('Hello Ana, it is the clinic.'), others)).toBe(true);
  expect(hasNearLine(wording('Hello Anna, it is the clinic.'), others)).toBe(false);
  expect(hasNearLine(wording('Hello Ana, it is the clinic.'), [])).toBe(false);
});

test.for([
  ['Hello Ana, it is the clinic', 'Hello Ana, it is the clinic', false],
  ['Welcome to the parcel service', 'Hello Ana, it is the clinic', true],
  ['Hello, the clinic here', 'Hello Ana, it is the clinic', false],
  // A word or two may be ours, altered and cut short.
  ['Helao', 'Hello Ana, it is the clinic', false],
] as const)('of %j and %j few words are shared: %s', ([shown, line, few]) => {
  expect(sharesFewWords(wording(shown), wording(line))).toBe(few);
});

test('a template that is no plain text around fields has no shape', () => {
  expect(shapeOf('Hello {{ name }}, the clinic.')).toEqual(['hello', 'theclinic']);
  expect(shapeOf('{{ a }}{{ b }}')).toEqual(['', '', '']);
  expect(shapeOf('Hello there')).toBeNull();
  expect(shapeOf('{% if name %}Hello {{ name }}{% endif %}')).toBeNull();
});

/** Template, line of the attempt, line of the record, and whether the record names somebody else. */
const named: [string, string, string, boolean][] = [
  ['Hello {{ n }}, this is the clinic.', 'Hello Ana, this is the clinic.', 'Hello Ana, this is the clinic.', false],
  ['Hello {{ n }}, this is the clinic.', 'Hello Ana, this is the clinic.', 'Hello Benjamin, this is the clinic.', true],
  // A letter misheard is no other name.
  [
    'Hello {{ n }}, this is the clinic.',
    'Hello Joanna, this is the clinic.',
    'Hello Johanna, this is the clinic.',
    false,
  ],
  // A letter of the fixed text was changed.
  ['Hello {{ n }}, this is the clinic.', 'Hello Ana, this is the clinic.', 'Hallo Benjamin, this is the clinic.', true],
  // Cut before the name, and within it.
  ['Hello {{ n }}, this is the clinic.', 'Hello Anabel, this is the clinic.', 'Hello', false],
  ['Hello {{ n }}, this is the clinic.', 'Hello Anabel, this is the clinic.', 'Hello Ana', false],
  // Words of somebody else altogether say nothing by the template.
  ['Hello {{ n }}, this is the clinic.', 'Hello Ana, this is the clinic.', 'Good evening, parcel service', false],
  ['Am I talking to {{ n }}', 'Am I talking to Ana', 'Am I talking to Benjamin', true],
  ['{{ n }}, good morning', 'Ana, good morning', 'Benjamin, good morning', true],
];

test.for(named)('with %j, %j and then %j: somebody else is %s', ([template, own, shown, else_]) => {
  const shape = shapeOf(template);
  if (shape === null) throw new Error('no shape');
  expect(namesSomebodyElse(shape, wording(shown), wording(own))).toBe(else_);
});
