import { BarChart, CustomChart, LineChart, ScatterChart } from 'echarts/charts';
import { GridComponent, MarkAreaComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import type { EChartsOption } from 'echarts';
import { Html, html } from '../html/html.ts';
import { label, type Chart } from './chart.ts';
import { inks } from './inks.ts';

use([BarChart, CustomChart, LineChart, ScatterChart, GridComponent, MarkAreaComponent, SVGRenderer]);

export interface Drawing {
  /** Text alternative for screen readers: name and content. */
  title: string;
  text: string;
  width: number;
  height: number;
  /** All values must lie inside the axes, since clip paths are removed. */
  option: EChartsOption;
}

export function namesAxis(names: readonly string[]) {
  return {
    type: 'category',
    inverse: true,
    silent: true,
    data: names.map(label),
    axisTick: { show: false },
    axisLine: { lineStyle: { color: inks.axis } },
    axisLabel: { color: inks.text, interval: 0, hideOverlap: false },
  } as const;
}

/** Inline SVG. Deterministic: no ids. Colours are attributes, since a strict content policy forbids inline styles. */
export function draw({ title, text, width, height, option }: Drawing): Html {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    chart.setOption({ animation: false, useUTC: true, textStyle: { color: inks.text }, ...option });
    return html`<svg viewBox="0 0 ${width} ${height}" width="${width}" role="img" font-size="${usualSize}">
      <title>${title}</title>
      <desc>${text}</desc>
      ${new Html(plain(chart.renderToSVGString({ useViewBox: true })))}
    </svg>`;
  } finally {
    chart.dispose();
  }
}

const usualSize = 12;

/** Keeps shapes and text only. Text is escaped, so a quote always belongs to an attribute. */
function plain(svg: string): string {
  return svg
    .replace(/^<svg[^>]*>\s*<rect[^>]*><\/rect>/, '')
    .replace(/<\/svg>\s*$/, '')
    .replaceAll(/<(style|defs)[^>]*>[\s\S]*?<\/\1>/g, '')
    .replaceAll(/<[a-z][^<>]*>/g, (tag) =>
      tag
        .replaceAll(/ (?:class|clip-path|ecmeta_\w+|pointer-events|xml:space)="[^"]*"/g, '')
        .replace(/ style="([^"]*)"/, (_, style: string) => sizeOf(style))
        .replace(/\s+>$/, '>'),
    )
    .replaceAll(/><\/(?:path|rect|line|circle)>/g, '/>')
    .replaceAll(/\n+/g, '');
}

function sizeOf(style: string): string {
  const size = /font-size:([\d.]+)px/.exec(style)?.[1];
  const weight = /font-weight:(\w+)/.exec(style)?.[1];
  return [
    size === undefined || Number(size) === usualSize ? '' : ` font-size="${size}"`,
    weight === undefined || weight === 'normal' ? '' : ` font-weight="${weight}"`,
  ].join('');
}

interface Bar {
  name: string;
  value: number;
  whole?: number;
  figure: string;
}

/** More bars are unreadable; the table shows them. */
const mostBars = 15;
const width = 520;
const lineHeight = 26;

/** Horizontal bars, the first at the top. */
function drawBars(title: string, text: string, bars: readonly Bar[]): Html {
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

/** Bars with their table; `whenEmpty` replaces both if there are no rows. */
export function barChart(
  { title, note, whenEmpty }: Pick<Chart, 'title' | 'note' | 'whenEmpty'>,
  bars: readonly Bar[],
  figures: Chart['figures'],
): Chart {
  const text = bars.map(({ name, figure }) => `${name}: ${figure}`).join('; ');
  const drawing = bars.length === 0 ? null : drawBars(title, text, bars);
  return { title, ...(note === undefined ? {} : { note }), drawing, figures, whenEmpty };
}
