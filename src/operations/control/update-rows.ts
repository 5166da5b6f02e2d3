import { partsOf } from '../../ledger/parts.ts';
import type { EditResult, RecipientEditor } from '../../ledger/people/edit-recipients.ts';
import type { UploadRow } from '../../ledger/people/edit-verdict.ts';
import type { ListRow } from '../../list/recipients.ts';

export interface UpdatedRow extends Omit<EditResult, 'code'> {
  /** Line of the file, from 1. */
  line: number;
  id: string | null;
  /** From the editor or the list reader. */
  code: string | null;
  /** It failed, and the campaign's row of that id waits unchanged. */
  mayStillBeCalled: boolean;
}

const rowsPerPart = 500;

/**
 * Passes rows to the editor in parts, yields results in file order. Results after a row that waits for another to release its number are
 * held back until the end.
 */
export async function* updateRows(
  chunks: AsyncIterable<ListRow[]>,
  editor: RecipientEditor,
  { idColumn, now }: { idColumn: string; now: () => number },
): AsyncGenerator<UpdatedRow[]> {
  const waiting = new Map<number, ListRow>();
  const held: UpdatedRow[] = [];
  try {
    for await (const chunk of chunks) {
      for (const part of partsOf(chunk, rowsPerPart)) {
        const usable = part.filter(isUsable);
        const answers = new Map((await editor.apply(usable, now())).map((answer) => [answer.row, answer]));
        const results = part.flatMap((row) => {
          if (!isUsable(row)) return [refusal(row, idColumn)];
          const answer = answers.get(row.row);
          if (answer !== undefined) return [resultOf(row, answer)];
          waiting.set(row.row, row);
          return [];
        });
        const known = await markWaiting(results, editor);
        if (waiting.size === 0) yield known;
        else held.push(...known);
      }
    }
    const last = (await editor.finish(now())).flatMap((answer) => {
      const row = waiting.get(answer.row);
      return row === undefined ? [] : [resultOf(row, answer)];
    });
    for (const part of partsOf(last, rowsPerPart)) held.push(...(await markWaiting(part, editor)));
  } catch (error) {
    // Reports finished rows despite the error.
    if (held.length > 0) yield held;
    throw error;
  }
  held.sort((a, b) => a.row - b.row);
  yield* partsOf(held, rowsPerPart);
}

function isUsable(row: ListRow): row is ListRow & UploadRow {
  return row.verdict === 'accepted' && row.externalId !== null;
}

function resultOf({ line, externalId: id }: ListRow, answer: EditResult): UpdatedRow {
  return { ...answer, line, id, mayStillBeCalled: false };
}

/** The list reader's fault, or a missing id. */
function refusal(row: ListRow, idColumn: string): UpdatedRow {
  const { code, hint } =
    row.verdict === 'rejected'
      ? { code: row.reason, hint: row.hint }
      : { code: 'missing_id', hint: `the column ${JSON.stringify(idColumn)} is empty; rows are matched by it` };
  const { line, externalId: id } = row;
  return { row: row.row, line, id, result: 'failed', code, hint, campaignRow: null, mayStillBeCalled: false };
}

/** Marks failed corrections whose old number still waits, and may be called. */
async function markWaiting(rows: readonly UpdatedRow[], editor: RecipientEditor): Promise<UpdatedRow[]> {
  // A duplicate id leaves the earlier row unchanged.
  const idOf = ({ result, code, id }: UpdatedRow) => (result === 'failed' && code !== 'duplicate_id' ? id : null);
  const found = await editor.findWaiting(rows.map(idOf).filter((id) => id !== null));
  return rows.map((row) => {
    const campaignRow = found.get(idOf(row) ?? '');
    if (campaignRow === undefined) return row;
    const hint = `${row.hint ?? ''}; row ${campaignRow} of the campaign stays as it was and may still be called so`;
    return { ...row, hint, campaignRow, mayStillBeCalled: true };
  });
}

interface Failures {
  code: string;
  count: number;
  examples: Pick<UpdatedRow, 'row' | 'line' | 'id' | 'hint'>[];
}

export interface UpdateSummary extends Record<UpdatedRow['result'], number> {
  rows: number;
  /** Failed recipients who wait unchanged. */
  mayStillBeCalled: number;
  failures: Failures[];
}

const mostKept = 20;
const examplesPerCode = 3;

/** Keeps the first failed rows of `applyUpdate`. */
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

  /** Ids of the first recipients still waiting unchanged. */
  get firstStillCalled(): string[] {
    return [...this.#stillCalled].slice(0, mostKept);
  }

  summary(): UpdateSummary {
    const mayStillBeCalled = this.#stillCalled.size;
    return { rows: this.rows, ...this.#results, mayStillBeCalled, failures: [...this.#codes.values()] };
  }
}
