import { expect, test } from 'vitest';
import { RowIndex } from '../../src/list/row-index.ts';
import { FictionalNumbers } from '../../src/list/fictional-numbers.ts';
import { readPhoneNumber } from '../../src/rules/phone-number.ts';
import { isRefusedNumber, magicBehaviour } from '../../src/sandbox/core/telephony/magic-numbers.ts';

test('the first row of each key is remembered through growth, for numbers and texts alike', () => {
  const numbers = new RowIndex();
  const texts = new RowIndex();
  const count = 20_000;
  for (let row = 1; row <= count; row++) {
    // Neighbouring numbers, and numbers that differ only above 32 bits.
    const number = row % 2 === 0 ? 12_125_550_000 + row : row * 4_294_967_296;
    expect(numbers.rowOf(number, row)).toBeNull();
    expect(texts.rowOf(`id-${String(row)}`, row)).toBeNull();
  }
  for (let row = 1; row <= count; row++) {
    const number = row % 2 === 0 ? 12_125_550_000 + row : row * 4_294_967_296;
    expect(numbers.rowOf(number, 7)).toBe(row);
    expect(texts.rowOf(`id-${String(row)}`)).toBe(row);
  }
});

test('asking without a row stores nothing', () => {
  const index = new RowIndex();
  expect(index.rowOf(5)).toBeNull();
  expect(index.rowOf(5, 1)).toBeNull();
  expect(index.rowOf(5, 2)).toBe(1);
  expect(index.rowOf('')).toBeNull();
});

function takeAll(numbers: FictionalNumbers, like: string): string[] {
  const taken: string[] = [];
  for (let next = numbers.take(like); next !== null; next = numbers.take(like)) taken.push(next);
  return taken;
}

test('every number is kept for fiction, valid, without a fate of its own, and handed out once', () => {
  const numbers = new FictionalNumbers('a');
  const { capacity } = numbers;
  const taken = takeAll(numbers, '+493012345678');
  expect(capacity).toBeGreaterThan(25_000);
  expect(taken).toHaveLength(capacity);
  expect(new Set(taken).size).toBe(capacity);
  expect(taken.filter((number) => !/^\+1\d{3}55501\d\d$|^\+442079460\d{3}$/.test(number))).toEqual([]);
  expect(taken.filter((number) => magicBehaviour(number, 1) !== null || isRefusedNumber(number))).toEqual([]);
  expect(taken.filter((number) => !readPhoneNumber(number, null).ok)).toEqual([]);
});

test('a number of the same area or country stands for another while there are any', () => {
  const numbers = new FictionalNumbers('a');
  expect(numbers.take('+13125550123')).toMatch(/^\+131255501\d\d$/);
  expect(numbers.take('+442079461234')).toMatch(/^\+442079460\d{3}$/);
  const chicago = Array.from({ length: 100 }, () => numbers.take('+13125550123') ?? '');
  expect(new Set(chicago).size).toBe(100);
  expect(chicago.filter((number) => number.startsWith('+1312'))).toHaveLength(68);
});

test('the seed decides which area helps out', () => {
  const firstOf = (seed: string): string | null => new FictionalNumbers(seed).take('+493012345678');
  expect(firstOf('a')).toBe(firstOf('a'));
  expect(new Set(['a', 'b', 'c', 'd', 'e'].map(firstOf)).size).toBeGreaterThan(1);
});
