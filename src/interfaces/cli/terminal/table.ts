import { printable } from '../../../shared/input/printable.ts';

export interface Column<Item> {
  title: string;
  value: (item: Item) => string;
  /** Cut first when the table is too wide: text, not ids. */
  flexible?: boolean;
}

const gap = '  ';
const narrowest = 8;

/** A heading and one line per item, at most `width` columns (null: unlimited). */
export function renderTable<Item>(columns: readonly Column<Item>[], items: readonly Item[], width: number | null): string {
  const rows = [columns.map(({ title }) => title), ...items.map((item) => columns.map(({ value }) => printable(value(item))))];
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => widthOf(row[at] ?? ''))));
  if (width !== null) shrink(columns, widths, width);
  return rows.map((row) => `${renderRow(row, widths, width)}\n`).join('');
}

/** Columns of the terminal; null without one. */
export function terminalWidth(io: { stdout: NodeJS.WritableStream; isTerminal: boolean }): number | null {
  const { columns } = io.stdout as { columns?: number };
  return io.isTerminal && columns !== undefined && columns > 0 ? columns : null;
}

/** As wide as the terminal; without items, `none` as `aside`. */
export function tableOrNone<Item>(
  io: { stdout: NodeJS.WritableStream; isTerminal: boolean },
  columns: readonly Column<Item>[],
  items: readonly Item[],
  none: string,
): { words: string; aside?: string } {
  return items.length === 0 ? { words: '', aside: none } : { words: renderTable(columns, items, terminalWidth(io)) };
}

function shrink<Item>(columns: readonly Column<Item>[], widths: number[], width: number): void {
  const total = (): number => widths.reduce((sum, each) => sum + each, gap.length * (widths.length - 1));
  while (total() > width) {
    const candidates = columns.flatMap(({ flexible = false }, at) => (flexible && (widths[at] ?? 0) > narrowest ? [at] : []));
    const widest = candidates.sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))[0];
    if (widest === undefined) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
}

function renderRow(row: readonly string[], widths: readonly number[], width: number | null): string {
  const cells = row.map((cell, at) => {
    const columnWidth = widths[at] ?? 0;
    const text = cut(cell, columnWidth);
    return text + ' '.repeat(columnWidth - widthOf(text));
  });
  const line = cells.join(gap).trimEnd();
  return width === null ? line : cut(line, width);
}

/** At most `width` columns, with an ellipsis if cut. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    used += graphemeWidth(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

const graphemes = new Intl.Segmenter();
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;

function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment);
  return width;
}

function graphemeWidth(grapheme: string): number {
  return wide.test(grapheme) ? 2 : 1;
}
