import { sql, type RawBuilder } from 'kysely';
import { lockedTransaction } from '../locks.ts';
import { isPostgres, type Queries, type Tx, type Store } from '../tx.ts';

/** Text behind it does not affect the order. */
const longestKey = 80;

/** Sort key of a cell: its text trimmed and in lower case; empty: no cell. */
function foldedCell(db: Queries, place: number): RawBuilder<string> {
  const column = sql.lit(place);
  if (!isPostgres(db))
    return sql`lower(substr(trim(coalesce(json_extract(cells, '$[' || ${column} || ']'), '')), 1, ${sql.lit(longestKey)}))`;
  // An escaped character that PostgreSQL text cannot hold would fail the whole statement.
  const cell = sql`case when cells ~ '\\\\u(0000|d[89a-f])' then '' else coalesce(cells::jsonb ->> ${column}::int, '') end`;
  return sql`lower(left(btrim(${cell}), ${sql.lit(longestKey)}))`;
}

/** On first use stores the order in `list_cells`; a change of the list discards it. */
export async function orderByColumn(store: Store, campaignId: string, place: number): Promise<void> {
  if (await isOrdered(store.db, campaignId, place)) return;
  await lockedTransaction(store, campaignId, async (tx) => {
    if (await isOrdered(tx, campaignId, place)) return;
    await sql`insert into list_cells (campaign_id, place, folded, row_number)
      select campaign_id, ${sql.lit(place)}, ${foldedCell(tx, place)}, row_number from recipients
      where campaign_id = ${campaignId}`.execute(tx);
    await tx.insertInto('list_orders').values({ campaign_id: campaignId, place }).execute();
  });
}

async function isOrdered(db: Queries, campaignId: string, place: number): Promise<boolean> {
  const found = await db
    .selectFrom('list_orders')
    .select('place')
    .where('campaign_id', '=', campaignId)
    .where('place', '=', place)
    .executeTakeFirst();
  return found !== undefined;
}

/** Call after rows have changed, with the campaign's row locked. */
export async function forgetOrders(tx: Tx, campaignId: string): Promise<void> {
  const ordered = await tx.deleteFrom('list_orders').where('campaign_id', '=', campaignId).executeTakeFirst();
  if (ordered.numDeletedRows > 0n) await tx.deleteFrom('list_cells').where('campaign_id', '=', campaignId).execute();
}

export function keyOfRow(db: Queries, { campaignId, place, row }: { campaignId: string; place: number; row: number }): RawBuilder<string> {
  return sql`(select ${foldedCell(db, place)} from recipients where campaign_id = ${campaignId} and row_number = ${row})`;
}
