import { EditRefusedError, refuseUnlessEditable } from '../../ledger/people/edit-refusal.ts';
import { withdrawRecipients, type WithdrawKeys, type WithdrawResult } from '../../ledger/people/withdraw-recipients.ts';
import { partsOf } from '../../ledger/parts.ts';
import { readIdList } from '../../list/id-list.ts';
import { tellToLook, type Notice } from './campaign-message.ts';
import type { Control } from './control.ts';
import { requireCampaign } from './ledger.ts';
import { readServiceTime } from './service.ts';

/** Which rows are named: by ids, by numbers of the campaign's rows, or by a file of ids. */
export type NamedRows = { ids: readonly string[] } | { rows: readonly number[] } | { file: string };

interface WithdrawInput {
  campaignId: string;
  named: NamedRows;
  /** A person's words, for the log. */
  note: string | null;
  dryRun: boolean;
}

/** For a question before it: throws UnknownCampaignError, and EditRefusedError unless rows so named may be withdrawn now. */
export async function requireWithdrawable(
  control: Control,
  campaignId: string,
  named: NamedRows,
): Promise<{ idColumn: string | null; now: number }> {
  const campaign = await requireCampaign(control.store, campaignId);
  const now = await readServiceTime(control);
  refuseUnlessEditable(campaign, now);
  const { idColumn } = campaign.rules.list;
  if ('rows' in named || idColumn !== null) return { idColumn, now };
  throw new EditRefusedError(`Campaign ${campaignId} has no id column (list.id): name the rows by their numbers`, {
    kind: 'name_rows',
  });
}

/**
 * Takes waiting rows out of a campaign, and has it look at once; answers what became of each row that was named. `dryRun`: what would
 * become of them; nothing is changed. Rows are withdrawn in parts of 500, so a fault on the way leaves some withdrawn; repeating it
 * withdraws the others. Throws as `requireWithdrawable`, and ListFileError for the file.
 */
export async function withdraw(
  control: Control,
  { campaignId, named, note, dryRun }: WithdrawInput,
): Promise<{ results: WithdrawResult[]; notice: Notice }> {
  const { idColumn, now } = await requireWithdrawable(control, campaignId, named);
  const results: WithdrawResult[] = [];
  for await (const keys of keysOf(named, idColumn ?? ''))
    results.push(...(await withdrawRecipients(control.store, { campaignId, note, dryRun, now }, keys)));
  const hasChanged = !dryRun && results.some(({ result }) => result === 'withdrawn');
  return { results, notice: hasChanged ? await tellToLook(control, campaignId) : { told: true } };
}

const rowsPerPart = 500;

async function* keysOf(named: NamedRows, idColumn: string): AsyncGenerator<WithdrawKeys> {
  if ('ids' in named) for (const ids of partsOf(named.ids, rowsPerPart)) yield { ids };
  else if ('rows' in named) for (const rows of partsOf(named.rows, rowsPerPart)) yield { rows };
  else for await (const part of readIdList(named.file, idColumn)) yield { ids: [...new Set(part)] };
}
