import type { ListLayout, ListRecord } from './format/record.ts';
import { readTextRecords } from './format/text-records.ts';
import { workbooks } from './format/xlsx/workbook-reader.ts';

/**
 * Streams the records of a list in chunks of about `chunkSize`: what stands above the header first, then header and rows.
 * @throws ListFileError when the file cannot be read or has no certain rows.
 */
export function readListRecords(path: string, layout: ListLayout, chunkSize: number): AsyncGenerator<ListRecord[]> {
  return layout.kind === 'text' ? readTextRecords(path, layout, chunkSize) : workbooks.read(path, layout, chunkSize);
}
