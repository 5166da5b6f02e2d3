import { sql, type SelectQueryBuilder } from 'kysely';
import type { AttemptState } from '../rules/ledger.ts';
import type { AttemptRow, BatchRow, Database, RoundRow } from './schema.ts';
import { prepared } from './prepared.ts';
import type { Queries } from './tx.ts';

export async function countRows<Tables extends keyof Database>(query: SelectQueryBuilder<Database, Tables, object>): Promise<number> {
  const { count } = await query.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  return count;
}

export async function countBy<Tables extends keyof Database>(
  query: SelectQueryBuilder<Database, Tables, object>,
  column: string,
): Promise<Record<string, number>> {
  const value = sql<string | null>`${sql.ref(column)}`;
  const rows = await query
    .select([value.as('value'), sql<number>`count(*)`.as('count')])
    .groupBy(value)
    .execute();
  return Object.fromEntries(rows.map((row) => [row.value ?? 'unknown', row.count]));
}

const selectBatch = prepared((db: Queries, { batchId }: { batchId: string }) =>
  db.selectFrom('batches').selectAll().where('batch_id', '=', batchId),
);

export async function findBatch(db: Queries, batchId: string): Promise<BatchRow | undefined> {
  return (await selectBatch(db, { batchId })).rows[0];
}

const selectRound = prepared((db: Queries, { campaignId, round }: { campaignId: string; round: number }) =>
  db.selectFrom('rounds').selectAll().where('campaign_id', '=', campaignId).where('round', '=', round),
);

export async function findRoundRow(
  db: Queries,
  { campaignId, round }: { campaignId: string; round: number },
): Promise<RoundRow | undefined> {
  return (await selectRound(db, { campaignId, round })).rows[0];
}

export async function attemptsOf(db: Queries, batchId: string, states: readonly AttemptState[]): Promise<AttemptRow[]> {
  const ofBatch = db.selectFrom('attempts').selectAll().where('batch_id', '=', batchId);
  return ofBatch.where('state', 'in', states).orderBy('position').execute();
}

/** As `noteResultOfLastTalk` sets it, for every row with a result. */
export const sqlResultOfLastTalk = `update recipients set result = (select attempts.result from attempts
  where attempts.recipient_id = recipients.recipient_id and attempts.state = 'settled'
    and (disposition = 'opted_out' or (disposition = 'answered' and coalesce(detail, '') <> 'silent'))
  order by number desc limit 1) where result is not null`;
