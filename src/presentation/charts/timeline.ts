import type { Html } from '../html/html.ts';
import { count, span } from '../../shared/input/figures.ts';
import type { ReportedTimeline } from '../../ledger/read/campaign-report.ts';
import type { TimelinePoint } from '../../ledger/read/timeline.ts';
import type { Chart } from './chart.ts';
import { draw } from './drawing.ts';
import { inks } from './inks.ts';

export function courseChart(course: ReportedTimeline | null): Chart {
  const title = 'Course';
  const points = course?.points ?? [];
  const stretches = merge(points);
  return {
    title,
    note: 'Above, calls that were open, below the dashed line of those allowed; pauses are bands. Below, calls that were started, and requests beyond the service’s rate limit (triangles). Times are UTC.',
    drawing: course === null ? null : drawCourse(title, course),
    figures: {
      columns: ['From', 'Started', 'Ended', 'Open at most', 'Allowed', 'Rate limits', 'Paused'],
      rows: stretches.map((own) => courseRow(own, course)),
    },
    whenEmpty: 'Nobody was called yet.',
  };
}

const mostRows = 24;

/** Groups points evenly into at most 24 table rows. */
function merge(points: readonly TimelinePoint[]): TimelinePoint[][] {
  const size = Math.max(1, Math.ceil(points.length / mostRows));
  return Array.from({ length: Math.ceil(points.length / size) }, (_, n) => points.slice(n * size, (n + 1) * size));
}

function courseRow(own: readonly TimelinePoint[], course: ReportedTimeline | null): { cells: string[] } {
  const sum = (of: (point: TimelinePoint) => number): string => count(own.reduce((total, point) => total + of(point), 0));
  const from = own[0]?.at ?? 0;
  const to = (own.at(-1)?.at ?? from) + (course?.stepMs ?? 0);
  const allowed = own.map((point) => point.allowed);
  const [least, most] = [Math.min(...allowed), Math.max(...allowed)];
  const pausedMs = (course?.pauses ?? []).reduce(
    (total, pause) => total + Math.max(0, Math.min(to, pause.toAt ?? to) - Math.max(from, pause.fromAt)),
    0,
  );
  return {
    cells: [
      utc(from),
      sum(({ starts }) => starts),
      sum(({ ends }) => ends),
      count(Math.max(...own.map(({ open }) => open))),
      least === most ? count(most) : `${count(least)} to ${count(most)}`,
      sum(({ limited }) => limited),
      pausedMs === 0 ? '' : span(pausedMs),
    ],
  };
}

const width = 960;
const height = 320;
const left = 66;

function drawCourse(title: string, { points, stepMs, pauses }: ReportedTimeline): Html {
  const from = points[0]?.at ?? 0;
  const to = (points.at(-1)?.at ?? from) + stepMs;
  const steps = (of: (point: TimelinePoint) => number): [number, number][] => {
    const values = points.map((point): [number, number] => [point.at, of(point)]);
    const changes = values.filter(([, value], index) => value !== values[index - 1]?.[1]);
    return [...changes, [to, values.at(-1)?.[1] ?? 0]];
  };
  const line = { type: 'line', step: 'end', silent: true, showSymbol: false } as const;
  const bands = pauses.flatMap((pause): [number, number][] => {
    const [begin, end] = [Math.max(from, pause.fromAt), Math.min(to, pause.toAt ?? to)];
    return begin < end ? [[begin, end]] : [];
  });
  const sum = (of: (point: TimelinePoint) => number): string => count(points.reduce((total, point) => total + of(point), 0));
  const most = Math.max(...points.map(({ open }) => open));
  const text = `From ${utc(from)} to ${utc(to)} UTC: ${sum(({ starts }) => starts)} calls started, at most ${count(most)} open at a time, ${sum(({ limited }) => limited)} requests beyond the rate limit, ${count(bands.length)} pauses.`;
  const time = {
    type: 'time',
    min: from,
    max: to,
    silent: true,
    axisLine: { lineStyle: { color: inks.axis } },
    axisTick: { lineStyle: { color: inks.axis } },
    splitLine: { show: false },
  } as const;
  const values = {
    type: 'value',
    minInterval: 1,
    silent: true,
    nameLocation: 'middle',
    nameGap: 50,
    nameTextStyle: { color: inks.text },
    axisLabel: { color: inks.text },
    splitLine: { lineStyle: { color: inks.band } },
  } as const;
  const formatter = tickFormat(to - from);
  return draw({
    title,
    text,
    width,
    height,
    option: {
      grid: [
        { left, right: 28, top: 12, height: 150, outerBoundsMode: 'none' },
        { left, right: 28, top: 190, height: 96, outerBoundsMode: 'none' },
      ],
      xAxis: [
        { ...time, gridIndex: 0, axisLabel: { show: false } },
        { ...time, gridIndex: 1, axisLabel: { color: inks.text, hideOverlap: true, formatter } },
      ],
      yAxis: [
        { ...values, gridIndex: 0, name: 'open', splitNumber: 4 },
        { ...values, gridIndex: 1, name: 'started', splitNumber: 2 },
      ],
      series: [
        {
          ...line,
          data: steps(({ open }) => open),
          lineStyle: { color: inks.main, width: 1.5 },
          areaStyle: { color: inks.main, opacity: 0.25 },
          markArea: {
            silent: true,
            itemStyle: { color: inks.band, borderColor: inks.band },
            data: bands.map(([begin, end]) => [{ xAxis: begin }, { xAxis: end }]),
          },
        },
        {
          ...line,
          data: steps(({ allowed }) => allowed),
          lineStyle: { color: inks.limit, width: 1.5, type: 'dashed' },
        },
        {
          ...line,
          xAxisIndex: 1,
          yAxisIndex: 1,
          data: steps(({ starts }) => starts),
          lineStyle: { color: inks.main, width: 1 },
          areaStyle: { color: inks.main, opacity: 0.6 },
        },
        {
          type: 'scatter',
          silent: true,
          xAxisIndex: 1,
          yAxisIndex: 1,
          symbol: 'triangle',
          symbolSize: 9,
          itemStyle: { color: inks.alarm },
          data: points.filter(({ limited }) => limited > 0).map(({ at, starts }) => [at + stepMs / 2, starts]),
        },
      ],
    },
  });
}

const dayMs = 86_400_000;

function tickFormat(lengthMs: number): (at: number) => string {
  if (lengthMs > 3 * dayMs) return (at) => utc(at).slice(5, 10);
  if (lengthMs > dayMs / 2) return (at) => utc(at).slice(5);
  return (at) => (lengthMs > 1_800_000 ? utc(at).slice(11) : new Date(at).toISOString().slice(11, 19));
}

function utc(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}
