import { expect, test } from 'vitest';
import { RowIndex } from '../../src/list/row-index.ts';

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
