import { stringify } from 'csv-stringify/sync';
import { isoInstant, resultCells, resultsHeader, type ResultRow, type ResultsTable } from './results-columns.ts';

const linesPerChunk = 500;

/**
 * The results as CSV. The original cells are written as they were read, never altered: they are the user's own, and a number such
 * as `+12125550101` must survive. The added cells are guarded: one that a spreadsheet would run as a formula gets a leading
 * apostrophe.
 */
export async function* csvLines(rows: AsyncIterable<ResultRow>, table: ResultsTable): AsyncGenerator<string> {
  let records: string[][] = [resultsHeader(table)];
  for await (const row of rows) {
    const { original, added } = resultCells(row, table);
    records.push([
      ...original,
      ...added.map((value) => (typeof value === 'string' ? guardCell(value) : String(value ?? ''))),
    ]);
    if (records.length < linesPerChunk) continue;
    yield stringify(records);
    records = [];
  }
  if (records.length > 0) yield stringify(records);
}

/** The results as JSON Lines: one object per row, with its number in the list. */
export async function* jsonLines(
  rows: AsyncIterable<ResultRow>,
  { columns }: Pick<ResultsTable, 'columns'>,
): AsyncGenerator<string> {
  let lines: string[] = [];
  for await (const row of rows) {
    lines.push(`${JSON.stringify(asJson(row, columns))}\n`);
    if (lines.length < linesPerChunk) continue;
    yield lines.join('');
    lines = [];
  }
  if (lines.length > 0) yield lines.join('');
}

function asJson({ row, cells, ...result }: ResultRow, columns: readonly string[]): object {
  return {
    row,
    // As pairs: a header may leave columns unnamed, and a malformed row may have too many cells.
    cells: cells.map((value, index) => [columns[index] ?? null, value]),
    ...result,
    firstDialedAt: isoInstant(result.firstDialedAt),
    lastDialedAt: isoInstant(result.lastDialedAt),
    endedAt: isoInstant(result.endedAt),
  };
}

/** Spreadsheets run a cell that begins with one of these as a formula; a leading apostrophe makes it text. */
export function guardCell(cell: string): string {
  return /^[=+\-@\t\r\n＝＋－＠]/.test(cell) ? `'${cell}` : cell;
}
