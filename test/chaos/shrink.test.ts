import { expect, test } from 'vitest';
import { shrink, without } from './shrink.ts';

test('a failure is shrunk to what it needs, in few tries', async () => {
  let tries = 0;
  const numbers = Array.from({ length: 40 }, (_, index) => index);
  const { thing, result } = await shrink({ thing: numbers, result: 'broken' }, without, async (less) => {
    tries += 1;
    return less.includes(3) && less.includes(31) ? `broken by ${less.length}` : null;
  });
  expect(thing).toEqual([3, 31]);
  expect(result).toBe('broken by 2');
  expect(tries).toBeLessThan(150);
});

test('what breaks only as a whole stays whole', async () => {
  const whole = { thing: [1, 2, 3], result: 'broken' };
  expect(await shrink(whole, without, async () => null)).toEqual(whole);
});
