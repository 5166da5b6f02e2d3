import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { PriorityQueue } from '../../../src/domain/forecast/priority-queue.ts';

const byNumber = (left: number, right: number): number => left - right;

test('an empty queue has nothing to give', () => {
  const queue = new PriorityQueue<number>(byNumber);
  expect([queue.size, queue.peek(), queue.pop()]).toEqual([0, undefined, undefined]);
  queue.push(1);
  expect([queue.size, queue.peek(), queue.pop(), queue.size, queue.pop()]).toEqual([1, 1, 1, 0, undefined]);
});

test('the first is seen without being taken', () => {
  const queue = new PriorityQueue<number>(byNumber);
  for (const item of [3, 1, 2]) queue.push(item);
  expect([queue.peek(), queue.peek(), queue.size]).toEqual([1, 1, 3]);
});

test('however items come and go, the first of those inside is given back', () => {
  const step = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constant('pop' as const));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = new PriorityQueue<{ at: number }>((left, right) => left.at - right.at);
      let inside: number[] = [];
      for (const next of [...steps, ...steps.map(() => 'pop' as const)]) {
        if (next === 'pop') {
          inside = inside.toSorted(byNumber);
          expect(queue.pop()?.at).toBe(inside.shift());
        } else {
          queue.push({ at: next });
          inside.push(next);
        }
        expect(queue.size).toBe(inside.length);
        expect(queue.peek()?.at).toBe(inside.length === 0 ? undefined : Math.min(...inside));
      }
    }),
    { seed: 5, numRuns: 300 },
  );
});

test('ten thousand items cost a few comparisons each', () => {
  let comparisons = 0;
  const queue = new PriorityQueue<number>((left, right) => {
    comparisons += 1;
    return left - right;
  });
  for (let item = 0; item < 10_000; item++) queue.push((item * 7919) % 10_000);
  for (let item = 0; item < 10_000; item++) expect(queue.pop()).toBe(item);
  expect(comparisons).toBeLessThan(10_000 * 2 * 14);
  // One that is last already is compared with the one above it, and no further.
  comparisons = 0;
  for (let item = 0; item < 1_000; item++) queue.push(item);
  expect(comparisons).toBeLessThan(1_000);
});
