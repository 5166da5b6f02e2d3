import { sql } from 'kysely';
import { picked } from '../../rules/collections.ts';
import type { Outcome } from '../../rules/outcome.ts';
import { readAggregates } from '../aggregates.ts';
import { sqlPlaced } from './call-groups.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { readCampaignTimeline, type CampaignTimeline } from './timeline.ts';
import { lawSummaryOf, type LawSummary } from '../../rules/hours/legal-hours.ts';
import { costOf, type Price } from '../../rules/price.ts';
import { countCallbacks } from '../rows/promises.ts';
import { readEvents, type CampaignEvent } from '../events.ts';
import { placeOf } from '../rows/row-terms.ts';
import { accountScope } from '../rows/suppressions.ts';
import type { Queries, Store } from '../tx.ts';
import { readReport, reportDimensions, type Report } from './report.ts';

/** Printed by `carillon report --json` and shown in reports. Instants are service time. */
export type CampaignReport = Awaited<ReturnType<typeof readCampaignReport>>;

export type ReportedTimeline = Pick<CampaignTimeline, 'stepMs' | 'points' | 'pauses'>;

export async function readCampaignReport(store: Store, campaign: Campaign, now: number) {
  const { stateReason, createdAt, campaignId, rules } = campaign;
  const timeline = await readCampaignTimeline(store.db, campaign, now);
  const report = await readReport(store, campaign, reportDimensions);
  return {
    ...report,
    stateReason,
    createdAt,
    firstCallAt: timeline?.from ?? null,
    lastCallAt: timeline?.to ?? null,
    funnel: await readFunnel(store.db, campaign),
    course: timeline === null ? null : picked(timeline, reportedTimelineFields),
    callbacks: await countCallbacks(store.db, campaignId, now),
    law: await readLawForecast(store.db, campaign),
    /** Possible causes of a changed answer rate, oldest first: limits, agent, caller numbers, account rules. */
    changes: await readChanges(store.db, campaign),
    cost: reportedCost(rules.price, report),
  };
}

const changeTypes = ['campaign.adjusted', 'account.adjusted', 'caller.out', 'caller.in', 'pilot.voided', 'pilot.decided'] as const;
const mostChanges = 200;

async function readChanges(db: Queries, { campaignId, createdAt }: Campaign): Promise<CampaignEvent[]> {
  const own = await readEvents(db, campaignId, { types: changeTypes, limit: mostChanges });
  const accountEvents = await readEvents(db, accountScope, { types: ['house.changed'], limit: mostChanges });
  return [...own, ...accountEvents.filter(({ at }) => at >= createdAt)].toSorted((one, other) => one.seq - other.seq);
}

/** Cost of line time; null: the file names no price. `perGoal`: per recipient with whom the goal was reached; null: none. */
function reportedCost(price: Price | undefined, { calls, goal }: Report) {
  if (price === undefined) return null;
  const amount = costOf((calls?.talkSeconds ?? 0) * 1000, price) / 1_000_000;
  const reached = goal?.people.count ?? 0;
  const perGoal = reached === 0 ? null : amount / reached;
  return { amount, currency: price.currency, perMinute: price.perMinuteMicros / 1_000_000, perGoal };
}

/** Known law for the rows that could be called. */
export async function readLawForecast(db: Queries, { campaignId, rules, createdAt }: Campaign): Promise<LawSummary> {
  const groups = await db
    .selectFrom('recipients')
    .select((eb) => ['country', 'regions', eb.fn.countAll<number>().as('rows')])
    .where('campaign_id', '=', campaignId)
    .where((eb) => eb.or([eb('outcome', 'is', null), eb('outcome', '<>', 'rejected')]))
    .groupBy(['country', 'regions'])
    .execute();
  const places = groups.map(({ rows, ...group }) => ({ ...placeOf(group), rows }));
  return lawSummaryOf(rules, places, { from: createdAt, to: rules.endsAt });
}

export const reportedTimelineFields = ['stepMs', 'points', 'pauses'] as const;

export type Funnel = Awaited<ReturnType<typeof readFunnel>>;

/** Rows come from the running aggregates, the rest from attempts: a second for a million. */
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
    /** Data rows of the list; `usable`: not refused at import. */
    listed: rowsTotal,
    usable: rowsTotal - rowsRejected,
    /** Called at least once as far as known; `answered`: at least once by a human. */
    called: rows[0]?.called ?? 0,
    answered: rows[0]?.answered ?? 0,
    completed,
    /** Usable rows with an outcome that were never called, by outcome. */
    notCalled: Object.fromEntries(never.map(({ outcome, count }) => [outcome, count])) as Partial<Record<Outcome, number>>,
  };
}
