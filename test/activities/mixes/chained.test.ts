import { expect, test } from 'vitest';
import { drawChainedMix } from '../../world/inputs/draw-mix.ts';
import { Coverage, drawMixes, runMixes } from '../../world/run-mixes.ts';
import { describeSeeds, isFull, isSoak, seedsFrom } from '../../support/depth.ts';

const coverage = new Coverage();
const seeds = seedsFrom(1, isFull ? 20 : 6);

test(`a submit that goes on breaks no promise, whatever strikes it while it does: ${describeSeeds(seeds)}`, async () => {
  expect(await runMixes(drawMixes(seeds, drawChainedMix), coverage)).toEqual([]);
});

test.skipIf(isSoak)('submits went on for several batches, and were taken up again where an earlier try had come to', () => {
  const words = ['went on for 1', 'went on for 2', 'went on for 3', 'went on for 4', 'taken up at a later batch'];
  const strikes = ['dies_before_post', 'dies_after_post', 'commit_unheard', 'commit_refused', 'submit_result_lost'];
  const seen = [...words.map((word) => `submit ${word}`), ...strikes.map((point) => `strike ${point}`)];
  expect([...coverage.seen.keys()]).toEqual(expect.arrayContaining(seen));
});
