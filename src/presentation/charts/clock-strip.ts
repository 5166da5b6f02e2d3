import { count } from '../../shared/input/figures.ts';
import { printable } from '../../shared/input/printable.ts';
import type { Html } from '../html/html.ts';
import type { ClockStrip, ClockZone, HoursBound } from '../../ledger/read/clock-strip.ts';
import type { Chart } from './chart.ts';
import { draw, namesAxis } from './drawing.ts';
import { heatInks, inks } from './inks.ts';

/** The day of each time zone in which rows wait: its calling windows, and where its clock stands. */
export function clockStrip({ zones, more }: ClockStrip): Chart {
  const title = 'Hours by time zone';
  return {
    title,
    note: 'The day of each zone by its own clock. Strong: all of its waiting rows may be called; faint: some. The line is the time now. A row that may be in several zones stands in each of them, and is called only where all of them allow it.',
    drawing: zones.length === 0 ? null : drawStrip(title, zones),
    figures: {
      columns: ['Time zone', 'Local time', 'Waiting rows', 'May be called now', 'Next opening there', 'Bound by'],
      rows: zones.map((entry) => ({
        cells: [
          printable(entry.zone),
          entry.wallMinutes === null ? '–' : clockText(entry.wallMinutes),
          count(entry.rows),
          openText(entry),
          openingText(entry),
          entry.boundBy.map(boundText).join('; '),
        ],
      })),
      more,
    },
    whenEmpty: 'No row waits for a call.',
  };
}

function openText({ open, rows }: ClockZone): string {
  if (open === 0) return 'none';
  return open === rows ? 'all' : `${count(open)} of ${count(rows)}`;
}

function openingText({ opensThere }: ClockZone): string {
  if (opensThere === null) return '–';
  const time = clockText(opensThere.wallMinutes);
  return opensThere.date === null ? time : `${opensThere.date} ${time}`;
}

const boundNames: Readonly<Record<Exclude<HoursBound['rule'], 'law'>, string>> = {
  campaign: 'calling hours of the campaign',
  row: 'hours of their own',
  starts: 'start time of the campaign',
  ends: 'end of the campaign',
  unknown_zone: 'no such time zone',
};

/** What decides when somebody may be called, such as `law us-fl, closed that day`. */
function boundText({ rule, law, holiday, zone }: HoursBound): string {
  const name = rule === 'law' ? `law ${printable(law ?? '')}` : boundNames[rule];
  const place = zone === null ? '' : ` in ${printable(zone)}, where they may be too`;
  return `${name}${holiday ? ', closed that day' : ''}${place}`;
}

function clockText(minutes: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

const width = 760;
const lineHeight = 26;
const barHeight = 14;
const margins = { left: 170, right: 22, top: 24, bottom: 4 };

function drawStrip(title: string, zones: readonly ClockZone[]): Html {
  const text = zones.map((zone) => {
    const windows = zone.today.map(({ from, to }) => `${clockText(from)} to ${clockText(to)}`).join(', ');
    const time = zone.wallMinutes === null ? '' : ` ${clockText(zone.wallMinutes)}`;
    const today = windows === '' ? 'closed today' : `open today ${windows}`;
    return `${printable(zone.zone)}${time}: ${openText(zone)} of its rows may be called now, ${today}`;
  });
  return draw({
    title,
    text: text.join('; '),
    width,
    height: margins.top + zones.length * lineHeight + margins.bottom,
    option: {
      grid: { ...margins, outerBoundsMode: 'none' },
      xAxis: {
        type: 'value',
        position: 'top',
        min: 0,
        max: 24,
        interval: 3,
        silent: true,
        axisLabel: { color: inks.text, formatter: (hour: number) => clockText(hour * 60) },
        axisLine: { show: false },
        splitLine: { lineStyle: { color: inks.band } },
      },
      yAxis: namesAxis(zones.map(({ zone }) => zone)),
      series: {
        type: 'custom',
        silent: true,
        data: zones.map((_, line) => [0, line]),
        renderItem: ({ dataIndex }, api) => {
          const zone = zones[dataIndex];
          if (zone === undefined) return null;
          const y = api.coord([0, dataIndex])[1] ?? 0;
          const xOf = (minutes: number): number => api.coord([minutes / 60, dataIndex])[0] ?? 0;
          const rect = ([x, end]: [number, number], high: number, fill: string) => {
            const shape = { x, y: y - high / 2, width: end - x, height: high };
            return { type: 'rect', shape, style: { fill } } as const;
          };
          const bars = zone.today.map(({ from, to, rows }) => {
            const [, , some] = heatInks;
            return rect([xOf(from), xOf(to)], barHeight, rows === zone.rows ? inks.main : (some?.ground ?? inks.rest));
          });
          const at = zone.wallMinutes === null ? null : xOf(zone.wallMinutes);
          const mark = at === null ? [] : [rect([at - 1.5, at + 1.5], lineHeight - 4, inks.limit)];
          return { type: 'group', children: [rect([xOf(0), xOf(24 * 60)], 2, inks.rest), ...bars, ...mark] };
        },
      },
    },
  });
}
