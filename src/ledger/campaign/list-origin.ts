import { sql } from 'kysely';
import type { Queries } from '../tx.ts';

export interface ListSample {
  row: number;
  cells: readonly string[];
  externalId: string | null;
  /** Null when the row cannot be dialled. */
  e164: string | null;
}

/** Compared one by one; others have less in common with the list. */
const mostCompared = 5;

export async function knowsAnyId(db: Queries, campaignId: string, ids: readonly string[]): Promise<boolean> {
  if (ids.length === 0) return false;
  const row = await db
    .selectFrom('recipients')
    .select('row_number')
    .where('campaign_id', '=', campaignId)
    .where('external_id', 'in', ids)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Ids with non-ASCII letters, which depend on the encoding. */
export async function idsBeyondAscii(db: Queries, campaignId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('recipients')
    .select('external_id as id')
    .where('campaign_id', '=', campaignId)
    .where(sql<boolean>`octet_length(external_id) > length(external_id)`)
    .execute();
  return rows.flatMap(({ id }) => id ?? []);
}

/**
 * The other campaign that clearly owns this list, or null: only it has these recipients under these ids, or its cells are the same row for
 * row.
 */
export async function findOtherOwner(db: Queries, campaignId: string, sample: readonly ListSample[]): Promise<string | null> {
  const counts = await countSamePeople(db, sample);
  const others = counts.filter((count) => count.campaignId !== campaignId).slice(0, mostCompared);
  const [nearest] = others;
  if (nearest === undefined) return null;
  if (others.length === counts.length) return nearest.campaignId;
  if (await beginsWith(db, campaignId, sample)) return null;
  for (const other of others) if (await beginsWith(db, other.campaignId, sample)) return other.campaignId;
  return null;
}

async function countSamePeople(db: Queries, sample: readonly ListSample[]): Promise<{ campaignId: string; count: number }[]> {
  const people = sample.flatMap(({ e164, externalId }) => (e164 === null || externalId === null ? [] : [{ e164, externalId }]));
  if (people.length === 0) return [];
  const numbers = people.map(({ e164 }) => e164);
  const pairs = sql.join(people.map(({ e164, externalId }) => sql`(${e164}, ${externalId})`));
  return db
    .selectFrom('recipients')
    .innerJoin('campaigns', 'campaigns.campaign_id', 'recipients.campaign_id')
    .select((eb) => ['recipients.campaign_id as campaignId', eb.fn.countAll<number>().as('count')])
    .where('campaigns.state', '!=', 'importing')
    .where('recipients.e164', 'in', numbers)
    .where(sql<boolean>`(recipients.e164, recipients.external_id) in (values ${pairs})`)
    .groupBy('recipients.campaign_id')
    .orderBy('count', 'desc')
    .orderBy('recipients.campaign_id')
    .execute();
}

async function beginsWith(db: Queries, campaignId: string, sample: readonly ListSample[]): Promise<boolean> {
  const numbers = sample.map(({ row }) => row);
  const ofCampaign = db.selectFrom('recipients').select(['row_number', 'cells']).where('campaign_id', '=', campaignId);
  const rows = await ofCampaign.where('row_number', 'in', numbers).execute();
  const cells = new Map(rows.map((row) => [row.row_number, row.cells]));
  return sample.every((one) => cells.get(one.row) === JSON.stringify(one.cells));
}
