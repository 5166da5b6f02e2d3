import { expect, test } from 'vitest';
import { chartStyles, heatInks, inks } from '../../../src/presentation/charts/inks.ts';
import { chartColours, contrast, distance, visions, type Rgb } from './colour-vision.ts';

const segments = ['completed', 'exhausted', 'opted-out', 'never', 'stopped', 'unresolved', 'open', 'ready', 'hour', 'today', 'later'];
/** What may stand side by side, or one over the other. */
const together: string[][] = [
  ...segments.flatMap((a, index) => segments.slice(index + 1).map((b) => [a, b])),
  ...[0, 1, 2, 3].map((step) => [`heat-${step}`, `heat-${step + 1}`]),
  ['main', 'limit'],
  ['main', 'alarm'],
  ['limit', 'alarm'],
  ['main', 'rest'],
  ['main', 'band'],
];
/** The least distance at which two colours are still easily told apart beside each other. */
const least = 10;

for (const scheme of ['light', 'dark'] as const) {
  const colours = chartColours(scheme);
  const colour = (name: string): Rgb => colours.get(name) ?? [0, 0, 0];

  test.each(Object.entries(visions).filter(([name]) => name !== 'none'))(
    `colours that stand together in the ${scheme} scheme are told apart with %s vision`,
    (_, vision) => {
      const close = together.filter(([a = '', b = '']) => distance(colour(a), colour(b), vision) < least);
      expect(close).toEqual([]);
    },
  );

  test(`what means something keeps a contrast of 3 to its ground in the ${scheme} scheme, and words 4.5`, () => {
    for (const name of [...segments.slice(0, -3), 'main', 'limit', 'alarm'])
      expect([name, contrast(colour(name), colour('ground')) >= 3]).toEqual([name, true]);
    for (const ground of ['ground', 'band']) expect([ground, contrast(colour('text'), colour(ground)) >= 4.5]).toEqual([ground, true]);
    for (const step of [0, 1, 2, 3, 4])
      expect([step, contrast(colour(`heat-${step}`), colour(`on-heat-${step}`)) >= 4.5]).toEqual([step, true]);
  });
}

test('without colour the steps of a heat map still go one way', () => {
  for (const scheme of ['light', 'dark'] as const) {
    const colours = chartColours(scheme);
    const ground: Rgb = colours.get('ground') ?? [0, 0, 0];
    const steps = [0, 1, 2, 3, 4].map((step) => contrast(colours.get(`heat-${step}`) ?? ground, ground));
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
  }
});

test('every ink that is used has its colours', () => {
  const used = [...Object.values(inks), ...heatInks.flatMap(({ ground, text }) => [ground, text])];
  for (const ink of used) expect(chartStyles).toContain(`${ink.slice(4, -1)}: light-dark(`);
});
