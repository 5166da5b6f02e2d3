import type { ListRow } from '../campaign/recipients.ts';
import type { RecipientEditor, EditResult } from '../store/edit-recipients.ts';
import type { UploadRow } from '../store/edit-verdict.ts';
import type { UpdatedRow } from './update-report.ts';

const rowsPerPart = 500;

/**
 * Hands the rows of an upload to the editor part by part, and answers what became of each: in the order of the file, but for rows that had
 * to wait until another one gave up its number, which come last.
 */
export async function* updateRows(
  chunks: AsyncIterable<ListRow[]>,
  editor: RecipientEditor,
  idColumn: string,
  now: () => number,
): AsyncGenerator<UpdatedRow[]> {
  const waiting = new Map<number, ListRow>();
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += rowsPerPart) {
      const part = chunk.slice(start, start + rowsPerPart);
      const usable = part.filter(isUsable);
      const answers = new Map((await editor.apply(usable, now())).map((answer) => [answer.row, answer]));
      const told = part.flatMap((row) => {
        if (!isUsable(row)) return [refusal(row, idColumn)];
        const answer = answers.get(row.row);
        if (answer !== undefined) return [tell(row, answer)];
        waiting.set(row.row, row);
        return [];
      });
      yield told;
    }
  }
  const last = await editor.finish(now());
  yield last.flatMap((answer) => {
    const row = waiting.get(answer.row);
    return row === undefined ? [] : [tell(row, answer)];
  });
}

function isUsable(row: ListRow): row is ListRow & UploadRow {
  return row.verdict === 'accepted' && row.externalId !== null;
}

function tell({ row, line, externalId }: ListRow, { result, code, hint, campaignRow }: EditResult): UpdatedRow {
  return { row, line, id: externalId, result, code, hint, campaignRow };
}

/** What the list reader found wrong, or that nobody can tell whom the row is about. */
function refusal(row: ListRow, idColumn: string): UpdatedRow {
  const { code, hint } =
    row.verdict === 'rejected'
      ? { code: row.reason, hint: row.hint }
      : { code: 'missing_id', hint: `the column ${JSON.stringify(idColumn)} is empty; rows are matched by it` };
  const { line, externalId: id } = row;
  return { row: row.row, line, id, result: 'failed', code, hint, campaignRow: null };
}
