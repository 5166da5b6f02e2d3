import type { Row } from '../schema.ts';
import type { Store } from '../tx.ts';

export interface StoredRehearsal {
  /** Identifies the rehearsed settings and list. */
  edition: string;
  /** JSON; null while under way, and for good if its process ended early. */
  report: string | null;
}

/** Replaces the draft's earlier one. */
export async function beginRehearsal(store: Store, draftId: string, edition: string): Promise<void> {
  const row = { draft_id: draftId, campaign_id: null, edition, report: null };
  await store.transaction(async (tx) => {
    await tx.deleteFrom('rehearsals').where('draft_id', '=', draftId).execute();
    await tx.insertInto('rehearsals').values(row).execute();
  });
}

/** Does nothing for a discarded draft. */
export async function endRehearsal(store: Store, draftId: string, report: string): Promise<void> {
  await store.transaction((tx) => tx.updateTable('rehearsals').set({ report }).where('draft_id', '=', draftId).execute());
}

/** The rehearsal outlives its draft. */
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
