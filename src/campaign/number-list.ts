import { readPhoneNumber } from '../domain/phone-number.ts';
import { ListFileError } from './errors.ts';
import { readListRecords } from './list-records.ts';
import { nearestName } from './nearest-name.ts';

export interface NumberListInput {
  path: string;
  delimiter: string;
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
 * Streams the numbers of a CSV file of any size, with or without a header: where the first line's cell is a number already, there is none.
 * @throws ListFileError when the file cannot be read or the column is not there.
 */
export async function* readNumberList(input: NumberListInput): AsyncGenerator<NumberRow[]> {
  let index: number | null = null;
  for await (const records of readListRecords(input.path, input.delimiter, rowsPerChunk)) {
    const rows: NumberRow[] = [];
    for (const { line, cells, damage } of records) {
      if (index === null) {
        index = findColumn(input, cells);
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

function findColumn({ path, column, region }: NumberListInput, first: readonly string[]): number {
  if (column !== null) {
    const index = first.indexOf(column);
    if (index >= 0) return index;
    const nearest = nearestName(column, first);
    const guess = nearest === null ? '' : ` Did you mean ${JSON.stringify(nearest)}?`;
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
