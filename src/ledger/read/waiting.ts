import { sql, type RawBuilder, type SqlBool } from 'kysely';
import { groupBy } from '../../rules/collections.ts';
import { lastEventSeq, newestEvents } from '../events.ts';
import type { Campaign } from '../rows/campaigns.ts';
import type { Queries } from '../tx.ts';

/** Rows that wait for the same thing. Instants are service time. */
export interface WaitingGroup {
  /**
   * `due`: they could be called now, as far as their own rules go; `retry`: the delay after their last call; `not_before`: what their rows
   * say; else the rule that put them off, such as `outside_hours`, or `later` where the log tells no more.
   */
  rule: string;
  rows: number;
  /** The first and the last instant at which one of them is looked at again. */
  from: number;
  to: number;
}

/** Deferrals of the log that are looked at, and how far back: one of many rows put off together is one of them. */
const mostDeferrals = 5_000;
const lookBack = 500_000;

/** The waiting rows of a campaign by the rule that keeps each of them, the largest group first. */
export async function readWaiting(db: Queries, { campaignId }: Pick<Campaign, 'campaignId'>, now: number): Promise<WaitingGroup[]> {
  const rule = await sqlRule(db, campaignId, now);
  // Rows that are alike first: there are many of them, and few rules.
  const { rows } = await sql<WaitingGroup>`
    select rule, cast(sum(alike) as bigint) as rows, min(due_at) as "from", max(due_at) as "to" from (
      select ${rule} as rule, due_at, alike from (
        select due_at, called, not_before, count(*) as alike from (
          select case when due_at <= ${now} then ${now} else due_at end as due_at, called,
            case when not_before = due_at then due_at end as not_before
          from recipients where campaign_id = ${campaignId} and state = 'waiting') waiting
        group by due_at, called, not_before) kinds) ruled
    group by rule`.execute(db);
  return rows.toSorted((a, b) => b.rows - a.rows || a.rule.localeCompare(b.rule));
}

/** The condition under which a row of `recipients` is one of those that `readWaiting` counts under this rule. */
export async function waitsFor(
  db: Queries,
  campaignId: string,
  { rule, now }: { rule: string; now: number },
): Promise<RawBuilder<SqlBool>> {
  return sql`state = 'waiting' and ${await sqlRule(db, campaignId, now)} = ${rule}`;
}

/** The rule that keeps a waiting row of `recipients`. */
async function sqlRule(db: Queries, campaignId: string, now: number): Promise<RawBuilder<string>> {
  const deferrals = [...(await readDeferrals(db, campaignId))].filter(([until]) => until > now);
  const deferred = [...groupBy(deferrals, ([, reason]) => reason)].map(
    ([reason, untils]) => sql`when due_at in (${sql.join(untils.map(([until]) => until))}) then ${reason}`,
  );
  return sql`case when due_at <= ${now} then 'due' ${sql.join(deferred, sql` `)} when not_before = due_at then 'not_before'
    when called = 1 then 'retry' else 'later' end`;
}

/** Until when which rule has put rows off, as the newest lines of the log tell. */
async function readDeferrals(db: Queries, campaignId: string): Promise<Map<number, string>> {
  const events = await newestEvents(db, campaignId)
    .select('data')
    .where('type', '=', 'recipient.deferred')
    .where('seq', '>', (await lastEventSeq(db, campaignId)) - lookBack)
    .limit(mostDeferrals)
    .execute();
  const rules = new Map<number, string>();
  for (const { data } of events) {
    const { until, reason } = JSON.parse(data ?? '{}') as { until?: number; reason?: string };
    if (until !== undefined && reason !== undefined && !rules.has(until)) rules.set(until, reason);
  }
  return rules;
}
