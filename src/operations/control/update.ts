import { lacksBasis, lawSummaryOf } from '../../rules/hours/legal-hours.ts';
import { EditRefusedError, refuseUnlessEditable } from '../../ledger/people/edit-refusal.ts';
import { RecipientEditor } from '../../ledger/people/edit-recipients.ts';
import { readWaitingIds, withdrawRecipients } from '../../ledger/people/withdraw-recipients.ts';
import { partsOf } from '../../ledger/parts.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import type { ListRow } from '../../list/recipients.ts';
import { RowIndex } from '../../list/row-index.ts';
import { openUpload, type UploadFile } from '../../list/upload-file.ts';
import { encodingNames, readEncoding } from '../../shared/input/encoding.ts';
import { UsageError } from '../../shared/input/errors.ts';
import { plural } from '../../shared/input/figures.ts';
import { quoteCell } from '../../shared/input/printable.ts';
import type { Control } from './control.ts';
import { requireCampaign } from './ledger.ts';
import { readClockOrReal } from './service.ts';
import { updateRows, type UpdatedRow } from './update-rows.ts';
import { findOtherOwner, idsBeyondAscii, knowsAnyId, type ListSample } from '../../ledger/campaign/list-origin.ts';
import type { Store } from '../../ledger/tx.ts';

export interface ListUpdate {
  campaign: Campaign;
  upload: UploadFile;
  idColumn: string;
  /** `unreadable`: rows without a readable id. `isWhole`: the end was reached. */
  listed: { ids: RowIndex; unreadable: number; isWhole: boolean };
  /** Service time. */
  now: () => number;
}

interface UpdateInput {
  campaignId: string;
  path: string;
  delimiter?: string | undefined;
  sheet?: string | undefined;
  /** Default: the campaign's own. */
  encoding?: string | undefined;
}

const clockLimitMs = 3_000;

/**
 * Reads only the list's header. Throws UnknownCampaignError, EditRefusedError when the campaign's rows cannot be changed, UsageError, and
 * ListFileError naming a missing or unknown column.
 */
export async function openUpdate(
  { config, store, now: machineNow }: Pick<Control, 'config' | 'store' | 'now'>,
  { campaignId, encoding: written, ...choice }: UpdateInput,
): Promise<ListUpdate> {
  const encoding = requireEncoding(written);
  const campaign = await requireCampaign(store, campaignId);
  const clock = await readClockOrReal(config, clockLimitMs, machineNow);
  const now = (): number => Math.round(clock.now());
  refuseUnlessEditable(campaign, now());
  const { rules } = campaign;
  const { idColumn } = rules.list;
  if (idColumn === null) throw new EditRefusedError(explainMissingId(campaignId));
  const upload = await openUpload({ ...choice, encoding, rules });
  return { campaign, upload, idColumn, listed: { ids: new RowIndex(), unreadable: 0, isWhole: false }, now };
}

export interface UpdateMode {
  dryRun: boolean;
  /** Accepts a list that looks like another campaign's. */
  add: boolean;
  /** Restores withdrawn rows that the list has. */
  restore: boolean;
}

/**
 * Updates rows in parts, yielding results in file order. An error leaves finished parts; repeating it changes nothing. Call `requestReplan`
 * at the end. Throws EditRefusedError, for another campaign's list before any change, and ListFileError.
 */
export async function* applyUpdate(
  { store }: Pick<Control, 'store'>,
  { campaign, upload, idColumn, listed, now }: ListUpdate,
  { dryRun, add, restore }: UpdateMode,
): AsyncGenerator<UpdatedRow[]> {
  if (!add) await refuseForeignList(store, campaign, upload);
  await refuseRecodedIds(store, campaign, upload);
  const editor = new RecipientEditor(store, { campaignId: campaign.campaignId, restore, dryRun });
  let done = 0;
  try {
    const permitted = refuseWithoutBasis(upload.read(), campaign, now);
    for await (const rows of updateRows(noteIds(permitted, listed), editor, { idColumn, now })) {
      done += rows.length;
      yield rows;
    }
  } catch (error) {
    if (!(error instanceof EditRefusedError) || dryRun) throw error;
    const before = `Before that, ${plural(done, 'row')} of the list had been done.`;
    throw new EditRefusedError(`${error.message} ${before}`, error.remedy);
  }
}

/** Rules are frozen: a missing legal basis cannot be added now. Throws EditRefusedError where a row needs it. */
export function refuseLackingBasis(rows: readonly ListRow[], { rules }: Campaign, now: number): void {
  const places = rows.flatMap((row) => (row.verdict === 'accepted' ? [{ ...row, rows: 1 }] : []));
  const [lacking] = lacksBasis(lawSummaryOf(rules, places, { from: now, to: rules.endsAt }));
  if (lacking !== undefined)
    throw new EditRefusedError(
      `The list has people in ${lacking.country}, where the law asks for consent (${lacking.source}), and the campaign file states no basis. ` +
        'Leave them out, or start a campaign for them under a new id, with basis.',
    );
}

async function* refuseWithoutBasis(chunks: AsyncIterable<ListRow[]>, campaign: Campaign, now: () => number): AsyncGenerator<ListRow[]> {
  for await (const rows of chunks) {
    refuseLackingBasis(rows, campaign, now());
    yield rows;
  }
}

async function* noteIds(chunks: AsyncIterable<ListRow[]>, listed: ListUpdate['listed']): AsyncGenerator<ListRow[]> {
  for await (const rows of chunks) {
    for (const { row, externalId } of rows) {
      if (externalId === null) listed.unreadable += 1;
      else listed.ids.rowOf(externalId, row);
    }
    yield rows;
  }
  listed.isWhole = true;
}

