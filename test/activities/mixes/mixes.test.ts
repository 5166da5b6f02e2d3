import { expect, test } from 'vitest';
import { drawMix } from '../../world/inputs/draw-mix.ts';
import { Coverage, drawMixes, mustHappen, runMixes } from '../../world/run-mixes.ts';
import { describeSeeds, isFull, isSoak, seedsFrom } from '../../support/depth.ts';

const coverage = new Coverage();

const seeds = seedsFrom(1, isFull ? 40 : 15);

test(`no mix of faults breaks a promise: ${describeSeeds(seeds)}`, async () => {
  expect(await runMixes(drawMixes(seeds, drawMix), coverage)).toEqual([]);
});

test.skipIf(isSoak)('the mixes were not harmless', () => {
  expect([...coverage.seen.keys()]).toEqual(expect.arrayContaining(mustHappen));
});
