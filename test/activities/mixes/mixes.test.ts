import { expect, test } from 'vitest';
import { drawMix } from './draw-mix.ts';
import { Coverage, drawMixes, mustHappen, range, runMixes } from './run-mixes.ts';
import { isFull, seedFactor } from '../../support/depth.ts';

const coverage = new Coverage();

const parts = isFull ? 2 * seedFactor : seedFactor;
const seeds = isFull ? 20 : 15;

test.for(range(0, parts - 1).map((n) => 1 + seeds * n))(`no mix of faults breaks a promise: ${seeds} seeds from %i`, async (from) => {
  expect(await runMixes(drawMixes(range(from, from + seeds - 1), drawMix), coverage)).toEqual([]);
});

test('the mixes were not harmless', () => {
  expect([...coverage.seen.keys()]).toEqual(expect.arrayContaining(mustHappen));
});
