import type { ReadCampaign } from '../../../campaign/preflight/import-list.ts';
import type { FictionalNumbers } from '../../../list/fictional-numbers.ts';
import { readListRecords } from '../../../list/records.ts';
import type { ListRow } from '../../../list/recipients.ts';
import { Random } from '../../../sandbox/core/random.ts';

export interface RehearsedRows {
  inList: number;
  /** Rows that take part; fewer than `inList`: a sample. */
  rehearsed: number;
}

const rowsPerChunk = 1000;

/** At most `wanted` rows take part, and at most `capacity`, the number of fictional numbers. */
export async function countRows(
  read: ReadCampaign,
  wanted: number | null,
  capacity: number,
  onProgress: (rows: number) => void = () => {},
): Promise<RehearsedRows> {
  let inList = 0;
  for await (const records of readListRecords(read.file.listPath, read.header.layout, rowsPerChunk)) {
    for (const { row } of records) if (row > 0) inList += 1;
    onProgress(inList);
  }
  return { inList, rehearsed: Math.min(inList, wanted ?? inList, capacity) };
}

/**
 * Picks the sampled rows and replaces their numbers by fictional ones, in the phone cell too: no real number is dialled, stored or shown.
 * Place and verdict follow the real number.
 */
export function drawRehearsedRows(
  { header, rules }: ReadCampaign,
  { inList, rehearsed }: RehearsedRows,
  { numbers, seed }: { numbers: FictionalNumbers; seed: string },
): (rows: ListRow[]) => ListRow[] {
  const draw = new Random(seed, 'rehearsed rows');
  const phoneIndex = header.columns.indexOf(rules.list.phoneColumn);
  let seen = 0;
  let taken = 0;
  // Each sample of this size is equally likely, and rows keep their order.
  const isTaken = (): boolean => {
    const takes = draw.next() * (inList - seen) < rehearsed - taken;
    seen += 1;
    if (takes) taken += 1;
    return takes;
  };
  return (rows) => rows.filter(isTaken).map((row) => disguise(row, phoneIndex, numbers));
}

function disguise(row: ListRow, phoneIndex: number, numbers: FictionalNumbers): ListRow {
  if (row.verdict === 'rejected') {
    // It is never dialled, and in a malformed row the number may be in any cell.
    const cells = row.reason === 'malformed_row' ? row.cells.map(() => '') : withCell(row.cells, phoneIndex, '');
    return { ...row, cells, e164: null };
  }
  const e164 = numbers.take(row.e164);
  if (e164 === null) throw new Error('There are fewer fictional numbers than rehearsed rows.');
  return { ...row, cells: withCell(row.cells, phoneIndex, e164), e164 };
}

function withCell(cells: readonly string[], index: number, value: string): string[] {
  return cells.map((cell, at) => (at === index ? value : cell));
}
