import { findCampaign } from '../../../ledger/rows/campaigns.ts';
import type { Store } from '../../../ledger/open-ledger.ts';
import { campaignIdFrom } from '../../../campaign/file/settings/caller.ts';
import type { FieldProblem } from './reading.ts';
import type { DraftFields } from './settings.ts';

/** Whether the id is that of a campaign which exists, as a problem of its field. */
export async function findTakenId(store: Store, fields: DraftFields): Promise<FieldProblem[]> {
  const id = fields['id']?.trim() ?? '';
  if (id === '' || (await findCampaign(store.db, id)) === undefined) return [];
  return [{ field: 'id', message: `There is a campaign ${id} already; write another id.` }];
}

/** An id after the name of the list that no campaign has. */
export async function freeId(store: Store, listName: string): Promise<string> {
  const id = campaignIdFrom(listName.replace(/\.\w{1,5}$/, '')).slice(0, 60);
  for (let at = 2, free = id; ; at += 1, free = `${id}-${at}`) if ((await findCampaign(store.db, free)) === undefined) return free;
}
