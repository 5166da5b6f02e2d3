import { refuseUnlessRetriable, retryEnded } from '../../ledger/people/retry-ended.ts';
import type { RetriableOutcome } from '../../rules/outcome.ts';
import { requireService, startCampaign } from '../../temporal/start-campaign.ts';
import type { Control } from './control.ts';
import { requireCampaign, type LedgerAccess } from './ledger.ts';
import { readClock, readServiceTime } from './service.ts';
import { EditRefusedError, refuseUnlessEditable } from '../../ledger/people/edit-refusal.ts';
import { withdrawRecipients, type WithdrawKeys, type WithdrawResult } from '../../ledger/people/withdraw-recipients.ts';
import { findTargets } from '../../ledger/people/edit-verdict.ts';
import { partsOf } from '../../ledger/parts.ts';
import { readIdList } from '../../list/one-column.ts';
import { encodingOf } from '../../list/upload-file.ts';
import type { CampaignRules } from '../../rules/campaign-rules.ts';
import { UsageError } from '../../shared/input/errors.ts';
import { printable } from '../../shared/input/printable.ts';
import { requestReplan, type NotifyFailure } from './campaign-message.ts';

/** Precheck. Throws UnknownCampaignError, OtherServiceError, and RetryRefusedError when the state rules it out. */
export async function requireRetriable({ config, store }: Control, campaignId: string): Promise<void> {
  const campaign = await requireCampaign(store, campaignId);
  requireService(config, campaign);
  refuseUnlessRetriable(campaign);
}

/**
 * Queues rows with these outcomes again and starts the next round; answers their number and the round (null: no row is queued). Safe to
 * repeat: queued rows stay and are started if they were not; refused while the round runs. Throws as `requireRetriable`, `temporal`,
 * `readClock` and `startCampaign`.
 */
export async function retryRows(
  control: Control,
  { campaignId, outcomes }: { campaignId: string; outcomes: readonly RetriableOutcome[] },
): Promise<{ rows: number; round: number | null }> {
  const { config, store } = control;
  await requireRetriable(control, campaignId);
  // Connected before the write, so that the round can start.
  const { client } = await control.temporal();
  const now = Math.round((await readClock(config)).now());
  const rows = await retryEnded(store, { campaignId, now }, outcomes);
  const started = await startCampaign({ config, store, client, now }, campaignId);
  return { rows, round: started?.round.round ?? null };
}

export type NamedRows = { ids: readonly string[] } | { rows: readonly number[] } | { file: string; encoding?: string | undefined };

interface WithdrawInput {
  campaignId: string;
  named: NamedRows;
  /** The operator's reason, for the log. */
  note: string | null;
  dryRun: boolean;
}

/** Precheck. Throws UnknownCampaignError, and EditRefusedError unless such rows may be withdrawn now. */
export async function requireWithdrawable(
  control: Control,
  campaignId: string,
  named: NamedRows,
): Promise<{ rules: CampaignRules; now: number }> {
  const campaign = await requireCampaign(control.store, campaignId);
  const now = await readServiceTime(control);
  refuseUnlessEditable(campaign, now);
  const { rules } = campaign;
  if ('rows' in named || rules.list.idColumn !== null) return { rules, now };
  throw noIdColumn(campaignId);
}

/**
 * Withdraws waiting rows and has the campaign replan; answers a result per row. `dryRun`: changes nothing. Works in parts of 500, so an
 * error may leave some withdrawn; repeating it withdraws the rest. Throws as `requireWithdrawable`, and ListFileError for the file.
 */
export async function withdraw(
  control: Control,
  { campaignId, named, note, dryRun }: WithdrawInput,
): Promise<{ results: WithdrawResult[]; notice: NotifyFailure }> {
  const { rules, now } = await requireWithdrawable(control, campaignId, named);
  const results: WithdrawResult[] = [];
  for await (const keys of keysOf(named, rules))
    results.push(...(await withdrawRecipients(control.store, { campaignId, note, dryRun, now }, keys)));
  const hasChanged = !dryRun && results.some(({ result }) => result === 'withdrawn' || result === 'withdrawing');
  return { results, notice: hasChanged ? await requestReplan(control, campaignId) : null };
}

/**
 * Finds a row by its number or the user's own id; among several with the id, the one not rejected. Throws UnknownCampaignError,
 * EditRefusedError without an id column, and UsageError for an unknown id.
 */
export async function rowNumberOf(
  { store }: LedgerAccess,
  campaignId: string,
  named: { row?: number | undefined; id?: string | undefined },
): Promise<number> {
  const { row, id } = named;
  if (row !== undefined && id === undefined) return row;
  if (row !== undefined || id === undefined) throw new UsageError('Name the row with one of --row and --id.');
  const { rules } = await requireCampaign(store, campaignId);
  if (rules.list.idColumn === null) throw noIdColumn(campaignId);
  const found = await findTargets(store.db, campaignId, [{ externalId: id }]);
  const target = found.get(id);
  if (target === undefined) throw new UsageError(`Campaign ${campaignId} has no row with the id ${printable(id)}.`);
  return target.row_number;
}

function noIdColumn(campaignId: string): EditRefusedError {
  return new EditRefusedError(`Campaign ${campaignId} has no id column (list.id): name the rows by their numbers`, { kind: 'name_rows' });
}

const rowsPerPart = 500;

async function* keysOf(named: NamedRows, rules: CampaignRules): AsyncGenerator<WithdrawKeys> {
  if ('ids' in named) for (const ids of partsOf(named.ids, rowsPerPart)) yield { ids };
  else if ('rows' in named) for (const rows of partsOf(named.rows, rowsPerPart)) yield { rows };
  else {
    const { encoding, unnamed } = encodingOf(rules);
    const own = { encoding, unnamed: encoding === undefined ? unnamed : 'any' } as const;
    const choice = named.encoding === undefined ? own : { encoding: named.encoding };
    for await (const part of readIdList(named.file, rules.list.idColumn ?? '', choice)) yield { ids: [...new Set(part)] };
  }
}
