import { sql } from 'kysely';
import type { Outcome } from '../../rules/outcome.ts';
import { readAggregates } from '../aggregates.ts';
import type { Campaign } from '../rows/campaigns.ts';
import type { Queries } from '../tx.ts';
import { sqlPlaced } from './call-groups.ts';

export type Funnel = Awaited<ReturnType<typeof readFunnel>>;

/** Counts rows from the running aggregates, and from the attempts what these do not tell: a second for a million attempts. */
export async function readFunnel(db: Queries, { campaignId, rowsTotal, rowsRejected }: Campaign) {
  const aggregates = await readAggregates(db, campaignId, ['outcome']);
  const completed = aggregates.find(({ value }) => value === 'completed')?.count ?? 0;
  const { rows } = await sql<{ called: number; answered: number }>`
    select count(*) as called, coalesce(sum(answered), 0) as answered from (
      select max(case when disposition in ('answered', 'opted_out') then 1 else 0 end) as answered
      from attempts a where ${sqlPlaced(campaignId)}
      group by recipient_id) people`.execute(db);
  const { rows: never } = await sql<{ outcome: Outcome; count: number }>`
    select outcome, count(*) as count from recipients r
    where campaign_id = ${campaignId} and state = 'done' and outcome <> 'rejected' and not exists (
      select 1 from attempts a where a.recipient_id = r.recipient_id and ${sqlPlaced(campaignId)})
    group by outcome`.execute(db);
  return {
    /** Data rows of the list, and of these those that were not refused at import. */
    listed: rowsTotal,
    usable: rowsTotal - rowsRejected,
    /** Called at least once, as far as is known, and of these answered by a human at least once. */
    called: rows[0]?.called ?? 0,
    answered: rows[0]?.answered ?? 0,
    /** With the outcome completed. */
    completed,
    /** Usable rows that were never called and have their outcome, by outcome. */
    notCalled: Object.fromEntries(never.map(({ outcome, count }) => [outcome, count])) as Partial<Record<Outcome, number>>,
  };
}
