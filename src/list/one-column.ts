import { findColumn, theColumn } from '../rules/columns.ts';
import { everyNumbering } from '../shared/input/numbering.ts';
import { readPhoneNumber } from '../shared/input/phone-number.ts';
import { ListFileError } from '../shared/input/errors.ts';
import { describeList, readListRecords, type EncodingChoice, type ListChoice } from './records.ts';
import { didYouMean } from '../rules/nearest-name.ts';

export interface NumberListInput extends Pick<ListChoice, 'path' | 'delimiter'> {
  /** Column of the number; null: the only column. */
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

const readNumber = (cell: string, region: string | null) => readPhoneNumber(cell, region, everyNumbering());

/** Streams the numbers of a file; a number in the first line means no header. Throws ListFileError. */
export async function* readNumberList(input: NumberListInput): AsyncGenerator<NumberRow[]> {
  const { path, delimiter, column, region } = input;
  const { layout } = await describeList({
    path,
    delimiter,
    unnamed: 'any',
    isWanted: (cells) => cells.some((cell) => readNumber(cell, region).ok) || (column !== null && findColumn(column, cells) !== null),
  });
  let index: number | null = null;
  for await (const records of readListRecords(path, layout, rowsPerChunk)) {
    const rows: NumberRow[] = [];
    for (const { row, line, cells, damage } of records) {
      if (row < 0) continue;
      if (index === null) {
        index = findNumbers(input, cells);
        if (!readNumber(cells[index] ?? '', input.region).ok) continue;
      }
      const number = readNumber(cells[index] ?? '', input.region);
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
  const numbers = first.flatMap((cell, index) => (readNumber(cell, region).ok ? [index] : []));
  const [only] = numbers;
  if (only !== undefined && numbers.length === 1) return only;
  throw new ListFileError(path, `name the column of the numbers with --column; there are ${namesOf(first)}`);
}

/** Streams the ids in the named or only column; skips empty cells. Throws ListFileError. */
export async function* readIdList(path: string, column: string, encoding?: EncodingChoice): AsyncGenerator<string[]> {
  const isHeader = (cells: readonly string[]): boolean => indexOf(column, cells) !== null;
  const { layout } = await describeList({ path, ...encoding, isWanted: isHeader });
  let index: number | null = null;
  for await (const records of readListRecords(path, layout, rowsPerChunk)) {
    const ids: string[] = [];
    for (const { row, cells, line, damage } of records) {
      if (row < 0) continue;
      if (index === null) {
        index = indexOf(column, cells) ?? onlyColumn(path, column, cells);
        if (isHeader(cells)) continue;
      }
      if (damage?.index === index) throw new ListFileError(path, `line ${line} cannot be used: ${damage.hint}`);
      const id = (cells[index] ?? '').trim();
      if (id !== '') ids.push(id);
    }
    if (ids.length > 0) yield ids;
  }
  if (index === null) throw new ListFileError(path, 'the file is empty; write one id per line');
}

function indexOf(column: string, cells: readonly string[]): number | null {
  const found = theColumn(column, cells);
  return found === null ? null : cells.indexOf(found);
}

function onlyColumn(path: string, column: string, first: readonly string[]): number {
  if (first.length === 1) return 0;
  throw new ListFileError(path, `there is no column ${JSON.stringify(column)}, which has the ids; there are ${namesOf(first)}`);
}

function namesOf(columns: readonly string[]): string {
  return columns.map((name) => JSON.stringify(name.slice(0, 60))).join(', ');
}
