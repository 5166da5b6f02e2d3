import { sql } from 'kysely';
import { openAttemptStates } from '../../rules/ledger.ts';
import type { EditRow } from './edit-verdict.ts';
import type { Queries } from '../tx.ts';
import type { RecipientRow } from '../schema.ts';

/** The recipient of each id; of several, one that was not rejected, or the first. */
export async function findTargets(
  db: Queries,
  campaignId: string,
  rows: readonly Pick<EditRow, 'externalId'>[],
): Promise<Map<string, RecipientRow>> {
  const ids = rows.flatMap(({ externalId }) => (externalId === null ? [] : [externalId]));
  if (ids.length === 0) return new Map();
  const ofCampaign = db.selectFrom('recipients').selectAll().where('campaign_id', '=', campaignId);
  const found = await ofCampaign.where('external_id', 'in', ids).execute();
  const targets = new Map<string, RecipientRow>();
  // Sorted here: SQLite would go through the whole campaign for the order.
  for (const row of found.sort((a, b) => a.row_number - b.row_number)) {
    const id = row.external_id ?? '';
    const known = targets.get(id);
    if (known === undefined || (known.outcome === 'rejected' && row.outcome !== 'rejected')) targets.set(id, row);
  }
  return targets;
}

export async function findRows(db: Queries, campaignId: string, rows: readonly number[]): Promise<Map<number, RecipientRow>> {
  if (rows.length === 0) return new Map();
  const ofCampaign = db.selectFrom('recipients').selectAll().where('campaign_id', '=', campaignId);
  const found = await ofCampaign.where('row_number', 'in', rows).execute();
  return new Map(found.map((row) => [row.row_number, row]));
}

/** The campaign's rows of these ids that have no outcome yet: they may still be called. */
export async function findWaiting(db: Queries, campaignId: string, externalIds: readonly string[]): Promise<Map<string, number>> {
  if (externalIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('recipients')
    .select(['external_id', 'row_number'])
    .where('campaign_id', '=', campaignId)
    .where('external_id', 'in', externalIds)
    .where('outcome', 'is', null)
    .execute();
  return new Map(rows.map((row) => [row.external_id ?? '', row.row_number]));
}

export async function findOpen(db: Queries, recipientIds: readonly string[]): Promise<Set<string>> {
  if (recipientIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('attempts')
    .select('recipient_id')
    .where('recipient_id', 'in', recipientIds)
    .where('state', 'in', openAttemptStates)
    .execute();
  return new Set(rows.map((row) => row.recipient_id));
}

/** Who has each number. A rejected row has none: it is never dialled. */
export async function findHolders(
  db: Queries,
  campaignId: string,
  numbers: readonly string[],
): Promise<Map<string, { id: string; row: number }>> {
  if (numbers.length === 0) return new Map();
  const rows = await db
    .selectFrom('recipients')
    .select(['recipient_id', 'row_number', 'e164'])
    .where('e164', 'in', numbers)
    // Written so that SQLite looks the numbers up, and not through the whole campaign.
    .where(sql<boolean>`campaign_id || '' = ${campaignId}`)
    .where((eb) => eb.or([eb('outcome', 'is', null), eb('outcome', '!=', 'rejected')]))
    .execute();
  return new Map(rows.map((row) => [row.e164 ?? '', { id: row.recipient_id, row: row.row_number }]));
}

export async function lastRow(db: Queries, campaignId: string): Promise<number> {
  const row = await db
    .selectFrom('recipients')
    .select((eb) => eb.fn.max('row_number').as('row'))
    .where('campaign_id', '=', campaignId)
    .executeTakeFirst();
  return row?.row ?? 0;
}
