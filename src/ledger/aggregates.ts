import { sql } from 'kysely';
import type { Outcome } from '../rules/outcome.ts';
import { prepared } from './prepared.ts';
import type { Row } from './schema.ts';
import type { Queries, Tx } from './tx.ts';

export type AggregateKind = 'outcome' | 'disposition' | 'result' | 'collected' | 'evaluation';

export interface AggregateChange {
  kind: AggregateKind;
  /** Absent for outcomes, dispositions and talk results. */
  key?: string;
  value: string;
  delta: number;
}

/** Longer free text makes no useful groups. */
const longestValue = 80;

export function groupsOf(kind: 'collected' | 'evaluation', values: Record<string, unknown> | null, delta: number): AggregateChange[] {
  if (values === null) return [];
  return Object.entries(values).map(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
    return { kind, key, value: text.slice(0, longestValue), delta };
  });
}

/** Running counts, so that reading needs no scan. */
export async function changeAggregates(tx: Tx, campaignId: string, changes: readonly AggregateChange[]): Promise<void> {
  const sums = new Map<string, AggregateChange>();
  for (const change of changes) {
    const id = JSON.stringify([change.kind, change.key, change.value]);
    const known = sums.get(id);
    sums.set(id, known === undefined ? { ...change } : { ...known, delta: known.delta + change.delta });
  }
  const rows = [...sums.values()]
    .filter((change) => change.delta !== 0)
    .map(({ kind, key = '', value, delta }) => ({ campaign_id: campaignId, kind, key, value, count: delta }));
  for (const row of rows) await addToAggregate(tx, row);
}

const addToAggregate = prepared((tx: Tx, row: Row<'aggregates'>) =>
  tx
    .insertInto('aggregates')
    .values({ campaign_id: row.campaign_id, kind: row.kind, key: row.key, value: row.value, count: row.count })
    .onConflict((conflict) =>
      conflict.columns(['campaign_id', 'kind', 'key', 'value']).doUpdateSet({ count: sql<number>`aggregates.count + excluded.count` }),
    ),
);

export interface Aggregate {
  kind: AggregateKind;
  key: string;
  value: string;
  count: number;
}

export async function readAggregates(
  db: Queries,
  campaignId: string,
  kinds: readonly AggregateKind[] = ['outcome', 'disposition', 'collected', 'evaluation'],
): Promise<Aggregate[]> {
  const rows = await db
    .selectFrom('aggregates')
    .select(['kind', 'key', 'value', 'count'])
    .where('campaign_id', '=', campaignId)
    .where('kind', 'in', kinds)
    .where('count', '>', 0)
    .orderBy('kind')
    .orderBy('key')
    .orderBy('value')
    .execute();
  return rows as Aggregate[];
}

export async function campaignsWithOutcome(db: Queries, outcome: Outcome): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('aggregates')
    .select('campaign_id')
    .where('kind', '=', 'outcome')
    .where('value', '=', outcome)
    .where('count', '>', 0)
    .execute();
  return new Set(rows.map(({ campaign_id: id }) => id));
}
