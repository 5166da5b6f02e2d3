import { sql, type RawBuilder, type SqlBool } from 'kysely';
import { capsFor } from '../../rules/attempts/legal-caps.ts';
import { groupBy } from '../../rules/collections.ts';
import type { ForecastGroup } from '../../rules/forecast/forecast.ts';
import { calendarsFor, lawFor, type RecipientPlace } from '../../rules/hours/legal-hours.ts';
import type { OwnTerms } from '../../rules/row-terms.ts';
import type { CampaignRules } from '../../rules/campaign-rules.ts';
import { newestEvents } from '../events.ts';
import { dueRanks, dueRecipients } from '../limits/counters.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { placeOf, sqlLaterTerm } from '../rows/row-terms.ts';
import type { At, Queries } from '../tx.ts';

/** Rows that wait for the same thing. Instants are service time. */
export interface WaitingGroup {
  /**
   * `due`: callable now by their own rules; `retry`: delay after the last call; `not_before`: from the row; else the deferring rule, such
   * as `outside_hours`; `later`: not in the log.
   */
  rule: string;
  rows: number;
  /** Earliest and latest due time. */
  from: number;
  to: number;
}

interface Deferral {
  until: number;
  reason: string;
  count: number;
}

/** Deferrals read to count all waiting rows, and to explain the next ones. */
const mostDeferrals = 5_000;
const newestDeferrals = 200;

/** Largest group first. */
export async function readWaiting(db: Queries, { campaignId }: Pick<Campaign, 'campaignId'>, now: number): Promise<WaitingGroup[]> {
  const rule = await sqlRule(db, campaignId, now);
  // Equal rows are grouped first: there are many rows and few rules.
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

/** Condition on `recipients` for the rows that `readWaiting` counts under this rule. */
export async function waitsFor(
  db: Queries,
  campaignId: string,
  { rule, now }: { rule: string; now: number },
): Promise<RawBuilder<SqlBool>> {
  return sql`state = 'waiting' and ${await sqlRule(db, campaignId, now)} = ${rule}`;
}

/** Rule that keeps the rows due next, at `next`; null: unknown. Cheap at any number of rows. */
export async function readNextRule(
  db: Queries,
  campaign: Pick<Campaign, 'campaignId' | 'rules' | 'pilot'>,
  { now, next }: { now: number; next: number },
): Promise<string | null> {
  const rule = await sqlRule(db, campaign.campaignId, now, newestDeferrals);
  const [rank] = await dueRanks(db, campaign, next);
  if (rank === undefined) return null;
  const first = dueRecipients(db, campaign, { ranks: [rank], now: next, limit: 1, wordsKept: false });
  const row = await first.select(rule.as('rule')).orderBy('due_at').orderBy('row_number').executeTakeFirst();
  return row === undefined || row.rule === 'later' ? null : row.rule;
}

async function sqlRule(db: Queries, campaignId: string, now: number, most = mostDeferrals): Promise<RawBuilder<string>> {
  const rules = new Map<number, string>();
  for (const { until, reason } of await readDeferrals(db, { campaignId, now }, most)) if (!rules.has(until)) rules.set(until, reason);
  const deferred = [...groupBy([...rules], ([, reason]) => reason)].map(
    ([reason, untils]) => sql`when due_at in (${sql.join(untils.map(([until]) => until))}) then ${reason}`,
  );
  return sql`case when due_at <= ${now} then 'due' ${sql.join(deferred, sql` `)} when not_before = due_at then 'not_before'
    when called = 1 then 'retry' else 'later' end`;
}

/** Deferrals in force according to the newest log lines, newest first. */
export async function readDeferrals(db: Queries, { campaignId, now }: At, most: number): Promise<Deferral[]> {
  const events = await newestEvents(db, campaignId).select('data').where('type', '=', 'recipient.deferred').limit(most).execute();
  return events.map(({ data }) => JSON.parse(data ?? '{}') as Deferral).filter(({ until }) => until > now);
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Rows due between two of these offsets from now count as due together, at the latest of their times. */
const dueStepsMs = [0, 15 * minuteMs, ...[1, 4, 12, 24, 72, 168].map((hours) => hours * hourMs)];

/** Waiting rows in groups for a forecast, each with its attempts made; `now` null: by hours alone. */
export async function readWaitingGroups(
  db: Queries,
  { campaignId, rules }: Pick<Campaign, 'campaignId' | 'rules'>,
  now: number | null,
): Promise<ForecastGroup[]> {
  const steps = dueStepsMs.map((ms, step) => sql`when due_at <= ${sql.lit((now ?? 0) + ms)} then ${sql.lit(step)}`);
  const isFine = now !== null;
  const { rows } = await sql<{
    zones: string;
    country: string | null;
    regions: string | null;
    hours: string | null;
    attempts: number;
    due_at: number | null;
    expires_at: number | null;
    rows: number;
  }>`
    select zones, country, regions, hours, count(*) as rows, ${isFine ? sql`counted` : sql`0`} as attempts,
      ${isFine ? sql`max(due_at)` : sql`null`} as due_at, ${isFine ? sql`min(expires_at)` : sql`null`} as expires_at
    from (select zones, country, regions, ${sqlLaterTerm(db, 'hours')} as hours, counted, due_at, expires_at, case ${sql.join(steps, sql` `)} else -1 end as step
      from recipients where campaign_id = ${campaignId} and state = 'waiting') waiting
    group by zones, country, regions, hours ${isFine ? sql`, counted, step, expires_at / ${sql.lit(hourMs)}` : sql``}`.execute(db);
  const groups = new RowGroups(rules);
  for (const { zones, hours, attempts, rows: count, ...row } of rows) {
    const notBefore = row.due_at !== null && row.due_at > (now ?? 0) ? row.due_at : null;
    groups.add({ place: placeOf(row), zones: JSON.parse(zones) as string[], hours, attempts, notBefore, expiresAt: row.expires_at }, count);
  }
  return groups.all();
}

/** Groups rows for a forecast by hours, law, caps and times. */
export class RowGroups {
  readonly #rules: CampaignRules;
  readonly #groups = new Map<string, ForecastGroup>();

  constructor(rules: CampaignRules) {
    this.#rules = rules;
  }

  add(
    { place, hours, ...row }: { place: RecipientPlace; hours: OwnTerms['hours'] } & Omit<ForecastGroup, 'count' | 'calendars' | 'caps'>,
    count = 1,
  ): void {
    const laws = lawFor(this.#rules, place).map(({ id }) => id);
    const key = [row.zones.join(), laws.join(), hours, row.attempts, row.notBefore, row.expiresAt].join(' ');
    const known = this.#groups.get(key);
    if (known !== undefined) known.count += count;
    else {
      const calendars = calendarsFor(this.#rules, { ...place, hours });
      this.#groups.set(key, { count, ...row, calendars, caps: capsFor(this.#rules, place) });
    }
  }

  all(): ForecastGroup[] {
    return [...this.#groups.values()];
  }
}
