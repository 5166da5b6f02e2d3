import { expect, test } from 'vitest';
import { drawTangledMix } from './draw-mix.ts';
import { Coverage, drawMixes, range, runMixes } from './run-mixes.ts';
import { isFull, seedFactor } from '../../support/depth.ts';

const coverage = new Coverage();

const seeds = isFull ? 10 : 5;

test.for(range(0, seedFactor - 1).map((n) => 11 + seeds * n))(
  `no conversation goes to the wrong recipient, however alike they look: ${seeds} seeds from %i`,
  async (from) => {
    expect(await runMixes(drawMixes(range(from, from + seeds - 1), drawTangledMix), coverage)).toEqual([]);
  },
);

test('the tangled mixes gave every kind of evidence its chance', () => {
  const kinds = ['reference', 'batch_and_number', 'number', 'opening_line', 'none'].map((kind) => `evidence ${kind}`);
  expect([...coverage.seen.keys()]).toEqual(expect.arrayContaining(kinds));
});
