import type { TextEncoding } from './text-encoding.ts';

/** A list as CSV. */
export interface TextLayout {
  kind: 'text';
  encoding: TextEncoding;
  /** Length of the byte order mark. */
  markBytes: number;
  delimiter: string;
}

/** A list as a sheet of a workbook. */
export interface SheetLayout {
  kind: 'sheet';
  /** Name of the sheet. */
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
