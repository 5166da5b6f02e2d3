import { expect, test } from 'vitest';
import { drawMix } from './draw-mix.ts';
import { Coverage, drawMixes, mustHappen, range, runMixes } from './run-mixes.ts';

const coverage = new Coverage();

test.for([1, 26, 51, 76, 101])(
  'no mix of faults breaks a promise: 25 seeds from %i',
  { timeout: 240_000 },
  async (from) => {
    expect(await runMixes(drawMixes(range(from, from + 24), drawMix), coverage)).toEqual([]);
  },
);

test('the mixes from seed 1 on were not harmless', () => {
  expect([...coverage.seen.keys()]).toEqual(expect.arrayContaining(mustHappen));
});
