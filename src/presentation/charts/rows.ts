import { type Outcome, outcomes } from '../../rules/outcome.ts';
import { html, type Html } from '../html/html.ts';
import { count, percentCell } from '../../shared/input/figures.ts';
import type { Funnel } from '../../ledger/read/funnel.ts';
import type { CountLine } from '../../ledger/read/report.ts';
import { drawBars } from './drawing.ts';
import type { Chart, FigureRow } from './chart.ts';
import { inks } from './inks.ts';

/** How many rows of the list came how far, and what became of usable rows that were never called. */
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
  const title = 'Funnel';
  const text = steps.map(([name, rows]) => `${name}: ${figure(rows)}`).join('; ');
  return {
    title,
    note: 'How many rows of the list came how far.',
    drawing: drawBars(
      title,
      text,
      steps.map(([name, rows]) => ({ name, value: rows, whole: listed, figure: figure(rows) })),
    ),
    figures: {
      columns: ['Rows', 'Number', 'Of the list', 'Of the step before'],
      rows: [
        ...steps.map(([name, rows], index) => ({
          cells: [name, count(rows), share(rows, listed), index === 0 ? '' : share(rows, steps[index - 1]?.[1] ?? 0)],
        })),
        ...never.map(([name, rows]) => ({ cells: [name, count(rows), share(rows, listed), ''] })),
      ],
    },
    whenEmpty: 'The list has no rows.',
  };
}

/** Rows of a report, or conversations, by one value. */
export function countsChart(
  title: string,
  { lines, unit, note, more = 0 }: { lines: readonly CountLine[]; unit: string; note?: string; more?: number },
): Chart {
  const bars = lines.map(({ value, count: number, share }) => ({
    name: asWords(value),
    value: number,
    figure: `${count(number)} (${percentCell(share)})`,
  }));
  const text = bars.map(({ name, figure }) => `${name}: ${figure}`).join('; ');
  return {
    title,
    ...(note === undefined ? {} : { note }),
    drawing: bars.length === 0 ? null : drawBars(title, text, bars),
    figures: {
      columns: ['Value', unit, 'Share'],
      rows: lines.map((line) => ({ cells: [asWords(line.value), count(line.count), percentCell(line.share)] })),
      more,
    },
    whenEmpty: 'None yet.',
  };
}

/** Where the rows of a campaign stand; all add up to its list. */
export interface Progress {
  outcomes: Partial<Record<Outcome, number>>;
  /** In a call, or in a batch that is planned. */
  open: number;
  /** Could be called now, as far as their own rules go. */
  ready: number;
  /** Wait for a time: within the hour, later on this day, or after it. */
  hour: number;
  today: number;
  later: number;
}

const outcomeInks: Readonly<Record<Outcome, string>> = {
  completed: inks.completed,
  exhausted: inks.exhausted,
  opted_out: inks.opted_out,
  suppressed: inks.never,
  rejected: inks.never,
  undialable: inks.never,
  expired: inks.stopped,
  cancelled: inks.stopped,
  unresolved: inks.unresolved,
};

/** One bar: rows that are done by outcome, then those open, ready and due later. */
export function progressChart(progress: Progress): Chart {
  const parts = [
    ...outcomes.map((outcome) => [asWords(outcome), progress.outcomes[outcome] ?? 0, outcomeInks[outcome]] as const),
    ['open', progress.open, inks.open] as const,
    ['ready now', progress.ready, inks.ready] as const,
    ['due within the hour', progress.hour, inks.hour] as const,
    ['due later today', progress.today, inks.today] as const,
    ['due later', progress.later, inks.later] as const,
  ].filter(([, rows]) => rows > 0);
  const all = parts.reduce((sum, [, rows]) => sum + rows, 0);
  const rows: FigureRow[] = parts.map(([name, number, ink]) => ({
    cells: [name, count(number), share(number, all)],
    ink,
  }));
  const title = 'Progress';
  return {
    title,
    drawing: all === 0 ? null : drawProgress(title, parts, all),
    figures: { columns: ['Rows', 'Number', 'Share'], rows },
    whenEmpty: 'The list has no rows.',
  };
}

const progressWidth = 640;

/** Too plain for axes: one line of rectangles with the ground between them. */
function drawProgress(title: string, parts: readonly (readonly [string, number, string])[], all: number): Html {
  const text = parts.map(([name, rows]) => `${name}: ${count(rows)} (${share(rows, all)})`).join('; ');
  let left = 0;
  const pieces = parts.map(([, rows, ink]) => {
    const width = (rows / all) * progressWidth;
    const gap = width > 4 ? 2 : 0;
    const piece = html`<rect x="${left.toFixed(1)}" width="${(width - gap).toFixed(1)}" height="18" fill="${ink}"></rect>`;
    left += width;
    return piece;
  });
  return html`<svg viewBox="0 0 ${progressWidth} 18" width="${progressWidth}" role="img">
    <title>${title}</title>
    <desc>${text}</desc>
    ${pieces}
  </svg>`;
}

/** `no_answer` as people write it. */
export function asWords(value: string): string {
  return value.replaceAll('_', ' ');
}

function share(part: number, whole: number): string {
  return whole === 0 ? '' : percentCell(part / whole);
}
