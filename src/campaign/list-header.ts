import type { CampaignFile } from './campaign-file.ts';
import { ListFileError } from './errors.ts';
import { readListRecords } from './list-records.ts';

export interface ListHeader {
  /** Column names exactly as written, in file order. */
  columns: string[];
  delimiter: string;
}

const otherDelimiters = [',', ';', '\t', '|'] as const;

/**
 * Reads the header of a campaign's list.
 * @throws ListFileError when there is no header, no data row below it, or a header that names one column twice.
 */
export async function readHeader(file: CampaignFile): Promise<ListHeader> {
  const path = file.listPath;
  for await (const [header, firstRow] of readListRecords(path, file.delimiter, 2)) {
    if (header === undefined) break;
    if (header.damage !== null) {
      throw new ListFileError(
        path,
        `the header cannot be used: column ${String(header.damage.index + 1)}: ${header.damage.hint}`,
      );
    }
    const columns = header.cells;
    if (/^sep=.?$/i.test(columns[0] ?? '')) {
      throw new ListFileError(path, 'the list begins with "sep=", a note to a spreadsheet; remove that line');
    }
    refuseRepeatedNames(path, columns);
    refuseOtherDelimiter(path, columns, file.delimiter);
    if (firstRow === undefined) {
      throw new ListFileError(
        path,
        'the list has a header and no rows below it; add the recipients and run the command again',
      );
    }
    return { columns, delimiter: file.delimiter };
  }
  throw new ListFileError(path, 'the list is empty; its first line must be a header with the names of the columns');
}

/** Empty names are left over by spreadsheets and can be named by nobody, so they may repeat. */
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
  const advice = `if ${JSON.stringify(other)} separates its columns, set list.delimiter: ${JSON.stringify(other)} in the campaign file`;
  throw new ListFileError(path, `the header is one single column, ${JSON.stringify(only.slice(0, 80))}; ${advice}`);
}
