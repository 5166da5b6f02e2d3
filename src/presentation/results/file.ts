import { once } from 'node:events';
import { OutputFileError } from '../../shared/input/errors.ts';
import { type ResultRow, type ResultsTable, resultCells, resultsHeader } from './columns.ts';
import { csvLines, jsonLines, type CsvSettings } from './text.ts';
import { refuseToOverwrite, writeWholeFile } from './whole-file.ts';
import { longestCell } from '../../list/format/record.ts';

export const resultsFormats = ['csv', 'jsonl', 'xlsx'] as const;
export type ResultsFormat = (typeof resultsFormats)[number];

export interface WriteResultsInput extends ResultsTable {
  rows: AsyncIterable<ResultRow>;
  format?: ResultsFormat;
  csv?: CsvSettings;
  /** `-`: `stdout`. */
  path: string;
  stdout: NodeJS.WritableStream;
  /** Called after each row; if it throws, writing is aborted and no file is left. */
  onRow?: (rows: number) => void;
}

/** Returns the number of rows. A file appears whole or not at all, standard output row by row. Throws OutputFileError. */
export async function writeResults(input: WriteResultsInput): Promise<number> {
  const counter = { rows: 0 };
  if (input.format === 'xlsx') requireFittingSheet(input);
  const chunks = renderResults(counted(input, counter), input);
  if (input.path === '-') {
    try {
      for await (const chunk of chunks) if (!input.stdout.write(chunk)) await once(input.stdout, 'drain');
    } catch (error) {
      // `carillon results | head`: a reader that closes early is no failure.
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
    }
    return counter.rows;
  }
  await refuseToOverwrite(input.path, []);
  try {
    await writeWholeFile(input.path, chunks);
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    const advice = 'the results are more than the 4 GiB that a sheet of Excel can hold; write CSV or JSON Lines';
    throw new OutputFileError(input.path, advice, { isBadInput: true, cause: error });
  }
  return counter.rows;
}

/** Yields the results as text, or as the bytes of a workbook. */
export function renderResults(
  rows: AsyncIterable<ResultRow>,
  input: ResultsTable & Pick<WriteResultsInput, 'format' | 'csv'>,
): AsyncIterable<string | Uint8Array> {
  switch (input.format ?? 'csv') {
    case 'csv':
      return csvLines(rows, input, input.csv);
    case 'jsonl':
      return jsonLines(rows, input);
    case 'xlsx':
      return workbookBytes(rows, input);
  }
}

function requireFittingSheet({ path, columns, collectedKeys, evaluationKeys }: WriteResultsInput): void {
  const width = columns.length + collectedKeys.length + evaluationKeys.length;
  if (width < mostSheetColumns - 100) return;
  throw new OutputFileError(
    path,
    `the results have more columns than a sheet of Excel can hold (${String(mostSheetColumns)}); write CSV or JSON Lines`,
    { isBadInput: true },
  );
}

async function* counted({ rows, onRow }: WriteResultsInput, counter: { rows: number }): AsyncGenerator<ResultRow> {
  for await (const row of rows) {
    yield row;
    counter.rows += 1;
    onRow?.(counter.rows);
  }
}

/** Further sheets: `results_2`, `results_3`, … */
export const resultsSheet = 'results';
const mostSheetColumns = 16_384;

/**
 * The results as an Excel workbook, in constant memory. Text is stored as text, so no formula runs, and list cells keep the text format, so
 * that an edit does not turn `+1…` into a sum. Counts and seconds are numbers. A full sheet continues on another. `rowsPerSheet` includes
 * the header; default: Excel's limit.
 */
export async function* workbookBytes(
  rows: AsyncIterable<ResultRow>,
  table: ResultsTable,
  rowsPerSheet?: number,
): AsyncGenerator<Uint8Array> {
  const { writeXlsxStream, XLSX_MAX_ROWS_PER_SHEET } = await import('hucre/xlsx');
  const header = resultsHeader(table);
  const listColumns = table.columns.length;
  yield* writeXlsxStream(sheetRows(rows, table), {
    name: resultsSheet,
    columns: header.map((name, index) => ({
      header: asText(name),
      ...(index < listColumns ? { numFmt: '@' } : {}),
    })),
    freezePane: { rows: 1 },
    maxRowsPerSheet: rowsPerSheet ?? XLSX_MAX_ROWS_PER_SHEET,
    // Excel reports an archive with ZIP64 records as damaged, see COMPRESS-474 of Apache.
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

/** True when a sheet would exceed the 4 GiB that Excel can open. */
function isTooLarge(error: unknown): boolean {
  return error instanceof Error && error.name === 'ZipError' && error.message.includes('4 GiB');
}

const cutMark = ' … (cut: a cell of Excel ends here; CSV and JSON Lines have the whole text)';

/** Escapes `_x000D_`, which Excel decodes, and cuts at its limit of 32,767 characters. */
function asText(text: string): string {
  const whole = text.length <= longestCell ? text : text.slice(0, longestCell - cutMark.length) + cutMark;
  return whole.replaceAll(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_').replaceAll(/[\uFFFE\uFFFF]/g, '\uFFFD');
}
