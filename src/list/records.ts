import type { ListLayout } from './format/layout.ts';
import type { ListRecord } from './format/record.ts';
import { readTextRecords } from './format/text-records.ts';
import { workbooks } from './format/xlsx/workbook-reader.ts';

/**
 * Streams the records of a list in chunks of about `chunkSize`: what stands above the header first, then header and rows.
 * @throws ListFileError when the file cannot be read or has no certain rows.
 */
export async function* readListRecords(
  path: string,
  layout: ListLayout,
  chunkSize: number,
): AsyncGenerator<ListRecord[]> {
  if (layout.kind === 'text') {
    yield* readTextRecords(path, layout, chunkSize);
    return;
  }
  yield* workbooks.read(path, layout, chunkSize);
}
