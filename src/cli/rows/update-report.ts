import { stringify } from 'csv-stringify/sync';
import { guardCell } from '../../results/text.ts';
import { renderTable, terminalWidth } from '../terminal/table.ts';
import type { Io } from '../terminal/io.ts';
import { count, plural } from '../../input/figures.ts';

/** What became of one row of an upload. */
export interface UpdatedRow {
  /** Data row and line of the file, from 1. */
  row: number;
  line: number;
  id: string | null;
  result: 'accepted' | 'corrected' | 'unchanged' | 'failed';
  /** Why it failed, as a code and in words. */
  code: string | null;
  hint: string | null;
  /** Row of the campaign, as its results count it. */
  campaignRow: number | null;
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
const results = ['accepted', 'corrected', 'unchanged', 'failed'] as const;
const meanings: Readonly<Record<(typeof results)[number], string>> = {
  accepted: 'new, added after the last row',
  corrected: 'changed, and back in line where it was not',
  unchanged: 'as it was',
  failed: 'left as it was, see below',
};

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
    return results.reduce((sum, result) => sum + this.#counts[result], 0);
  }

  /** What may be called although the upload says otherwise; null: nothing. */
  warning(campaignId: string): string | null {
    const { size } = this.#stillCalled;
    if (size === 0) return null;
    const ids = [...this.#stillCalled].slice(0, mostShown).filter((id) => /^[\w.-]+$/.test(id));
    const named = ids.length < size ? '<ids>' : ids.join(',');
    return (
      `${plural(size, 'person', 'people')} whose rows failed may still be called as the campaign has them, at the old number. ` +
      `Mend the rows and repeat this, or take them out: carillon withdraw ${campaignId} --id ${named}`
    );
  }

  asJson(): object {
    const mayStillBeCalled = this.#stillCalled.size;
    return { rows: this.rows, ...this.#counts, mayStillBeCalled, failures: [...this.#codes.values()] };
  }

  /** For people. */
  render(io: Pick<Io, 'stdout' | 'isTerminal'>): string {
    const lines = results.map((result) =>
      `  ${result.padEnd(10)}${count(this.#counts[result]).padStart(10)}  ${meanings[result]}`.trimEnd(),
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

const header = ['row', 'line', 'id', 'result', 'code', 'hint', 'campaign_row'];

export function reportHeader(): string {
  return stringify([header]);
}

/** Lines of the report file. */
export function reportLines(rows: readonly UpdatedRow[]): string {
  return stringify(
    rows.map((row) => [
      row.row,
      row.line,
      guardCell(row.id ?? ''),
      row.result,
      row.code ?? '',
      guardCell(row.hint ?? ''),
      row.campaignRow ?? '',
    ]),
  );
}
