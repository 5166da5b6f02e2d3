import { expect, test } from 'vitest';
import { drawTangledMix } from './draw-mix.ts';
import { Coverage, drawMixes, range, runMixes } from './run-mixes.ts';
import { seedFactor } from '../../support/depth.ts';

const coverage = new Coverage();

test.for(range(1, seedFactor).map((n) => 1 + 10 * n))(
  'no conversation goes to the wrong recipient, however alike they look: 10 seeds from %i',
  async (from) => {
    expect(await runMixes(drawMixes(range(from, from + 9), drawTangledMix), coverage)).toEqual([]);
  },
);

test('the tangled mixes gave every kind of evidence its chance', () => {
  const kinds = ['reference', 'batch_and_number', 'number', 'opening_line', 'none'].map((kind) => `evidence ${kind}`);
  expect([...coverage.seen.keys()]).toEqual(expect.arrayContaining(kinds));
});
