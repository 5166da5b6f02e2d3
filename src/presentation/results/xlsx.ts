import { writeXlsxStream, XLSX_MAX_ROWS_PER_SHEET } from 'hucre/xlsx';
import { longestCell } from '../../list/format/record.ts';
import { resultCells, resultsHeader, type ResultRow, type ResultsTable } from './columns.ts';

/** Name of the first sheet; the next ones are `results_2`, `results_3`, … */
export const resultsSheet = 'results';
/** What a sheet can hold from left to right. */
export const mostSheetColumns = 16_384;

/**
 * The results as an Excel workbook, in constant memory. Every text is stored as text, so nothing in it is ever run as a formula,
 * and cells of the list keep the text format, so that an edit does not turn `+1…` into a sum. Counts and seconds are numbers.
 * A full sheet is followed by another one with the same header. `rowsPerSheet`: header included; what Excel allows unless a test
 * wants fewer.
 */
export function workbookBytes(
  rows: AsyncIterable<ResultRow>,
  table: ResultsTable,
  rowsPerSheet = XLSX_MAX_ROWS_PER_SHEET,
): AsyncIterable<Uint8Array> {
  const header = resultsHeader(table);
  const listColumns = table.columns.length;
  return writeXlsxStream(sheetRows(rows, table), {
    name: resultsSheet,
    columns: header.map((name, index) => ({
      header: asText(name),
      ...(index < listColumns ? { numFmt: '@' } : {}),
    })),
    freezePane: { rows: 1 },
    maxRowsPerSheet: rowsPerSheet,
    // Excel takes an archive with these records for damaged, see COMPRESS-474 of Apache: better none than such a one.
    zip64: false,
  });
}

async function* sheetRows(rows: AsyncIterable<ResultRow>, table: ResultsTable): AsyncGenerator<(string | number | boolean | null)[]> {
  for await (const row of rows) {
    const { original, added } = resultCells(row, table);
    yield [
      ...original.map((cell) => (cell === '' ? null : asText(cell))),
      ...added.map((value) => (typeof value === 'string' ? asText(value) : value)),
    ];
  }
}

/** Whether the writing failed because a sheet would hold more than the 4 GiB that Excel can open. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof Error && error.name === 'ZipError' && error.message.includes('4 GiB');
}

const cutMark = ' … (cut: a cell of Excel ends here; CSV and JSON Lines have the whole text)';

/** Text as a cell can hold it: Excel reads `_x000D_` as a character, and ends a cell after 32,767 of them. */
function asText(text: string): string {
  const whole = text.length <= longestCell ? text : text.slice(0, longestCell - cutMark.length) + cutMark;
  return whole.replaceAll(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_').replaceAll(/[\uFFFE\uFFFF]/g, '\uFFFD');
}