/** Thrown when rows to withdraw as missing may be the list's unreadable ones. */
export class UnreadableIdsError extends Error {
  override readonly name = 'UnreadableIdsError' as const;
  readonly isBadInput = true;

  constructor(rows: number) {
    super(
      `${plural(rows, 'row')} of the list ${rows === 1 ? 'has' : 'have'} no readable id, so nothing was withdrawn. Fix them and run the command again.`,
    );
  }
}

/** Waiting rows missing from the list, once `applyUpdate` has finished. */
export async function findMissing({ store }: Pick<Control, 'store'>, update: ListUpdate): Promise<number[]> {
  const { ids, isWhole } = update.listed;
  if (!isWhole) throw new Error('what a list does not have is not known before it was read to its end');
  const missing: number[] = [];
  for await (const page of readWaitingIds(store.db, update.campaign.campaignId))
    missing.push(...page.filter(({ externalId }) => ids.rowOf(externalId) === null).map(({ row }) => row));
  return missing;
}

const rowsPerPart = 500;

/** `dryRun`: changes nothing. Repeatable. Throws UnreadableIdsError, and EditRefusedError when the campaign has ended. */
export async function withdrawMissing(
  { store }: Pick<Control, 'store'>,
  { campaign, listed, now: readNow }: ListUpdate,
  { missing, dryRun }: { missing: readonly number[]; dryRun: boolean },
): Promise<{ withdrawn: number; withdrawing: number; callOpen: number }> {
  if (listed.unreadable > 0) throw new UnreadableIdsError(listed.unreadable);
  const { campaignId } = campaign;
  const counts = { withdrawn: 0, withdrawing: 0, callOpen: 0 };
  const options = { campaignId, note: 'no longer in the list', dryRun, now: readNow() };
  for (const rows of partsOf(missing, rowsPerPart))
    for (const { result } of await withdrawRecipients(store, options, { rows })) {
      if (result === 'withdrawn') counts.withdrawn += 1;
      if (result === 'withdrawing') counts.withdrawing += 1;
      if (result === 'call_open') counts.callOpen += 1;
    }
  return counts;
}

/** Throws EditRefusedError for ids that differ by encoding alone: their recipients would be added again, perhaps already called. */
async function refuseRecodedIds(store: Store, { campaignId, rules }: Campaign, upload: UploadFile): Promise<void> {
  const { encoding } = rules.list;
  if (encoding !== undefined && (encoding ?? 'utf-8') === upload.encoding) return;
  const stored = new Set(await idsBeyondAscii(store.db, campaignId));
  if (stored.size === 0) return;
  const listed = new Map<string, number>();
  for await (const rows of upload.read())
    for (const { externalId, line } of rows) if (externalId !== null && isBeyondAscii.test(externalId)) listed.set(externalId, line);
  const others = new Map([...stored].filter((id) => !listed.has(id)).map((id) => [withoutLetters(id), id]));
  for (const [id, line] of listed) {
    const known = stored.has(id) ? undefined : others.get(withoutLetters(id));
    if (known === undefined) continue;
    throw new EditRefusedError(
      `Line ${line} of ${upload.path} has the id ${quoteCell(id)}, and campaign ${campaignId} has ${quoteCell(known)}: they differ by their encoding alone, so nothing was changed. ` +
        'Send the list in the encoding that the campaign was started with.',
    );
  }
}

// eslint-disable-next-line no-control-regex
const isBeyondAscii = /[^\x00-\x7f]/;

/** Keeps the part of an id that is the same in every encoding. */
function withoutLetters(id: string): string {
  return id.replaceAll(/[^\x21-\x7e]+/g, '?');
}

function explainMissingId(campaignId: string): string {
  return (
    `Campaign ${campaignId} has no id column (list.id), so rows of the list cannot be matched. ` +
    `carillon withdraw ${campaignId} --row withdraws rows by their number; for new or corrected rows start a campaign with list.id, under a new id.`
  );
}

/** Rows by which a list is recognised. */
const sampleSize = 500;

/**
 * Another campaign's list would give rows wrong cells or call its recipients again. Reads only as much of the file as needed. Throws
 * EditRefusedError.
 */
async function refuseForeignList(store: Store, campaign: Campaign, upload: UploadFile): Promise<void> {
  const { campaignId } = campaign;
  const sample: ListSample[] = [];
  let known = false;
  for await (const rows of upload.read()) {
    for (const { row, cells, externalId, e164, verdict } of rows.slice(0, sampleSize - sample.length))
      sample.push({ row, cells, externalId, e164: verdict === 'accepted' ? e164 : null });
    const ids = rows.flatMap(({ externalId }) => (externalId === null ? [] : [externalId]));
    known ||= await knowsAnyId(store.db, campaignId, ids);
    if (known && sample.length >= sampleSize) break;
  }
  const other = await findOtherOwner(store.db, campaignId, sample);
  const fix = 'If its rows are meant for this campaign, repeat the command with --add.';
  if (other !== null) {
    throw new EditRefusedError(`${upload.path} is the list of campaign ${other}, not of ${campaignId}: nothing was changed. ${fix}`);
  }
  if (!known) {
    throw new EditRefusedError(
      `${upload.path} has no row whose id campaign ${campaignId} knows, so it looks like another list: nothing was changed. ${fix}`,
    );
  }
}

/** Throws UsageError. */
export function requireEncoding(written: string | undefined): string | undefined {
  const encoding = written === undefined ? undefined : readEncoding(written);
  if (encoding === null) throw new UsageError(`The encoding ${quoteCell(written ?? '')} is not known; write ${encodingNames}.`);
  return encoding;
}
