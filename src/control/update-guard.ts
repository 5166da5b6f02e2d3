import type { UploadFile } from '../list/upload-file.ts';
import type { Campaign } from '../ledger/rows/campaigns.ts';
import { EditRefusedError } from '../ledger/people/edit-refusal.ts';
import { findOtherOwner, knowsAnyId, type ListSample } from '../ledger/campaign/list-origin.ts';
import type { Store } from '../ledger/open-ledger.ts';

/** First rows by which a list is recognised. */
const sampleSize = 500;

/**
 * Refuses the list of another campaign: it would give each row the cells of somebody else, or call people of that one again.
 * Reads no more of the file than that takes. Throws EditRefusedError.
 */
export async function refuseForeignList(store: Store, campaign: Campaign, upload: UploadFile): Promise<void> {
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
    throw new EditRefusedError(
      `${upload.path} is the list of campaign ${other}, not of ${campaignId}: nothing was changed. ${fix}`,
    );
  }
  if (!known) {
    throw new EditRefusedError(
      `${upload.path} has no row whose id campaign ${campaignId} knows, so it looks like another list: nothing was changed. ${fix}`,
    );
  }
}
