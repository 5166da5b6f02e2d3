import { hasClosed } from '../../rules/lifecycle.ts';
import { theColumn } from '../../rules/columns.ts';
import { RecipientEditor } from '../../ledger/people/edit-recipients.ts';
import { refuseUnlessFixable } from '../../ledger/people/edit-refusal.ts';
import { findRows, type EditRow } from '../../ledger/people/edit-verdict.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import { longestCell } from '../../list/format/record.ts';
import { validateRows, type ListRow } from '../../list/recipients.ts';
import { UsageError } from '../../shared/input/errors.ts';
import { quoteCell } from '../../shared/input/printable.ts';
import { requireService, startCampaign } from '../../temporal/start-campaign.ts';
import { requestReplan, type NotifyFailure } from './campaign-message.ts';
import type { Control } from './control.ts';
import { requireCampaign } from './ledger.ts';
import { readServiceTime } from './service.ts';
import { refuseLackingBasis } from './update.ts';

/** Omitted cells stay. */
interface Fix {
  row: number;
  cells: Readonly<Record<string, string>>;
}

/** `column` and `hint`: where it is still wrong, and what to do. */
export interface FixedRow {
  row: number;
  result: 'corrected' | 'unchanged' | 'failed';
  code: string | null;
  column: string | null;
  hint: string | null;
}

/**
 * Gives rejected rows new cells and queues those that can be called, answering in the order of `fixes`; an ended campaign starts its next
 * round. `dryRun`: changes nothing. Safe to repeat: queued rows are unchanged, and started if they were not. Throws UnknownCampaignError,
 * EditRefusedError, UsageError for an unknown row or column, and, for an ended campaign, as `retryRows`.
 */
export async function fixRows(
  control: Control,
  { campaignId, fixes, dryRun }: { campaignId: string; fixes: readonly Fix[]; dryRun: boolean },
): Promise<{ rows: FixedRow[]; round: number | null; notice: NotifyFailure }> {
  const { config, store } = control;
  const campaign = await requireCampaign(store, campaignId);
  const now = await readServiceTime(control);
  refuseUnlessFixable(campaign, now);
  const isNextRound = hasClosed(campaign) && !dryRun;
  if (isNextRound) requireService(config, campaign);
  // Connected before the write, so that the round can start.
  const client = isNextRound ? (await control.temporal()).client : undefined;
  const validated = validateRows(campaign.rules, await fixedCells(control, campaign, fixes));
  refuseLackingBasis(validated, campaign, now);
  const editor = new RecipientEditor(store, { campaignId, restore: false, dryRun, fixes: true });
  const usable = validated.filter((row): row is ListRow & EditRow => row.verdict === 'accepted');
  const answers = new Map([...(await editor.apply(usable, now)), ...(await editor.finish(now))].map((answer) => [answer.row, answer]));
  const { phoneColumn, idColumn } = campaign.rules.list;
  const columns: Partial<Record<string, string | null>> = { duplicate_phone: phoneColumn, duplicate_id: idColumn };
  const rows = validated.map((row): FixedRow => {
    if (row.verdict === 'rejected') {
      const hint =
        row.reason === 'malformed_row' && row.column === null
          ? 'its cells may have shifted; give it all of them, or mend it in the file'
          : row.hint;
      return { row: row.row, result: 'failed', code: row.reason, column: row.column, hint };
    }
    const answer = answers.get(row.row);
    if (answer === undefined || answer.result === 'accepted') throw new Error(`row ${row.row} was left without an answer`);
    return { row: row.row, result: answer.result, code: answer.code, column: columns[answer.code ?? ''] ?? null, hint: answer.hint };
  });
  const isInLine = rows.some(({ result }) => result !== 'failed');
  if (client !== undefined) {
    const started = isInLine ? await startCampaign({ config, store, client, now }, campaignId) : undefined;
    return { rows, round: started?.round.round ?? null, notice: null };
  }
  return { rows, round: null, notice: dryRun || !isInLine ? null : await requestReplan(control, campaignId) };
}

/** Throws UsageError for an unknown row or column, and for a cell that is too long. */
async function fixedCells(
  { store }: Control,
  { campaignId, rules }: Campaign,
  fixes: readonly Fix[],
): Promise<Pick<ListRow, 'row' | 'cells'>[]> {
  const { columns } = rules.list;
  const known = await findRows(store.db, campaignId, fixes.map(({ row }) => row)); // prettier-ignore
  return fixes.map((fix) => {
    const found = known.get(fix.row);
    if (found === undefined) throw new UsageError(`Campaign ${campaignId} has no row ${fix.row}. Nothing was changed.`);
    const cells = JSON.parse(found.cells) as string[];
    const given = new Set<string>();
    for (const [name, value] of Object.entries(fix.cells)) {
      const column = theColumn(name, columns);
      if (column === null)
        throw new UsageError(
          `Row ${fix.row}: the list has no column ${quoteCell(name)}, so nothing was changed. Its columns are ${columns.map(quoteCell).join(', ')}.`,
        );
      if (value.length > longestCell)
        throw new UsageError(
          `Row ${fix.row}: ${quoteCell(name)} is longer than ${longestCell} characters. Shorten it; nothing was changed.`,
        );
      cells[columns.indexOf(column)] = value;
      given.add(column);
    }
    // A malformed row's cells may have shifted, so they count only when all are given.
    const isWhole = found.reason !== 'malformed_row' || given.size === columns.length;
    return { row: fix.row, cells: isWhole ? cells.slice(0, columns.length) : [] };
  });
}
