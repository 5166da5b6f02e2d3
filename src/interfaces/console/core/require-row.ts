import { ProblemError } from '../../api/core/problem.ts';
import { printable } from '../../../shared/input/printable.ts';
import { readCampaignRows, type CampaignRow } from '../../../ledger/read/campaign-rows.ts';
import type { ViewRequest } from './view.ts';

/** The row that the path names. Throws ProblemError where the campaign has none such. */
export async function requireRow(
  { context, now, params }: Pick<ViewRequest, 'context' | 'now' | 'params'>,
  campaignId: string,
): Promise<CampaignRow> {
  const text = params['row'] ?? '';
  const isNumber = /^\d{1,9}$/.test(text);
  const [row] = isNumber ? await readCampaignRows(context.store.db, campaignId, { search: `#${text}` }, now) : [];
  if (row === undefined) throw new ProblemError(404, 'unknown_row', `Campaign ${campaignId} has no row ${printable(text).slice(0, 40)}.`);
  return row;
}
