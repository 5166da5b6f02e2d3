import type { ReadCampaign } from '../start/campaign-start.ts';
import { CampaignFileError } from '../../input/input-error.ts';
import { FictionalNumbers } from '../../list/fictional-numbers.ts';
import { describeImpossible, refuseImpossible } from '../../preflight/impossible-text.ts';
import { WindowCensus } from '../../preflight/impossible-windows.ts';
import { unruledWarnings } from '../../preflight/unruled-countries.ts';
import { readListRecords } from '../../list/records.ts';
import { readRecipients, type ListRow } from '../../list/recipients.ts';
import { Random } from '../../sandbox/core/random.ts';

/** How much of a list is rehearsed. */
export interface RehearsedRows {
  /** Data rows of the list. */
  inList: number;
  /** Rows that take part: a sample when there are fewer of them. */
  rehearsed: number;
}

export interface RehearsedListInput {
  numbers: FictionalNumbers;
  seed: string;
  /** When the rehearsal begins, epoch milliseconds of service time. */
  startAt: number;
  warn: (text: string) => void;
  /** Told how many rows of the list were read. */
  onProgress?: (rows: number) => void;
}

const rowsPerChunk = 1000;

/** Counts the data rows of a list, and decides how many of them take part: no more than `wanted`, and than there are fictional numbers. */
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
 * The rows that take part, judged by the real list's rules and with the place of the real number, but with a fictional number in its stead,
 * in the phone cell as well: what is dialled, stored and told is never a real one.
 * @throws CampaignFileError at the end when none of them can be dialled, or nobody of the list in any week, as a start would.
 */
export async function* readRehearsedRows(
  { file, header, rules }: ReadCampaign,
  { inList, rehearsed }: RehearsedRows,
  { numbers, seed, startAt, warn, onProgress = () => {} }: RehearsedListInput,
): AsyncGenerator<ListRow[]> {
  const draw = new Random(seed, 'rehearsed rows');
  const phoneIndex = header.columns.indexOf(rules.list.phoneColumn);
  let seen = 0;
  let taken = 0;
  let accepted = 0;
  const census = new WindowCensus(rules);
  for await (const chunk of census.count(readRecipients(file, header, rules))) {
    const rows: ListRow[] = [];
    for (const row of chunk) {
      // Each sample of that size is as likely as any other, and rows stay in their order.
      const isTaken = draw.next() * (inList - seen) < rehearsed - taken;
      seen += 1;
      if (!isTaken) continue;
      taken += 1;
      if (row.verdict === 'accepted') accepted += 1;
      rows.push(disguise(row, phoneIndex, numbers));
    }
    onProgress(seen);
    if (rows.length > 0) yield rows;
  }
  if (accepted > 0) {
    const impossible = census.find(startAt);
    refuseImpossible(file, rules, impossible);
    for (const warning of [...describeImpossible(impossible), ...unruledWarnings(rules, census.unruled())])
      warn(warning);
    return;
  }
  const message = `none of the ${taken} rehearsed rows of ${file.settings.list.file} can be dialled: carillon check ${file.path} says why`;
  throw new CampaignFileError(file.path, [{ line: file.lineOf(['list']), path: 'list', message }]);
}

function disguise(row: ListRow, phoneIndex: number, numbers: FictionalNumbers): ListRow {
  if (row.verdict === 'rejected') {
    // Nobody dials it, and in a malformed row the number may stand in any cell.
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
