import { expect, test } from 'vitest';
import { countsChart } from '../../../src/presentation/charts/rows.ts';
import { renderChart } from '../../../src/presentation/charts/chart.ts';
import { courseChart } from '../../../src/presentation/charts/timeline.ts';
import { allCharts, sample, type SampleData } from './sample-data.ts';
import { chartStyles, heatInks, inks } from '../../../src/presentation/charts/inks.ts';
import { chartColours, contrast, distance, visions, type Rgb, type Scheme } from './colour-vision.ts';

const nothing: SampleData = {
  funnel: { listed: 0, usable: 0, called: 0, answered: 0, completed: 0, notCalled: {} },
  course: null,
  week: [],
  attempts: [],
  days: [],
  callers: [],
  dispositions: [],
  collected: [],
};

test('each chart is named, told in words, and drawn without anything that a strict policy refuses', () => {
  for (const [name, { title, drawing }] of Object.entries(allCharts(sample))) {
    const svg = drawing?.text ?? '';
    expect([name, svg.includes(`<title>${title}</title>`), /<desc>[^<]{10,}<\/desc>/.test(svg)]).toEqual([name, true, true]);
    expect([name, svg.includes('role="img"')]).toEqual([name, true]);
    expect([name, svg.match(/ (?:style|id|class|on\w+|href)=|<style|<script|NaN|undefined|#[0-9a-f]{3,8}\b/g)]).toEqual([name, null]);
  }
});

test('the table beside each chart has the figures of the data', () => {
  const rows = Object.fromEntries(
    Object.entries(allCharts(sample)).map(([name, { figures }]) => [name, figures.rows.map(({ cells }) => cells)]),
  );
  expect(rows['funnel']).toEqual([
    ['In the list', '120', '100.0 %', ''],
    ['Usable', '110', '91.7 %', '91.7 %'],
    ['Called', '80', '66.7 %', '72.7 %'],
    ['Answered', '64', '53.3 %', '80.0 %'],
    ['Completed', '60', '50.0 %', '93.8 %'],
    ['Not called: suppressed', '3', '2.5 %', ''],
  ]);
  expect(rows['attempts']).toEqual([
    ['Call 1', '70', '70', '30', '42.9 %', '0:30:00', '75.0 %', '75.0 %'],
    ['Call 2', '30', '25', '10', '40.0 %', '0:10:00', '25.0 %', '100.0 %'],
  ]);
  expect(rows['callerDays']).toEqual([
    ['pn_main', '30 of 60', '10 of 35 + 5 open'],
    ['pn_second', '', '0 of 0 + 3 open'],
  ]);
  expect(rows['week']?.[1]).toEqual(['Tuesday', '30 of 60', '', '', '']);
  expect(rows['week']?.[2]).toEqual(['Wednesday', '', '', '10 of 35 + 5 open', '0 of 0 + 3 open']);
  expect(rows['dispositions']?.[1]).toEqual(['no answer', '38', '36.9 %', '']);
  expect(rows['collected']).toEqual([
    ['yes', '45', '75.0 %'],
    ['no', '15', '25.0 %'],
  ]);
});

test('stretches of the course are added up in a table that can be read', () => {
  const { figures, drawing } = courseChart(sample.course);
  expect(figures.rows).toHaveLength(20);
  expect(figures.rows.slice(0, 4).map(({ cells }) => cells)).toEqual([
    ['2030-01-15 12:00', '6', '6', '4', '5', '0', ''],
    ['2030-01-15 12:15', '6', '6', '4', '5', '0', '10 min'],
    ['2030-01-15 12:30', '6', '6', '4', '5', '1', '15 min'],
    ['2030-01-15 12:45', '6', '6', '4', '5 to 10', '1', '5 min'],
  ]);
  const started = figures.rows.reduce((sum, { cells }) => sum + Number(cells[1]), 0);
  expect(started).toBe(100);
  expect(drawing?.text).toContain('100 calls started, at most 5 open at a time, 2 requests beyond the rate limit, 2 pauses.');
});

test('without data a chart says so, and draws nothing', () => {
  for (const [name, chart] of Object.entries(allCharts(nothing))) {
    if (name === 'funnel') continue;
    expect([name, chart.drawing, renderChart(chart, 'h2').text.includes(chart.whenEmpty)]).toEqual([name, null, true]);
  }
});

test('cells without calls stay empty, and a call that has not ended has no rate', () => {
  const { drawing } = allCharts(sample)['week'] ?? { drawing: null };
  const svg = drawing?.text ?? '';
  expect(svg.match(/<path d="M[^"]*Z" fill="var\(--chart-(?:heat|band)[^"]*"/g)).toHaveLength(3);
  expect(svg.match(/>–</g)).toHaveLength(1);
});

test('values of callers and agents are text, on one line, short in the drawing and whole in the table', () => {
  const hostile = `</svg></script><b onload="x('y')">& \u202egpj\n${'long '.repeat(30)}`;
  const chart = countsChart(hostile, { lines: [{ value: hostile, count: 1, share: 1 }], unit: 'Calls' });
  const text = renderChart(chart, 'h3').text;
  expect(text).not.toMatch(/<b |<\/script>|onload="/);
  expect(text.match(/<svg/g)?.length).toBe(text.match(/<\/svg>/g)?.length);
  expect(chart.drawing?.text.replace(/<(title|desc)>[\s\S]*?<\/\1>/g, '')).not.toMatch(/[\u202e]|long long/);
  expect(chart.figures.rows[0]?.cells[0]).toBe(hostile);
});

test('beyond the bars that can be read the table goes on', () => {
  const lines = Array.from({ length: 40 }, (_, n) => ({ value: `v${n}`, count: 40 - n, share: 0.01 }));
  const chart = countsChart('Values', { lines, unit: 'Calls', more: 9 });
  expect(chart.drawing?.text).toContain('>v14<');
  expect(chart.drawing?.text).not.toContain('>v15<');
  expect(chart.figures.rows).toHaveLength(40);
  expect(renderChart(chart, 'h3').text).toContain('And 9 more.');
});

/** What may stand side by side, or one over the other. */
const together: string[][] = [
  ...[0, 1, 2, 3].map((step) => [`heat-${step}`, `heat-${step + 1}`]),
  ['main', 'limit'],
  ['main', 'alarm'],
  ['limit', 'alarm'],
  ['main', 'rest'],
  ['main', 'band'],
];
/** What charts are drawn on. */
const grounds: Readonly<Record<Scheme, Rgb>> = { light: [1, 1, 1], dark: [24 / 255, 28 / 255, 33 / 255] };
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
    for (const name of ['main', 'limit', 'alarm']) expect([name, contrast(colour(name), grounds[scheme]) >= 3]).toEqual([name, true]);
    for (const ground of [grounds[scheme], colour('band')]) expect(contrast(colour('text'), ground)).toBeGreaterThanOrEqual(4.5);
    for (const step of [0, 1, 2, 3, 4])
      expect([step, contrast(colour(`heat-${step}`), colour(`on-heat-${step}`)) >= 4.5]).toEqual([step, true]);
  });
}

test('without colour the steps of a heat map still go one way', () => {
  for (const scheme of ['light', 'dark'] as const) {
    const colours = chartColours(scheme);
    const ground = grounds[scheme];
    const steps = [0, 1, 2, 3, 4].map((step) => contrast(colours.get(`heat-${step}`) ?? ground, ground));
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
  }
});

test('every ink that is used has its colours', () => {
  const used = [...Object.values(inks), ...heatInks.flatMap(({ ground, text }) => [ground, text])];
  for (const ink of used) expect(chartStyles).toContain(`${ink.slice(4, -1)}: light-dark(`);
});
