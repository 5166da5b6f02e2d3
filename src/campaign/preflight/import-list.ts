import { campaignHash, campaignRules, refusalOfRows } from '../file/file.ts';
import { campaignWarnings, refuseMissingBasis, refuseUnmetAccountRules, unruledWarnings } from './warnings.ts';
import type { ServiceApi } from '../../rules/service-api.ts';
import type { CampaignRules } from '../../rules/campaign-rules.ts';
import { withAccountRules } from '../../rules/house-rules.ts';
import { mayBeginEmpty } from '../../rules/lifecycle.ts';
import { ListFileError, type CampaignFileError } from '../../shared/input/errors.ts';
import { importCampaign } from '../../ledger/campaign/import-campaign.ts';
import { linesOf, readAccount } from '../../ledger/limits/account-pace.ts';
import { readLatestAccountRules } from '../../ledger/limits/house.ts';
import { readHeader } from '../file/columns-of-rules.ts';
import type { ListHeader } from '../../list/header.ts';
import { readRecipients, type ListRow } from '../../list/recipients.ts';
import { describeImpossible, refuseImpossible, WindowStats } from './impossible.ts';
import { ConsentStats, refuseOpenConsent } from './consent-columns.ts';
import { StartTime } from './start-time.ts';
import type { Store } from '../../ledger/tx.ts';
import type { CampaignFile } from '../file/campaign-file.ts';

export interface ReadCampaign {
  file: CampaignFile;
  header: ListHeader;
  rules: CampaignRules;
  hash: string;
}

export interface ListImport {
  store: Store;
  read: ReadCampaign;
  accountId: string;
  /** Service API; default: the contract's. */
  api?: ServiceApi;
  now: number;
  allowPartial: boolean;
  rows?: AsyncIterable<ListRow[]>;
  /** Selects the rows to import from each chunk; default: all. */
  select?: (rows: ListRow[]) => ListRow[];
  onProgress?: (rows: number) => void;
  signal?: AbortSignal;
}

/** Thrown when the list changed while it was read; nothing was imported. */
export class ListChangedError extends ListFileError {}

/** Holidays are frozen as of `now`. Throws CampaignFileError and ListFileError. */
export async function readCampaign(file: CampaignFile, now: number): Promise<ReadCampaign> {
  const header = await readHeader(file);
  return { file, header, rules: campaignRules(file, header.columns, now), hash: await campaignHash(file) };
}

/**
 * The only way to import a list; idempotent. Returns warnings without a full stop. Throws CampaignConflictError, CampaignFileError (nothing
 * imported), ListChangedError.
 */
export async function importList(input: ListImport): Promise<string[]> {
  const { store, read, accountId, now, onProgress } = input;
  const { file, rules, hash: fileHash } = read;
  const warnings: string[] = [];
  const held = withAccountRules(rules, await readLatestAccountRules(store.db));
  const rows = checkedRows(input, { rules: held, accountLines: linesOf(await readAccount(store.db, accountId)) }, warnings);
  const campaign = {
    campaignId: file.id,
    name: file.name,
    fileHash,
    file: file.content,
    rules,
    accountId,
    ...(input.api === undefined ? {} : { api: input.api }),
  };
  await importCampaign(store, campaign, { chunks: rows, now, onProgress });
  return warnings;
}

async function* checkedRows(
  { read, now, allowPartial, select = (rows) => rows, signal, ...input }: ListImport,
  { rules, accountLines }: { rules: CampaignRules; accountLines: number | null },
  warnings: string[],
): AsyncGenerator<ListRow[]> {
  const { file, header, hash } = read;
  const windowStats = new WindowStats(rules, now);
  const time = new StartTime(rules, now);
  const consent = new ConsentStats(file, rules);
  const rejections = new Map<string, number>();
  let total = 0;
  let accepted = 0;
  for await (const chunk of consent.count(windowStats.count(input.rows ?? readRecipients(file, header, rules)))) {
    signal?.throwIfAborted();
    const rows = select(chunk);
    time.add(rows);
    total += rows.length;
    for (const row of rows)
      if (row.verdict === 'accepted') accepted += 1;
      else rejections.set(row.reason, (rejections.get(row.reason) ?? 0) + 1);
    if (rows.length > 0) yield rows;
  }
  if (accepted === 0 && !(total === 0 && mayBeginEmpty(rules))) throw noDialableRows(file, total, rejections);
  const impossible = windowStats.find(now);
  refuseImpossible(file, rules, impossible);
  refuseMissingBasis(file, windowStats.law());
  refuseUnmetAccountRules(file, rules);
  // Rows passed in belong to a test call to the operator's own phone.
  if (input.rows === undefined) refuseOpenConsent(file, rules, consent);
  const shortages = time.judge({ file, rules, accountLines, allowPartial, impossibleRows: impossible.rows });
  const unruled = unruledWarnings(rules, windowStats.unruled());
  warnings.push(...describeImpossible(impossible), ...unruled, ...shortages, ...campaignWarnings(rules));
  if ((await campaignHash(file)) !== hash)
    throw new ListChangedError(file.listPath, 'the list was changed while it was read; run the command again');
}

function noDialableRows(file: CampaignFile, total: number, rejections: ReadonlyMap<string, number>): CampaignFileError {
  const why = [...rejections].map(([reason, count]) => `${reason} ${String(count)}`).join(', ');
  if (total === 0) return refusalOfRows(file, `${file.settings.list.file} has no rows yet, so there is nobody to call`);
  return refusalOfRows(file, `none of the ${total} rows taken from ${file.settings.list.file} can be dialled (${why})`);
}
