import { looksLikeNumber } from '../../shared/input/phone-number.ts';
import { maskedNumber } from '../../shared/input/printable.ts';
import { readCampaignRows, type CampaignRow } from '../../ledger/read/campaign-rows.ts';
import { listCampaigns, type Campaign } from '../../ledger/rows/campaigns.ts';
import type { Control } from './control.ts';

export interface FoundRecipient {
  campaign: Campaign;
  row: CampaignRow;
  /** Masked where it looks like a number; null: an id, row or number matched. */
  match: { column: string; value: string } | null;
}

/** Maximum rows searched, newest campaigns first. */
const mostRows = 500_000;

/**
 * Searches all campaigns, newest first, by own id or `#` and a row; `everywhere`, for permitted callers, also by part of a number or cell.
 * `isComplete`: there are no others.
 */
export async function searchPeople(
  { store: { db } }: Pick<Control, 'store'>,
  { text, everywhere, limit }: { text: string; everywhere: boolean; limit: number },
  now: number,
): Promise<{ people: FoundRecipient[]; isComplete: boolean }> {
  const people: FoundRecipient[] = [];
  let searchedRows = 0;
  for (const campaign of (await listCampaigns(db)).toReversed()) {
    if (campaign.state === 'importing') continue;
    if (everywhere && searchedRows > 0 && searchedRows + campaign.rowsTotal > mostRows) return { people, isComplete: false };
    searchedRows += campaign.rowsTotal;
    const remaining = limit - people.length;
    const query = { search: { text, everywhere }, limit: remaining + 1, cells: everywhere };
    const found = await readCampaignRows(db, campaign.campaignId, query, now);
    const rows = found.slice(0, remaining);
    people.push(...rows.map((row) => ({ campaign, row, match: matchIn(campaign, row, text) })));
    if (found.length > remaining) return { people, isComplete: false };
  }
  return { people, isComplete: true };
}

function matchIn({ rules }: Campaign, { externalId, cells = '[]' }: CampaignRow, text: string): FoundRecipient['match'] {
  if (externalId === text.trim()) return null;
  const searchText = text.trim().toLowerCase();
  const values = JSON.parse(cells) as string[];
  const place = values.findIndex((value) => value.toLowerCase().includes(searchText));
  const column = rules.list.columns[place];
  if (column === undefined || column === rules.list.phoneColumn) return null;
  const value = (values[place] ?? '').trim();
  return { column, value: looksLikeNumber(value, rules.list.defaultRegion) ? maskedNumber(value) : value };
}
