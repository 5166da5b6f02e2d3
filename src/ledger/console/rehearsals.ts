import type { Row } from '../schema.ts';
import type { Store } from '../tx.ts';

export interface StoredRehearsal {
  /** Which settings and list were rehearsed. */
  edition: string;
  /** What came of it, as JSON; null while it is under way, and for good where its process has ended before. */
  report: string | null;
}

/** In place of an earlier one of the same draft. */
export async function beginRehearsal(store: Store, draftId: string, edition: string): Promise<void> {
  const row = { draft_id: draftId, campaign_id: null, edition, report: null };
  await store.transaction(async (tx) => {
    await tx.deleteFrom('rehearsals').where('draft_id', '=', draftId).execute();
    await tx.insertInto('rehearsals').values(row).execute();
  });
}

/** Nothing happens when the draft was discarded meanwhile. */
export async function endRehearsal(store: Store, draftId: string, report: string): Promise<void> {
  await store.transaction((tx) => tx.updateTable('rehearsals').set({ report }).where('draft_id', '=', draftId).execute());
}

/** From here on it is that of a campaign: the draft goes, and it stays. */
export async function keepRehearsal(store: Store, draftId: string, campaignId: string): Promise<void> {
  await store.transaction((tx) => tx.updateTable('rehearsals').set({ campaign_id: campaignId }).where('draft_id', '=', draftId).execute());
}

export async function findRehearsal(
  { db }: Pick<Store, 'db'>,
  of: { draftId: string } | { campaignId: string },
): Promise<(StoredRehearsal & { draftId: string }) | null> {
  const [column, value] = 'draftId' in of ? (['draft_id', of.draftId] as const) : (['campaign_id', of.campaignId] as const);
  const row: Row<'rehearsals'> | undefined = await db.selectFrom('rehearsals').selectAll().where(column, '=', value).executeTakeFirst();
  return row === undefined ? null : { draftId: row.draft_id, edition: row.edition, report: row.report };
}
