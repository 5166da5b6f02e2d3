import { sql, type RawBuilder, type SqlBool } from 'kysely';
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
export async function readWaiting(
  db: Queries,
  { campaignId }: Pick<Campaign, 'campaignId'>,
  now: number,
): Promise<WaitingGroup[]> {
  const ruleUntil = await readDeferrals(db, campaignId);
  const { rows } = await sql<{ due_at: number; rows: number; tier: number; own: number }>`
    select due_at, tier, own, count(*) as rows from (
      select case when due_at <= ${now} then 0 else due_at end as due_at, tier, case when not_before = due_at then 1 else 0 end as own
      from recipients where campaign_id = ${campaignId} and state = 'waiting') waiting
    group by due_at, tier, own`.execute(db);
  const groups = new Map<string, WaitingGroup>();
  for (const { due_at: dueAt, rows: count, tier, own } of rows) {
    const standard = own === 1 ? 'not_before' : tier === 0 ? 'retry' : 'later';
    const rule = dueAt === 0 ? 'due' : (ruleUntil.get(dueAt) ?? standard);
    const at = dueAt === 0 ? now : dueAt;
    const group = groups.get(rule) ?? { rule, rows: 0, from: at, to: at };
    groups.set(rule, {
      rule,
      rows: group.rows + count,
      from: Math.min(group.from, at),
      to: Math.max(group.to, at),
    });
  }
  return [...groups.values()].toSorted((a, b) => b.rows - a.rows || a.rule.localeCompare(b.rule));
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

/** The condition under which a row of `recipients` is one of those that `readWaiting` counts under this rule. */
export async function waitsFor(
  db: Queries,
  campaignId: string,
  { rule, now }: { rule: string; now: number },
): Promise<RawBuilder<SqlBool>> {
  if (rule === 'due') return sql`state = 'waiting' and due_at <= ${now}`;
  const ruleUntil = await readDeferrals(db, campaignId);
  const set = [...ruleUntil].filter(([, reason]) => reason === rule).map(([until]) => until);
  if (set.length > 0) return sql`state = 'waiting' and due_at > ${now} and due_at in (${sql.join(set)})`;
  const others = ruleUntil.size === 0 ? sql`` : sql`and due_at not in (${sql.join([...ruleUntil.keys()])})`;
  const own = sql`not_before is not null and not_before = due_at`;
  const standard = rule === 'not_before' ? own : sql`not (${own}) and tier = ${rule === 'retry' ? 0 : 1}`;
  return sql`state = 'waiting' and due_at > ${now} and ${standard} ${others}`;
}
