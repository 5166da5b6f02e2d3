import { stringify } from 'csv-stringify/sync';
import { jsonText } from '../../shared/input/printable.ts';
import { isoInstant, resultCells, resultsHeader, type ResultRow, type ResultsTable } from './columns.ts';

const linesPerChunk = 500;

export interface CsvSettings {
  /** Guards the cells of the list as well, which else are written as they were read. */
  safeCells?: boolean;
  /** Begins with a byte order mark, by which Excel knows that it is UTF-8. */
  bom?: boolean;
}

/**
 * The results as CSV. The original cells are written as they were read, never altered, unless `safeCells` asks for it: they are the user's
 * own. What a spreadsheet would run as a formula in the added cells gets an apostrophe before it, and so do the names of collected values,
 * which others than the list's author may have written.
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

/** The results as JSON Lines, one object per row with its number and its cells by column. A terminal obeys nothing in them. */
export async function* jsonLines(rows: AsyncIterable<ResultRow>, { columns }: Pick<ResultsTable, 'columns'>): AsyncGenerator<string> {
  const keys = cellKeys(columns);
  for await (const part of inParts(rows)) yield part.map((row) => `${jsonText(asJson(row, keys))}\n`).join('');
}

/** Rows of the results for programs, as the lines of `jsonLines` are. */
export function resultsAsJson(rows: readonly ResultRow[], { columns }: Pick<ResultsTable, 'columns'>): object[] {
  const keys = cellKeys(columns);
  return rows.map((row) => asJson(row, keys));
}

/** Names are unique but for empty ones, which a spreadsheet leaves over: such a column is called by its place, `column_3`. */
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

/** A malformed row may have fewer cells than the header, which are then left out, or more, which have no name. */
function asJson({ row, cells, ...result }: ResultRow, keys: readonly string[]): object {
  const surplus = cells.slice(keys.length);
  // Without a prototype, so that a column may have any name.
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

/** What begins a formula, at the start of a cell, or of what a program that separates cells by `;` or tabs takes for one. */
const formula = /(^|[;\t\r\n])(?=[ \u00a0"]*[=+\-@＝＋－＠])/g;

/** Puts an apostrophe before whatever a spreadsheet would run as a formula, which makes it text. */
export function guardCell(cell: string): string {
  const guarded = cell.replace(formula, "$1'");
  return /^[\t\r\n]/.test(guarded) ? `'${guarded}` : guarded;
}

/** The same for a cell of the list: what is a plain number there, such as `-5` or `+12125550101`, is no formula. */
export function guardListCell(cell: string): string {
  return /^[+-]?\d+(?:[.,]\d+)?$/.test(cell) ? cell : guardCell(cell);
}
