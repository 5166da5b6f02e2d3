import { expect, test } from 'vitest';
import { drawTangledMix } from '../../world/inputs/draw-mix.ts';
import { Coverage, drawMixes, runMixes } from '../../world/run-mixes.ts';
import { describeSeeds, isFull, isSoak, seedsFrom } from '../../support/depth.ts';

const coverage = new Coverage();

const seeds = seedsFrom(11, isFull ? 10 : 5);

test(`no conversation goes to the wrong recipient, however alike they look: ${describeSeeds(seeds)}`, async () => {
  expect(await runMixes(drawMixes(seeds, drawTangledMix), coverage)).toEqual([]);
});

test.skipIf(isSoak)('the tangled mixes gave every kind of evidence its chance', () => {
  const kinds = ['reference', 'batch_and_number', 'number', 'opening_line', 'none'].map((kind) => `evidence ${kind}`);
  expect([...coverage.seen.keys()]).toEqual(expect.arrayContaining(kinds));
});
