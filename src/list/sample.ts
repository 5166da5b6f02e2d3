import { readPhoneNumber } from '../shared/input/phone-number.ts';
import { ListFileError, type LetterReading } from '../shared/input/errors.ts';
import { describeList, type ListChoice, readListRecords } from './records.ts';
import { linesAboveRows } from './format/text-records.ts';
import type { ListLayout, ListRecord } from './format/record.ts';
import { findHeader, type ListHeader } from './header.ts';
import { rowFieldList, type RowFieldKey } from './row-fields.ts';

export interface ListSample extends Omit<ListHeader, 'layout'> {
  /** First data rows, padded to all columns. */
  rows: string[][];
  /** Likely readings to choose from; absent when the encoding is certain. */
  readings?: readonly LetterReading[];
}

export interface SampleQuestion extends ListChoice {
  rows: number;
  /** Accepts a list without rows. Default: false. */
  mayBeEmpty?: boolean;
}

/**
 * Reads columns and first rows of a list without column settings. The header is the first line with most cells filled and no phone number.
 * @throws ListFileError as `findHeader`, and for a list without a header.
 */
export async function readListSample({ rows, mayBeEmpty = false, ...choice }: SampleQuestion): Promise<ListSample> {
  const { path } = choice;
  const { layout } = await describeList({ ...choice, isWanted: looksLikeHeader });
  const names = likelyHeader(path, await readFirst(path, layout, layout.recordsAbove + linesAboveRows));
  const header = await findHeader({ ...choice, names, defaultRegion: null, mayBeEmpty });
  const { columns, notes } = header;
  const above = header.layout.recordsAbove;
  const records = (await readFirst(path, header.layout, above + 1 + rows)).filter(({ row }) => row > 0);
  return { columns, notes, rows: records.slice(0, rows).map(({ cells }) => columns.map((_, at) => cells[at] ?? '')) };
}

async function readFirst(path: string, layout: ListLayout, recordCount: number): Promise<ListRecord[]> {
  const records: ListRecord[] = [];
  for await (const some of readListRecords(path, layout, recordCount)) {
    records.push(...some);
    if (records.length >= recordCount) break;
  }
  return records;
}

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

/** Guesses the use of columns by names, phone numbers and time zones; omits ambiguous ones. */
export function guessColumns(columns: readonly string[], rows: readonly (readonly string[])[]): Partial<Record<RowFieldKey, string>> {
  const guess: Partial<Record<RowFieldKey, string>> = {};
  for (const { key, names, looksRight } of rowFieldList) {
    const named = columns.filter((column) => names.test(folded(column)));
    const fitting = named.length === 1 ? named : byContent(looksRight, named.length > 0 ? named : columns, columns, rows);
    const [only] = fitting;
    if (only !== undefined && fitting.length === 1 && !Object.values(guess).includes(only)) guess[key] = only;
  }
  return guess;
}

function byContent(
  looksRight: ((cell: string) => boolean) | undefined,
  among: readonly string[],
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  if (looksRight === undefined) return [];
  return among.filter((column) => {
    const cells = rows.map((row) => row[columns.indexOf(column)]?.trim() ?? '').filter((cell) => cell !== '');
    return column !== '' && cells.length > 0 && cells.filter(looksRight).length * 2 > cells.length;
  });
}

function folded(column: string): string {
  return column
    .trim()
    .toLowerCase()
    .replaceAll(/[\s.-]+/g, '_')
    .replaceAll(/_+$/g, '');
}
