import type { ListDescription, ListLayout, SheetLayout, ListRecord } from '../record.ts';

export type SheetOfWorkbook = SheetLayout & Pick<ListLayout, 'recordsAbove'>;

/** What the process that reads workbooks is asked. `stop` is not answered; everything else is, once. */
export type WorkbookQuestion =
  | { ask: 'describe'; path: string; sheet: string | undefined }
  /** Begins to read a sheet, and wants its first records. */
  | { ask: 'read'; path: string; layout: SheetOfWorkbook; chunkSize: number }
  | { ask: 'next' }
  /** Nobody wants the rest of the sheet. */
  | { ask: 'stop' };

export type WorkbookAnswer =
  | { kind: 'description'; description: ListDescription }
  | { kind: 'records'; records: ListRecord[] }
  | { kind: 'end' }
  /** The file cannot be used; `reason` does not name it. */
  | { kind: 'refusal'; reason: string };
