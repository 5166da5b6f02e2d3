import { countNamed } from '../rules/columns.ts';
import { readPhoneNumber } from '../shared/input/phone-number.ts';
import { textFaults } from '../rules/text.ts';
import { ListFileError } from '../shared/input/errors.ts';
import { linesAboveRows } from './format/text-records.ts';
import { describeList, readListRecords, type ListChoice } from './records.ts';
import type { ListDescription, ListLayout, ListRecord } from './format/record.ts';

export interface ListHeader extends ListDescription {
  /** Exactly as written, in file order. */
  columns: string[];
}

const otherDelimiters = [',', ';', '\t', '|'] as const;

export interface HeaderQuestion extends ListChoice {
  names: readonly string[];
  /** Default country of numbers without one, or null. */
  defaultRegion: string | null;
  mayBeEmpty?: boolean;
}

/**
 * Finds the header among the first 50 records: the first with all `names`, else the one with most, for error messages. Throws ListFileError
 * without header or data row, or for a repeated column.
 */
export async function findHeader(question: HeaderQuestion): Promise<ListHeader> {
  const { path, names } = question;
  const { layout, notes } = await describeList({
    ...question,
    isWanted: (cells) => countNamed(names, cells) === names.length,
  });
  const { records, fault } = await readStart(path, layout);
  const counts = records.slice(0, linesAboveRows).map(({ cells }) => countNamed(names, cells));
  const place = Math.max(0, counts.indexOf(Math.max(...counts)));
  const header = records[place];
  if (fault !== null && records[place + 1] === undefined) throw fault;
  if (header === undefined) {
    throw new ListFileError(path, 'the list is empty; its first line must be a header with the names of the columns');
  }
  const columns = readColumns(path, header);
  if (layout.kind === 'text') refuseOtherDelimiter(path, columns, layout.delimiter);
  const above = records.slice(0, place);
  refuseRowsAbove(question, above, header);
  if (question.mayBeEmpty !== true && records[place + 1] === undefined) {
    throw new ListFileError(path, 'the list has a header and no rows below it; add the recipients and run the command again');
  }
  if (above.length > 0) {
    const lines = `${String(above.length)} ${above.length === 1 ? 'line' : 'lines'}`;
    notes.push(`the header is line ${String(header.line)}; ${lines} above it left out`);
  }
  const recordsAbove = layout.recordsAbove + place;
  return {
    columns,
    layout: layout.kind === 'sheet' ? { ...layout, recordsAbove, width: columns.length } : { ...layout, recordsAbove },
    notes,
  };
}

/** First records without a `sep=` line, and the fault that ended reading early. */
async function readStart(path: string, layout: ListLayout): Promise<{ records: ListRecord[]; fault: ListFileError | null }> {
  const records: ListRecord[] = [];
  const recordCount = layout.recordsAbove + linesAboveRows + 1;
  try {
    for await (const some of readListRecords(path, layout, recordCount)) {
      records.push(...some);
      if (records.length >= recordCount) break;
    }
  } catch (error) {
    if (!(error instanceof ListFileError)) throw error;
    return { records: records.slice(layout.recordsAbove), fault: error };
  }
  return { records: records.slice(layout.recordsAbove), fault: null };
}

function readColumns(path: string, header: ListRecord): string[] {
  if (header.damage !== null) {
    throw new ListFileError(path, `the header cannot be used: column ${String(header.damage.index + 1)}: ${header.damage.hint}`);
  }
  const [odd] = textFaults(header.cells);
  if (odd !== undefined)
    throw new ListFileError(path, `the header cannot be used: column ${Number(odd.path[0]) + 1}: the cell holds ${odd.fault}; remove it`);
  refuseRepeatedNames(path, header.cells);
  return header.cells;
}

/** Spreadsheets leave empty names behind, and no setting can refer to them, so they may repeat. */
function refuseRepeatedNames(path: string, columns: readonly string[]): void {
  const seen = new Map<string, number>();
  columns.forEach((column, index) => {
    const first = seen.get(column);
    if (first !== undefined && column !== '') {
      const places = `columns ${String(first + 1)} and ${String(index + 1)}`;
      throw new ListFileError(path, `${places} have the same name ${JSON.stringify(column)}; rename one of them`);
    }
    seen.set(column, index);
  });
}

function refuseOtherDelimiter(path: string, columns: readonly string[], delimiter: string): void {
  const [only] = columns;
  if (only === undefined || columns.length > 1) return;
  const other = otherDelimiters.find((candidate) => candidate !== delimiter && only.includes(candidate));
  if (other === undefined) return;
  const advice = `if ${JSON.stringify(other)} separates its columns, set list.delimiter: ${JSON.stringify(other)} in the campaign file, or leave it out`;
  throw new ListFileError(path, `the header is one single column, ${JSON.stringify(only.slice(0, 80))}; ${advice}`);
}

/** Rows above must be titles: a header further down would swallow recipients above it. */
function refuseRowsAbove({ path, defaultRegion }: HeaderQuestion, above: readonly ListRecord[], header: ListRecord): void {
  const dataRecord = above.find(({ cells }) => cells.some((cell) => readPhoneNumber(cell, defaultRegion).ok));
  if (dataRecord === undefined) return;
  throw new ListFileError(
    path,
    `the columns that the campaign file names stand in line ${String(header.line)}, and line ${String(dataRecord.line)} above it holds a phone number; remove what is above the header, or move the header up`,
  );
}
