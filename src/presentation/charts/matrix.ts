import type { Html } from '../html/html.ts';
import { label } from './chart.ts';
import { draw } from './drawing.ts';
import { heatInks, inks } from './inks.ts';

export interface Cell {
  column: number;
  row: number;
  /** Shade, 0 to 1; null: unknown. */
  share: number | null;
  lines: readonly [string, string];
}

const cellWidth = 44;
const cellHeight = 34;
const margins = { left: 104, right: 8, top: 24, bottom: 4 };

/** A grid shaded by share; unlisted cells stay empty. */
export function drawMatrix(
  title: string,
  text: string,
  { columns, rows, cells }: { columns: readonly string[]; rows: readonly string[]; cells: readonly Cell[] },
): Html {
  const axis = {
    type: 'category',
    silent: true,
    axisTick: { show: false },
    axisLine: { show: false },
    axisLabel: { color: inks.text, interval: 0, hideOverlap: false },
  } as const;
  return draw({
    title,
    text,
    width: margins.left + columns.length * cellWidth + margins.right,
    height: margins.top + rows.length * cellHeight + margins.bottom,
    option: {
      grid: { ...margins, outerBoundsMode: 'none' },
      xAxis: { ...axis, position: 'top', data: [...columns] },
      yAxis: { ...axis, inverse: true, data: rows.map((name) => label(name).slice(0, 14)) },
      series: {
        type: 'custom',
        silent: true,
        data: cells.map(({ column, row }) => [column, row]),
        renderItem: ({ dataIndex }, api) => {
          const cell = cells[dataIndex];
          if (cell === undefined) return null;
          const [x = 0, y = 0] = api.coord([cell.column, cell.row]);
          const { ground, text: fill } = inkOf(cell.share);
          const words = (text: string, size: number, offset: number) =>
            ({
              type: 'text',
              x,
              y: y + offset,
              style: { text, fill, align: 'center', verticalAlign: 'middle', font: `${size}px sans-serif` },
            }) as const;
          return {
            type: 'group',
            children: [
              {
                type: 'rect',
                shape: {
                  x: x - cellWidth / 2 + 1,
                  y: y - cellHeight / 2 + 1,
                  width: cellWidth - 2,
                  height: cellHeight - 2,
                },
                style: { fill: ground },
              },
              words(cell.lines[0], 12, -6),
              words(cell.lines[1], 10, 8),
            ],
          };
        },
      },
    },
  });
}

function inkOf(share: number | null): { ground: string; text: string } {
  const step = share === null ? undefined : heatInks[Math.min(heatInks.length - 1, Math.floor(share * heatInks.length))];
  return step ?? { ground: inks.band, text: inks.text };
}
