import type { UpdatedRow } from './update-rows.ts';

/** Why rows failed, by code. */
interface Failures {
  code: string;
  count: number;
  /** The first of them. */
  examples: Pick<UpdatedRow, 'row' | 'line' | 'id' | 'hint'>[];
}

/** What became of the rows of an update, in numbers. */
export interface UpdateSummary extends Record<UpdatedRow['result'], number> {
  rows: number;
  /** Recipients whose row failed and who wait as they were. */
  mayStillBeCalled: number;
  failures: Failures[];
}

const mostKept = 20;
const examplesPerCode = 3;

/** Counts what `applyUpdate` yields, and keeps the first rows that failed. */
export class UpdateCounts {
  readonly #results = { accepted: 0, corrected: 0, unchanged: 0, failed: 0 };
  readonly #firstFailed: UpdatedRow[] = [];
  readonly #stillCalled = new Set<string>();
  readonly #codes = new Map<string, Failures>();

  add(rows: readonly UpdatedRow[]): void {
    for (const row of rows) {
      this.#results[row.result] += 1;
      if (row.code === null) continue;
      if (this.#firstFailed.length < mostKept) this.#firstFailed.push(row);
      if (row.mayStillBeCalled) this.#stillCalled.add(row.id ?? '');
      const known = this.#codes.get(row.code) ?? { code: row.code, count: 0, examples: [] };
      known.count += 1;
      if (known.examples.length < examplesPerCode) known.examples.push({ row: row.row, line: row.line, id: row.id, hint: row.hint });
      this.#codes.set(row.code, known);
    }
  }

  get rows(): number {
    return Object.values(this.#results).reduce((sum, count) => sum + count, 0);
  }

  get firstFailed(): readonly UpdatedRow[] {
    return this.#firstFailed;
  }

  /** Ids of the first recipients that may still be called as they were. */
  get firstStillCalled(): string[] {
    return [...this.#stillCalled].slice(0, mostKept);
  }

  summary(): UpdateSummary {
    const mayStillBeCalled = this.#stillCalled.size;
    return { rows: this.rows, ...this.#results, mayStillBeCalled, failures: [...this.#codes.values()] };
  }
}
