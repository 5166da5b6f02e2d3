import { once } from 'node:events';
import { OutputFileError } from '../../shared/input/errors.ts';
import type { ResultRow, ResultsTable } from './columns.ts';
import { csvLines, jsonLines, type CsvSettings } from './text.ts';
import { isTooLarge, mostSheetColumns, workbookBytes } from './xlsx.ts';
import { refuseToOverwrite, writeWholeFile } from './whole-file.ts';

export const resultsFormats = ['csv', 'jsonl', 'xlsx'] as const;
export type ResultsFormat = (typeof resultsFormats)[number];

export interface WriteResultsInput extends ResultsTable {
  /** The rows to write, in file order. */
  rows: AsyncIterable<ResultRow>;
  /** Default: CSV. */
  format?: ResultsFormat;
  csv?: CsvSettings;
  /** Where to write; `-` for `stdout`. */
  path: string;
  stdout: NodeJS.WritableStream;
  /** Called after each row; what it throws gives the writing up, and nothing is left behind. */
  onRow?: (rows: number) => void;
}

/**
 * Writes the results, the original columns first. Answers the number of rows written. A file appears whole or not at all; standard
 * output gets rows as they come.
 * @throws OutputFileError
 */
export async function writeResults(input: WriteResultsInput): Promise<number> {
  const counter = { rows: 0 };
  if (input.format === 'xlsx') requireFittingSheet(input);
  const chunks = renderResults(counted(input, counter), input);
  if (input.path === '-') {
    for await (const chunk of chunks) if (!input.stdout.write(chunk)) await once(input.stdout, 'drain');
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

/** The results as text, or as the bytes of a workbook, a piece at a time. */
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
