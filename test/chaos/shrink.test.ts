import { expect, onTestFinished, test, vi } from 'vitest';
import { shrink, without } from './shrink.ts';

test('a failure is shrunk to what it needs, in few tries', async () => {
  const numbers = Array.from({ length: 20 }, (_, index) => index);
  const shrunk = await shrink({ thing: numbers, result: 'broken' }, without, async (less) =>
    less.includes(3) && less.includes(11) ? `broken by ${less.length}` : null,
  );
  expect(shrunk).toEqual({ thing: [3, 11], result: 'broken by 2', isSmallest: true });
});

test('what breaks only as a whole stays whole', async () => {
  const whole = { thing: [1, 2, 3], result: 'broken' };
  expect(await shrink(whole, without, async () => null)).toEqual({ ...whole, isSmallest: true });
});

test('after sixty tries the smallest so far is told, and that less may do', async () => {
  const oneLess = (number: number): number[] => [number - 1];
  const shrunk = await shrink({ thing: 1000, result: 'broken' }, oneLess, async (less) => `broken by ${less}`);
  expect(shrunk).toEqual({ thing: 940, result: 'broken by 940', isSmallest: false });
});

test('a try that never ends is given up when the time is over, and the smallest before it is told', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let tries = 0;
  const shrinking = shrink({ thing: [1, 2, 3, 4], result: 'broken' }, without, async (less, over) => {
    tries += 1;
    if (tries === 1) return `broken by ${less.length}`;
    return new Promise((resolve) => over.addEventListener('abort', () => resolve(null)));
  });
  await vi.advanceTimersByTimeAsync(2 * 60_000);
  expect(await shrinking).toEqual({ thing: [3, 4], result: 'broken by 2', isSmallest: false });
  expect(tries).toBe(2);
});

test('whoever stops the run stops the shrinking', async () => {
  const stopping = new AbortController();
  let tries = 0;
  const breaks = async (): Promise<null> => {
    tries += 1;
    stopping.abort();
    return null;
  };
  const shrunk = await shrink({ thing: [1, 2, 3, 4], result: 'broken' }, without, breaks, stopping.signal);
  expect(shrunk).toEqual({ thing: [1, 2, 3, 4], result: 'broken', isSmallest: false });
  expect(tries).toBe(1);
});
