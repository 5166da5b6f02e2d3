import { stringify } from 'csv-stringify/sync';
import type { EditResult } from '../../ledger/people/edit-recipients.ts';
import { guardCell } from '../../results/text.ts';
import { renderTable, terminalWidth } from '../terminal/table.ts';
import type { Io } from '../terminal/io.ts';
import { count, plural } from '../../input/figures.ts';

/** What became of one row of an upload. */
export interface UpdatedRow extends Omit<EditResult, 'code'> {
  /** Line of the file, from 1. */
  line: number;
  id: string | null;
  /** Why it failed: what the editor says, or the list reader. */
  code: string | null;
  /** It failed, and the campaign's row of that id waits as it was. */
  mayStillBeCalled: boolean;
}

/** Rows that the file does not have. */
export interface MissingRows {
  missing: number;
  withdrawn: number;
  callOpen: number;
}

const mostShown = 20;
const examplesPerCode = 3;
const meanings = [
  ['accepted', 'new, added after the last row'],
  ['corrected', 'changed, and back in line where it was not'],
  ['unchanged', 'as it was'],
  ['failed', 'left as it was, see below'],
] as const;

/** Counts what became of the rows, and keeps the first that failed. */
export class UpdateReport {
  readonly #counts = { accepted: 0, corrected: 0, unchanged: 0, failed: 0 };
  readonly #failed: UpdatedRow[] = [];
  readonly #stillCalled = new Set<string>();
  readonly #codes = new Map<string, { code: string; count: number; examples: object[] }>();

  add(row: UpdatedRow): void {
    this.#counts[row.result] += 1;
    if (row.code === null) return;
    if (this.#failed.length < mostShown) this.#failed.push(row);
    if (row.mayStillBeCalled) this.#stillCalled.add(row.id ?? '');
    const known = this.#codes.get(row.code) ?? { code: row.code, count: 0, examples: [] };
    known.count += 1;
    if (known.examples.length < examplesPerCode)
      known.examples.push({ row: row.row, line: row.line, id: row.id, hint: row.hint });
    this.#codes.set(row.code, known);
  }

  get failed(): number {
    return this.#counts.failed;
  }

  get rows(): number {
    return meanings.reduce((sum, [result]) => sum + this.#counts[result], 0);
  }

  /** What may be called although the upload says otherwise; null: nothing. */
  warning(campaignId: string): string | null {
    const { size } = this.#stillCalled;
    if (size === 0) return null;
    const ids = [...this.#stillCalled].slice(0, mostShown).filter((id) => /^[\w.-]+$/.test(id));
    const named = ids.length < size ? '<ids>' : ids.join(',');
    return (
      `${plural(size, 'recipient')} whose rows failed may still be called at the old number. ` +
      `Fix the rows and run the command again, or withdraw them: carillon withdraw ${campaignId} --id ${named}`
    );
  }

  asJson(): object {
    const mayStillBeCalled = this.#stillCalled.size;
    return { rows: this.rows, ...this.#counts, mayStillBeCalled, failures: [...this.#codes.values()] };
  }

  /** For people. */
  render(io: Pick<Io, 'stdout' | 'isTerminal'>): string {
    const lines = meanings.map(
      ([result, meaning]) => `  ${result.padEnd(10)}${count(this.#counts[result]).padStart(10)}  ${meaning}`,
    );
    if (this.#failed.length === 0) return `${lines.join('\n')}\n`;
    const table = renderTable(
      [
        { title: 'Row', value: ({ row }: UpdatedRow) => String(row) },
        { title: 'Line', value: ({ line }) => String(line) },
        { title: 'Id', value: ({ id }) => id ?? '-' },
        { title: 'Code', value: ({ code }) => code ?? '' },
        { title: 'Why', value: ({ hint }) => hint ?? '', flexible: true },
      ],
      this.#failed,
      terminalWidth(io),
    );
    const more = this.failed - this.#failed.length;
    const rest = more > 0 ? `… and ${plural(more, 'row')} more: --report <file.csv> writes them all.\n` : '';
    return `${lines.join('\n')}\n\n${table}${rest}`;
  }
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
