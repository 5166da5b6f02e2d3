import { findColumn } from '../rules/columns.ts';
import { readPhoneNumber } from '../rules/phone-number.ts';
import { ListFileError } from '../shared/input/errors.ts';
import { describeList } from './description.ts';
import { readListRecords } from './records.ts';
import { didYouMean } from '../rules/nearest-name.ts';

export interface NumberListInput {
  path: string;
  /** Undefined: to be found. */
  delimiter?: string | undefined;
  /** Column of the number; null: the only one there is. */
  column: string | null;
  /** Country of numbers without `+`. */
  region: string | null;
}

export interface NumberRow {
  line: number;
  /** Null when the cell is no number; `hint` says why. */
  e164: string | null;
  hint: string | null;
}

const rowsPerChunk = 1000;

/**
 * Streams the numbers of a CSV file or workbook of any size, with or without a header: where the first line's cell is a number already,
 * there is none.
 * @throws ListFileError when the file cannot be read or the column is not there.
 */
export async function* readNumberList(input: NumberListInput): AsyncGenerator<NumberRow[]> {
  const { path, delimiter, column, region } = input;
  const { layout } = await describeList({
    path,
    delimiter,
    lettersMatter: false,
    isWanted: (cells) => cells.some((cell) => readPhoneNumber(cell, region).ok) || (column !== null && findColumn(column, cells) !== null),
  });
  let index: number | null = null;
  for await (const records of readListRecords(path, layout, rowsPerChunk)) {
    const rows: NumberRow[] = [];
    for (const { row, line, cells, damage } of records) {
      if (row < 0) continue;
      if (index === null) {
        index = findNumbers(input, cells);
        if (!readPhoneNumber(cells[index] ?? '', input.region).ok) continue;
      }
      const number = readPhoneNumber(cells[index] ?? '', input.region);
      const hint = damage?.hint ?? (number.ok ? null : number.hint);
      rows.push({ line, e164: hint === null && number.ok ? number.e164 : null, hint });
    }
    if (rows.length > 0) yield rows;
  }
  if (index === null) throw new ListFileError(input.path, 'the file is empty; write one number per line');
}

function findNumbers({ path, column, region }: NumberListInput, first: readonly string[]): number {
  if (column !== null) {
    const found = findColumn(column, first);
    if (found !== null && 'column' in found) return first.indexOf(found.column);
    if (found !== null) {
      throw new ListFileError(path, `${JSON.stringify(column)} fits several columns: ${namesOf(found.several)}; write it as in the file`);
    }
    const guess = didYouMean(column, first);
    throw new ListFileError(path, `there is no column ${JSON.stringify(column)}.${guess} There are ${namesOf(first)}`);
  }
  if (first.length === 1) return 0;
  const numbers = first.flatMap((cell, index) => (readPhoneNumber(cell, region).ok ? [index] : []));
  const [only] = numbers;
  if (only !== undefined && numbers.length === 1) return only;
  throw new ListFileError(path, `name the column of the numbers with --column; there are ${namesOf(first)}`);
}

function namesOf(columns: readonly string[]): string {
  return columns.map((name) => JSON.stringify(name.slice(0, 60))).join(', ');
}
