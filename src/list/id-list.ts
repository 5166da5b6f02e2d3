import { theColumn } from '../rules/columns.ts';
import { ListFileError } from '../shared/input/errors.ts';
import { describeList } from './description.ts';
import { readListRecords } from './records.ts';

const rowsPerChunk = 500;

/**
 * Streams the ids of a file: the column of that name, or the only column there is, with or without a header. Empty cells are left out.
 * @throws ListFileError when the file cannot be read or does not tell which column has the ids.
 */
export async function* readIdList(path: string, column: string): AsyncGenerator<string[]> {
  const isHeader = (cells: readonly string[]): boolean => indexOf(column, cells) !== null;
  const { layout } = await describeList({ path, lettersMatter: true, isWanted: isHeader });
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
  const names = first.map((name) => JSON.stringify(name.slice(0, 60))).join(', ');
  throw new ListFileError(path, `there is no column ${JSON.stringify(column)}, which has the ids; there are ${names}`);
}
