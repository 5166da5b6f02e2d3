import { outcomes } from '../../rules/outcome.ts';
import { count, percentCell } from '../../shared/input/figures.ts';
import type { Funnel } from '../../ledger/read/campaign-report.ts';
import type { CountLine } from '../../ledger/read/report.ts';
import { barChart } from './drawing.ts';
import type { Chart } from './chart.ts';

/** How far the rows of the list came, and why usable rows were never called. */
export function funnelChart(funnel: Funnel): Chart {
  const { listed, notCalled } = funnel;
  const steps = [
    ['In the list', listed],
    ['Usable', funnel.usable],
    ['Called', funnel.called],
    ['Answered', funnel.answered],
    ['Completed', funnel.completed],
  ] as const;
  const never = outcomes.flatMap((outcome) => {
    const rows = notCalled[outcome];
    return rows === undefined ? [] : [[`Not called: ${asWords(outcome)}`, rows] as const];
  });
  const figure = (rows: number): string => `${count(rows)} (${share(rows, listed)})`;
  const bars = steps.map(([name, rows]) => ({ name, value: rows, whole: listed, figure: figure(rows) }));
  return barChart({ title: 'Funnel', note: 'How many rows of the list came how far.', whenEmpty: 'The list has no rows.' }, bars, {
    columns: ['Rows', 'Number', 'Of the list', 'Of the step before'],
    rows: [
      ...steps.map(([name, rows], index) => ({
        cells: [name, count(rows), share(rows, listed), index === 0 ? '' : share(rows, steps[index - 1]?.[1] ?? 0)],
      })),
      ...never.map(([name, rows]) => ({ cells: [name, count(rows), share(rows, listed), ''] })),
    ],
  });
}

export function countsChart(
  title: string,
  { lines, unit, note, more = 0 }: { lines: readonly CountLine[]; unit: string; note?: string; more?: number },
): Chart {
  const bars = lines.map(({ value, count: number, share }) => ({
    name: asWords(value),
    value: number,
    figure: `${count(number)} (${percentCell(share)})`,
  }));
  return barChart({ title, ...(note === undefined ? {} : { note }), whenEmpty: 'None yet.' }, bars, {
    columns: ['Value', unit, 'Share'],
    rows: lines.map((line) => ({ cells: [asWords(line.value), count(line.count), percentCell(line.share)] })),
    more,
  });
}

export function asWords(value: string): string {
  return value.replaceAll('_', ' ');
}

function share(part: number, whole: number): string {
  return whole === 0 ? '' : percentCell(part / whole);
}
