import { readPhoneNumber } from '../rules/phone-number.ts';
import { ListFileError } from '../shared/input/errors.ts';
import { describeList, type ListChoice } from './description.ts';
import { linesAboveRows } from './format/delimiter.ts';
import type { ListLayout, ListRecord } from './format/record.ts';
import { findHeader } from './header.ts';
import { readListRecords } from './records.ts';

/** What a list begins with. */
export interface ListSample {
  /** Names exactly as written, in file order. */
  columns: string[];
  /** The first data rows, each with a cell for every column. */
  rows: string[][];
  /** How the list was read, where that is not what everybody expects; each a sentence without its full stop. */
  notes: string[];
}

export interface SampleQuestion extends ListChoice {
  /** Rows to read. */
  rows: number;
}

/**
 * Reads the columns and first rows of a list of which nobody has said yet what its columns are called. The header is the first line that
 * has most of its cells filled and no phone number in them.
 * @throws ListFileError as `findHeader`, and for a list that begins without a header.
 */
export async function readListSample({ path, delimiter, sheet, rows }: SampleQuestion): Promise<ListSample> {
  const { layout } = await describeList({ path, delimiter, sheet, lettersMatter: true, isWanted: looksLikeHeader });
  const names = likelyHeader(path, await readFirst(path, layout, layout.recordsAbove + linesAboveRows));
  const header = await findHeader({ path, names, delimiter, sheet, defaultRegion: null });
  const { columns, notes } = header;
  const above = header.layout.recordsAbove;
  const records = (await readFirst(path, header.layout, above + 1 + rows)).filter(({ row }) => row > 0);
  return { columns, notes, rows: records.slice(0, rows).map(({ cells }) => columns.map((_, at) => cells[at] ?? '')) };
}

async function readFirst(path: string, layout: ListLayout, wanted: number): Promise<ListRecord[]> {
  const records: ListRecord[] = [];
  for await (const some of readListRecords(path, layout, wanted)) {
    records.push(...some);
    if (records.length >= wanted) break;
  }
  return records;
}

/** Names of the columns, without the empty ones. */
function likelyHeader(path: string, records: readonly ListRecord[]): string[] {
  const filled = records.map(({ cells }) => cells.filter((cell) => cell.trim() !== ''));
  const most = Math.max(0, ...filled.map((cells) => cells.length));
  const wide = filled.filter((cells) => cells.length * 2 > most);
  const [first = []] = wide;
  if (first.some(holdsNumber))
    throw new ListFileError(
      path,
      'its first line holds a phone number, so the list has no header; add a first line with the names of the columns, such as phone and first_name',
    );
  return first;
}

function holdsNumber(cell: string): boolean {
  return readPhoneNumber(cell, null).ok || /^[\s()./-]*(?:\d[\s()./-]*){9,15}$/.test(cell);
}

const phoneName = /\b(?:phone|mobile|cell|telephone|number|tel|telefon|mobil|handy|rufnummer)\b/i;

function looksLikeHeader(cells: string[]): boolean {
  return cells.length > 1 && cells.some((cell) => cell.length <= 60 && phoneName.test(cell.replaceAll('_', ' ')));
}
