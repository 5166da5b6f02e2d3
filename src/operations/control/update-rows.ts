import { partsOf } from '../../ledger/parts.ts';
import type { EditResult, RecipientEditor } from '../../ledger/people/edit-recipients.ts';
import type { UploadRow } from '../../ledger/people/edit-verdict.ts';
import type { ListRow } from '../../list/recipients.ts';

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

const rowsPerPart = 500;

/**
 * Hands the rows of an upload to the editor part by part, and answers what became of each in the order of the file. From a row on that has
 * to wait until another one gives up its number the answers are kept until the end.
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
        const told = part.flatMap((row) => {
          if (!isUsable(row)) return [refusal(row, idColumn)];
          const answer = answers.get(row.row);
          if (answer !== undefined) return [tell(row, answer)];
          waiting.set(row.row, row);
          return [];
        });
        const known = await tellWaiting(told, editor);
        if (waiting.size === 0) yield known;
        else held.push(...known);
      }
    }
    const last = (await editor.finish(now())).flatMap((answer) => {
      const row = waiting.get(answer.row);
      return row === undefined ? [] : [tell(row, answer)];
    });
    for (const part of partsOf(last, rowsPerPart)) held.push(...(await tellWaiting(part, editor)));
  } catch (error) {
    // What was done is told all the same.
    if (held.length > 0) yield held;
    throw error;
  }
  held.sort((a, b) => a.row - b.row);
  yield* partsOf(held, rowsPerPart);
}

function isUsable(row: ListRow): row is ListRow & UploadRow {
  return row.verdict === 'accepted' && row.externalId !== null;
}

function tell({ line, externalId: id }: ListRow, answer: EditResult): UpdatedRow {
  return { ...answer, line, id, mayStillBeCalled: false };
}

/** What the list reader found wrong, or that nobody can tell whom the row is about. */
function refusal(row: ListRow, idColumn: string): UpdatedRow {
  const { code, hint } =
    row.verdict === 'rejected'
      ? { code: row.reason, hint: row.hint }
      : { code: 'missing_id', hint: `the column ${JSON.stringify(idColumn)} is empty; rows are matched by it` };
  const { line, externalId: id } = row;
  return { row: row.row, line, id, result: 'failed', code, hint, campaignRow: null, mayStillBeCalled: false };
}

/** Whoever corrects a number that cannot be used wants the one before it no more; it is in the campaign all the same. */
async function tellWaiting(rows: readonly UpdatedRow[], editor: RecipientEditor): Promise<UpdatedRow[]> {
  // A row that repeats an id leaves the one before it as it is.
  const idOf = ({ result, code, id }: UpdatedRow) => (result === 'failed' && code !== 'duplicate_id' ? id : null);
  const found = await editor.findWaiting(rows.map(idOf).filter((id) => id !== null));
  return rows.map((row) => {
    const campaignRow = found.get(idOf(row) ?? '');
    if (campaignRow === undefined) return row;
    const hint = `${row.hint ?? ''}; row ${campaignRow} of the campaign stays as it was and may still be called so`;
    return { ...row, hint, campaignRow, mayStillBeCalled: true };
  });
}
