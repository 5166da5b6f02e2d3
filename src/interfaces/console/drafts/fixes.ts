import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { keepDraftList } from '../../../ledger/console/drafts.ts';
import { mendList, type CellFixes } from '../../../list/mend.ts';
import { readListSample } from '../../../list/sample.ts';
import type { ViewRequest } from '../core/view.ts';
import { withDraftFiles } from './content.ts';
import { keepDraft, type OpenDraft } from './settings.ts';
import { sampleRows } from './upload.ts';

/** Writes mended cells into the draft's own copy of the list. What was sent for another list than this changes nothing. */
export async function fixRows(viewed: ViewRequest, open: OpenDraft, sent: URLSearchParams): Promise<void> {
  const { draft, sample, fields } = open;
  if (sent.get('list') !== draft.list.listId) return;
  const fixes = sentFixes(sent);
  await withDraftFiles(viewed.context.store, open, async ({ folder, listPath }) => {
    const target = join(folder, 'mended.csv');
    const choice = { delimiter: fields['list.delimiter'] || undefined, sheet: fields['list.sheet'] || undefined };
    if ((await mendList({ path: listPath, columns: sample.columns, ...choice }, fixes, target)) === 0) return;
    const name = draft.list.name.replace(/\.xlsx$/i, '.csv');
    const list = await keepDraftList(viewed.context.store, { name, content: createReadStream(target), nowReal: viewed.context.now() });
    const mended = await readListSample({ path: target, delimiter: ',', rows: sampleRows });
    const written = { ...fields, 'list.delimiter': ',', 'list.sheet': '' };
    await keepDraft(viewed, { ...open, fields: written, sample: { ...mended, columns: sample.columns } }, list);
  });
}

/** `fix.18.3`: of row 18, the cell below the column at place 3. */
function sentFixes(sent: URLSearchParams): CellFixes {
  const fixes = new Map<number, Map<number, string>>();
  for (const [name, value] of sent) {
    const [, row, at] = /^fix\.(\d{1,9})\.(\d{1,5})$/.exec(name) ?? [];
    if (row === undefined || at === undefined) continue;
    const cells = fixes.get(Number(row)) ?? new Map<number, string>();
    fixes.set(Number(row), cells.set(Number(at), value));
  }
  return fixes;
}
