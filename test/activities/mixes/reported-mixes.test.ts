import { expect, test } from 'vitest';
import { Random } from '../../../src/sandbox/core/random.ts';
import { isFull, isSoak, seedsFrom } from '../../support/depth.ts';
import { asReported, drawMix } from '../../world/inputs/draw-mix.ts';
import { Coverage, runMixes } from '../../world/run-mixes.ts';

test.each(['batch-calling', 'campaigns'] as const)(
  'a campaign through %s keeps every promise in a mix of faults, lags and deaths',
  async (api) => {
    const mixes = seedsFrom(1, isFull ? 10 : 4).map((seed) => asReported(drawMix(seed), api, new Random('reported', api, seed)));
    const coverage = new Coverage();
    expect((await runMixes(mixes, coverage)).join('\n\n')).toBe('');
    if (!isSoak) expect([...coverage.seen.keys()]).toContain('batch confirmed by look_up');
  },
);
