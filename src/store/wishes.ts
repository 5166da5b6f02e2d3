import type { Queries } from './open-store.ts';

/** Which of the wishes, from 1, that a run of a campaign's workflow was told. */
export interface WishOrder {
  run: string;
  number: number;
}

/**
 * Notes a wish in the caller's transaction, and answers false when a later one of the same run is committed already: each wish is
 * tried until the database takes it, and one that comes late must not undo what a person has wished, and was told, since. The
 * same wish may come again. Without an order every wish holds.
 */
export async function noteWish(tx: Queries, campaignId: string, order: WishOrder | undefined): Promise<boolean> {
  if (order === undefined) return true;
  const last = await tx
    .selectFrom('campaigns')
    .select(['wish_run', 'wish_number'])
    .where('campaign_id', '=', campaignId)
    .executeTakeFirst();
  if (last?.wish_run === order.run && (last.wish_number ?? 0) > order.number) return false;
  await tx
    .updateTable('campaigns')
    .set({ wish_run: order.run, wish_number: order.number })
    .where('campaign_id', '=', campaignId)
    .execute();
  return true;
}
