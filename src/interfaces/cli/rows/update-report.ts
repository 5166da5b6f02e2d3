import { stringify } from 'csv-stringify/sync';
import type { UpdateCounts, UpdateSummary } from '../../../operations/control/update-counts.ts';
import type { UpdatedRow } from '../../../operations/control/update-rows.ts';
import { guardCell } from '../../../presentation/results/text.ts';
import { renderTable, terminalWidth } from '../terminal/table.ts';
import type { Io } from '../terminal/io.ts';
import { count, plural } from '../../../shared/input/figures.ts';

const meanings = [
  ['accepted', 'new, added after the last row'],
  ['corrected', 'changed, and back in line where it was not'],
  ['unchanged', 'as it was'],
  ['failed', 'left as it was, see below'],
] as const;

/** What may be called although the upload says otherwise; null: nothing. */
export function stillCalledWarning(campaignId: string, counts: UpdateCounts): string | null {
  const { mayStillBeCalled } = counts.summary();
  if (mayStillBeCalled === 0) return null;
  const ids = counts.firstStillCalled.filter((id) => /^[\w.-]+$/.test(id));
  const named = ids.length < mayStillBeCalled ? '<ids>' : ids.join(',');
  return (
    `${plural(mayStillBeCalled, 'recipient')} whose rows failed may still be called at the old number. ` +
    `Fix the rows and run the command again, or withdraw them: carillon withdraw ${campaignId} --id ${named}`
  );
}

/** For people: the counts of `summary`, and the first rows that failed. */
export function renderUpdate(io: Pick<Io, 'stdout' | 'isTerminal'>, summary: UpdateSummary, firstFailed: readonly UpdatedRow[]): string {
  const lines = meanings.map(([result, meaning]) => `  ${result.padEnd(10)}${count(summary[result]).padStart(10)}  ${meaning}`);
  if (firstFailed.length === 0) return `${lines.join('\n')}\n`;
  const table = renderTable(
    [
      { title: 'Row', value: ({ row }: UpdatedRow) => String(row) },
      { title: 'Line', value: ({ line }) => String(line) },
      { title: 'Id', value: ({ id }) => id ?? '-' },
      { title: 'Code', value: ({ code }) => code ?? '' },
      { title: 'Why', value: ({ hint }) => hint ?? '', flexible: true },
    ],
    firstFailed,
    terminalWidth(io),
  );
  const more = summary.failed - firstFailed.length;
  const rest = more > 0 ? `… and ${plural(more, 'row')} more: --report <file.csv> writes them all.\n` : '';
  return `${lines.join('\n')}\n\n${table}${rest}`;
}

const columns = ['row', 'line', 'id', 'result', 'code', 'hint', { key: 'campaignRow', header: 'campaign_row' }];

/** The report file. */
export async function* reportLines(parts: AsyncIterable<UpdatedRow[]>): AsyncGenerator<string> {
  yield stringify([], { columns, header: true });
  for await (const rows of parts) {
    const lines = rows.map((row) => ({ ...row, id: guardCell(row.id ?? ''), hint: guardCell(row.hint ?? '') }));
    yield stringify(lines, { columns });
  }
}
