export interface ListRecord {
  /** 0 for the header, then data rows from 1, and below 0 above the header; blank lines are no records. */
  row: number;
  /** Line, or row of the sheet, on which the record begins, from 1. */
  line: number;
  cells: string[];
  /** What makes the cells unfit for use, and in which of them; null when nothing does. */
  damage: { index: number; hint: string } | null;
  /** The file ends in it, without a line break: a download that was cut ends so. */
  isLast?: true;
}

const wrapper = /^\s*=\s*(T\s*\(\s*)?"((?:[^"]|"")*)"\s*(\)\s*)?$/i;

/** What a cell holds; `="0123"` and `=T("0123")` are how exports keep a spreadsheet from taking text for a number. */
export function unwrapped(cell: string): string {
  const [, opens, text, closes] = cell.includes('=') ? (wrapper.exec(cell) ?? []) : [];
  return text === undefined || (opens === undefined) !== (closes === undefined) ? cell : text.replaceAll('""', '"');
}

/** Longest cell, in characters: what spreadsheets hold. A row with a longer one is kept and refused. */
export const longestCell = 32_767;

/** Longest record, in characters. Beyond it an unclosed quote would read the rest of the file into memory. */
export const longestRecord = 1_000_000;

/** Most columns, as many as a sheet of Excel has. */
export const mostColumns = 16_384;

/** A chunk is handed on when it holds so many cells or characters, however few its records are. */
export const fullChunk = { cells: 200_000, characters: 8_000_000 } as const;

export function placeOf({ row, line }: Pick<ListRecord, 'row' | 'line'>): string {
  if (row < 0) return `line ${String(line)}, above the header,`;
  return row === 0 ? `the header (line ${String(line)})` : `row ${String(row)} (line ${String(line)})`;
}

export interface TextLayout {
  kind: 'text';
  /** A name of `readEncoding`. */
  encoding: string;
  markBytes: number;
  delimiter: string;
}

export interface SheetLayout {
  kind: 'sheet';
  sheet: string;
  /** Cells that a row has at least, since a sheet leaves out empty ones at its end; 0 while the header is not known. */
  width: number;
}

/** How the records of a list are read, found once and then used for every reading of the file. */
export type ListLayout = (TextLayout | SheetLayout) & {
  /** Records above the header: titles, a note to a spreadsheet. */
  recordsAbove: number;
};

export interface ListDescription {
  layout: ListLayout;
  /** How the file was read, where that is not what everybody expects; each a sentence without its full stop. */
  notes: string[];
}
