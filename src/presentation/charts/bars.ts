import type { Html } from '../html/html.ts';
import { draw, namesAxis } from './drawing.ts';
import { inks } from './inks.ts';

export interface Bar {
  name: string;
  value: number;
  /** What `value` is a part of, drawn as a paler bar behind it. */
  whole?: number;
  /** Written at the end of the bar. */
  figure: string;
}

/** More bars than these are not read any more; the table goes on. */
const mostBars = 15;
const width = 520;
const lineHeight = 26;

/** Horizontal bars from a common base, the first at the top. */
export function drawBars(title: string, text: string, bars: readonly Bar[]): Html {
  const shown = bars.slice(0, mostBars);
  const longest = Math.max(...shown.map(({ value, whole }) => whole ?? value), 1);
  const bar = {
    type: 'bar',
    silent: true,
    barWidth: 16,
    barGap: '-100%',
  } as const;
  return draw({
    title,
    text,
    width,
    height: shown.length * lineHeight + 8,
    option: {
      grid: { left: 170, right: 118, top: 4, bottom: 4, outerBoundsMode: 'none' },
      xAxis: { type: 'value', show: false, max: longest },
      yAxis: namesAxis(shown.map(({ name }) => name)),
      series: [
        {
          ...bar,
          itemStyle: { color: inks.rest },
          data: shown.map(({ value, whole }) => whole ?? value),
          label: {
            show: true,
            position: 'right',
            color: inks.text,
            formatter: ({ dataIndex }: { dataIndex: number }) => shown[dataIndex]?.figure ?? '',
          },
        },
        { ...bar, itemStyle: { color: inks.main }, data: shown.map(({ value }) => value) },
      ],
    },
  });
}
