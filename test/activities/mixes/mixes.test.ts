import { expect, test } from 'vitest';
import { Random } from '../../../src/sandbox/core/random.ts';
import { describeSeeds, isSoak, seedsFrom } from '../../support/depth.ts';
import { newDatabase } from '../../ledger/clean-store.ts';
import { asReported, drawChainedMix, drawMix, drawTangledMix } from '../../world/inputs/draw-mix.ts';
import type { Mix } from '../../world/mix.ts';
import { Coverage, mustHappen, runMixes } from '../../world/run-mixes.ts';

interface Play {
  what: string;
  seeds: readonly number[];
  draw: (seed: number) => Mix;
  /** What the seeds of `npm test` must show, unless something made it harmless. */
  must: readonly string[];
}

const wentOn = ['went on for 1', 'went on for 2', 'went on for 3', 'went on for 4', 'taken up at a later batch'];
const whileGoingOn = ['place: dies before', 'place: dies after', 'commit: unheard', 'commit: fails', 'submit result: unheard'];

const plays: readonly Play[] = [
  { what: 'no mix of faults breaks a promise', seeds: seedsFrom(1, 15, [2, 3, 7, 12, 14]), draw: drawMix, must: mustHappen },
  {
    what: 'a submit that goes on breaks no promise, whatever strikes it while it does',
    seeds: seedsFrom(1, 6, [3, 6]),
    draw: drawChainedMix,
    must: [...wentOn.map((what) => `submit ${what}`), ...whileGoingOn.map((point) => `strike ${point}`)],
  },
  {
    what: 'no conversation goes to the wrong recipient, however alike they look',
    seeds: seedsFrom(11, 5, [12, 13, 14]),
    draw: drawTangledMix,
    must: ['reference', 'batch_and_number', 'number', 'opening_line', 'none'].map((kind) => `evidence ${kind}`),
  },
  ...(['batch-calling', 'campaigns'] as const).map((api): Play => ({
    what: `a campaign through ${api} keeps every promise in a mix of faults, lags and deaths`,
    seeds: seedsFrom(1, 4, [2]),
    draw: (seed) => asReported(drawMix(seed), api, new Random('reported', api, seed)),
    must: ['batch confirmed by look_up'],
  })),
];

test.each(plays.map((play) => ({ ...play, which: describeSeeds(play.seeds) })))('$what: $which', async ({ seeds, draw, must }) => {
  const coverage = new Coverage();
  expect((await runMixes(seeds.map(draw), coverage)).join('\n\n')).toBe('');
  if (!isSoak) expect([...coverage.seen.keys()]).toEqual(expect.arrayContaining([...must]));
});

test.runIf(isSoak)('nor is one broken on PostgreSQL', async () => {
  for (const seed of seedsFrom(1, 5)) {
    const { databaseUrl = '' } = await newDatabase('postgres');
    const draw = seed % 2 === 0 ? drawMix : drawTangledMix;
    expect(await runMixes([{ ...draw(seed), databaseUrl }], new Coverage())).toEqual([]);
  }
});
