export interface ListRecord {
  /** 0 for the header, data rows from 1, negative above the header; blank lines do not count. */
  row: number;
  /** Line, or sheet row, on which the record begins, from 1. */
  line: number;
  cells: string[];
  /** First unusable cell and the reason; null: no damage. */
  damage: { index: number; hint: string } | null;
  /** The file ends in this record without a line break, as a truncated download would. */
  isLast?: true;
}

const wrapper = /^\s*=\s*(T\s*\(\s*)?"((?:[^"]|"")*)"\s*(\)\s*)?$/i;

/** Unwraps `="0123"` and `=T("0123")`, which exports write so that spreadsheets keep a number as text. */
export function unwrapped(cell: string): string {
  const [, opens, text, closes] = cell.includes('=') ? (wrapper.exec(cell) ?? []) : [];
  return text === undefined || (opens === undefined) !== (closes === undefined) ? cell : text.replaceAll('""', '"');
}

/** In characters, as in spreadsheets. A row with a longer cell is kept and refused. */
export const longestCell = 32_767;

/** In characters. Without this bound an unclosed quote would read the rest of the file into memory. */
export const longestRecord = 1_000_000;

/** As many as an Excel sheet has. */
export const mostColumns = 16_384;

export const fullChunk = { cells: 200_000, characters: 8_000_000 } as const;

export function placeOf({ row, line }: Pick<ListRecord, 'row' | 'line'>): string {
  if (row < 0) return `line ${String(line)}, above the header,`;
  return row === 0 ? `the header (line ${String(line)})` : `row ${String(row)} (line ${String(line)})`;
}

export interface TextLayout {
  kind: 'text';
  /** As returned by `readEncoding`. */
  encoding: string;
  markBytes: number;
  delimiter: string;
}

export interface SheetLayout {
  kind: 'sheet';
  sheet: string;
  /** Minimum cells per row, since a sheet omits trailing empty ones; 0 until the header is known. */
  width: number;
}

/** How to read the records of a list; detected once and reused for every reading. */
export type ListLayout = (TextLayout | SheetLayout) & {
  /** Records above the header: titles, or a `sep=` line. */
  recordsAbove: number;
};

export interface ListDescription {
  layout: ListLayout;
  /** How the file was read where that is unusual; sentences without a full stop. */
  notes: string[];
}
