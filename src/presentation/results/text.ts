import { stringify } from 'csv-stringify/sync';
import { jsonText } from '../../shared/input/printable.ts';
import { isoInstant, resultCells, resultsHeader, type ResultRow, type ResultsTable } from './columns.ts';

const linesPerChunk = 500;

export interface CsvSettings {
  /** Also guards list cells against formulas; default: they are written as read. */
  safeCells?: boolean;
  /** Adds a byte order mark, by which Excel recognises UTF-8. */
  bom?: boolean;
}

/**
 * The results as CSV. List cells stay as read unless `safeCells`, being the user's own. Formulas in added cells and names of collected
 * values, which others may have written, get an apostrophe.
 */
export async function* csvLines(
  rows: AsyncIterable<ResultRow>,
  table: ResultsTable,
  { safeCells = false, bom = false }: CsvSettings = {},
): AsyncGenerator<string> {
  const own = (cell: string): string => (safeCells ? guardListCell(cell) : cell);
  const header = resultsHeader(table).map((name, index) => (index < table.columns.length ? own(name) : guardCell(name)));
  if (bom) yield byteOrderMark;
  yield stringify([header]);
  for await (const part of inParts(rows))
    yield stringify(
      part.map((row) => {
        const { original, added } = resultCells(row, table);
        const others = added.map((value) => (typeof value === 'string' ? guardCell(value) : String(value ?? '')));
        return [...original.map(own), ...others];
      }),
    );
}

async function* inParts(rows: AsyncIterable<ResultRow>): AsyncGenerator<ResultRow[]> {
  let part: ResultRow[] = [];
  for await (const row of rows) {
    part.push(row);
    if (part.length < linesPerChunk) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

export const byteOrderMark = '\uFEFF';

/** The results as JSON Lines, one object per row. Control characters are escaped for terminals. */
export async function* jsonLines(rows: AsyncIterable<ResultRow>, { columns }: Pick<ResultsTable, 'columns'>): AsyncGenerator<string> {
  const keys = cellKeys(columns);
  for await (const part of inParts(rows)) yield part.map((row) => `${jsonText(asJson(row, keys))}\n`).join('');
}

export function resultsAsJson(rows: readonly ResultRow[], { columns }: Pick<ResultsTable, 'columns'>): object[] {
  const keys = cellKeys(columns);
  return rows.map((row) => asJson(row, keys));
}

/** Only empty names repeat (left by spreadsheets): those become `column_3` by position. */
function cellKeys(columns: readonly string[]): string[] {
  const taken = new Set(columns);
  return columns.map((name, index) => {
    if (name !== '') return name;
    let key = `column_${String(index + 1)}`;
    while (taken.has(key)) key = `carillon_${key}`;
    taken.add(key);
    return key;
  });
}

/** A malformed row may have fewer cells (left out) or more (unnamed). */
function asJson({ row, cells, ...result }: ResultRow, keys: readonly string[]): object {
  const surplus = cells.slice(keys.length);
  // No prototype, so that a column may have any name.
  const named = Object.create(null) as Record<string, string>;
  for (const [index, value] of cells.slice(0, keys.length).entries()) named[keys[index] ?? ''] = value;
  return {
    row,
    cells: named,
    ...(surplus.length > 0 ? { surplusCells: surplus } : {}),
    ...result,
    callback: result.callback === null ? null : { ...result.callback, dueAt: isoInstant(result.callback.dueAt) },
    firstDialedAt: isoInstant(result.firstDialedAt),
    lastDialedAt: isoInstant(result.lastDialedAt),
    endedAt: isoInstant(result.endedAt),
  };
}

/** Start of a formula in a cell, or after `;` or a tab, where some programs split cells. */
const formula = /(^|[;\t\r\n])(?=[ \u00a0"]*[=+\-@＝＋－＠])/g;

/** Prefixes formulas with an apostrophe, which makes them text. */
export function guardCell(cell: string): string {
  const guarded = cell.replace(formula, "$1'");
  return /^[\t\r\n]/.test(guarded) ? `'${guarded}` : guarded;
}

/** As `guardCell`, except for plain numbers such as `-5` or `+12125550101`. */
export function guardListCell(cell: string): string {
  return /^[+-]?\d+(?:[.,]\d+)?$/.test(cell) ? cell : guardCell(cell);
}
