import { expect, test } from 'vitest';
import { nearForm, nearWords } from '../../../src/domain/correlation/near-form.ts';

test.for([
  ['Hello Ana, this is about your visit.', 'helloanathisisaboutyourvisit'],
  ['  HELLO   ana\tthis is about your visit', 'helloanathisisaboutyourvisit'],
  ['“Hello” ‘Ana’ – this is about your visit…', 'helloanathisisaboutyourvisit'],
  ['Hello O’Brien', 'helloobrien'],
  ["Hello O'Brien!", 'helloobrien'],
  ['Hello José', 'hellojosé'],
  // Composed and decomposed, and full width.
  ['Hello José', 'hellojosé'],
  ['Ｈｅｌｌｏ', 'hello'],
  ['', ''],
  ['… —', ''],
])('%j is compared as %j', ([line = '', near]) => {
  expect(nearForm(line)).toBe(near);
});

test.for([
  ['Anne-Marie and/or José', ['anne', 'marie', 'and', 'or', 'josé']],
  ['at 5:30, room 12', ['at', '530', 'room', '12']],
  [' ', []],
] as const)('%j has the words %j', ([line, words]) => {
  expect(nearWords(line)).toEqual(words);
});
