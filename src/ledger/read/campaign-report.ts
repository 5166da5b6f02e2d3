import type { Campaign } from '../rows/campaigns.ts';
import { readCourse, type Course } from './timeline.ts';
import { readFunnel } from './funnel.ts';
import { lawOutlook, type LawOutlook } from '../../rules/hours/legal-hours.ts';
import { costOf, type Price } from '../../rules/price.ts';
import { countPromises } from '../rows/promises.ts';
import { readEvents, type CampaignEvent } from '../events.ts';
import { placeOf } from '../rows/row-terms.ts';
import { accountScope } from '../rows/suppressions.ts';
import type { Queries, Store } from '../tx.ts';
import { readReport, reportDimensions, type Report } from './report.ts';

/** All that is told of a campaign after the fact: `carillon report --json` prints it, and reports show it. Instants are service time. */
export type CampaignReport = Awaited<ReturnType<typeof readCampaignReport>>;

/** A course with its instants under names by which programs know them. */
export interface ReportedCourse extends Pick<Course, 'stepMs' | 'points'> {
  /** When it was paused; `toAt` is null while it is. */
  pauses: { fromAt: number; toAt: number | null; reason: string | null }[];
}

export async function readCampaignReport(store: Store, campaign: Campaign, now: number) {
  const { stateReason, createdAt, campaignId, rules } = campaign;
  const course = await readCourse(store.db, campaign, now);
  const report = await readReport(store, campaign, reportDimensions);
  return {
    ...report,
    stateReason,
    createdAt,
    firstCallAt: course?.from ?? null,
    lastCallAt: course?.to ?? null,
    funnel: await readFunnel(store.db, campaign),
    course: course === null ? null : reportedCourse(course),
    callbacks: await countPromises(store.db, campaignId, now),
    law: await readLawOutlook(store.db, campaign),
    /** What may lie behind another answer rate, oldest first: limits, agent, caller numbers and house rules that were changed. */
    changes: await readChanges(store.db, campaign),
    cost: reportedCost(rules.price, report),
  };
}

const changeTypes = ['campaign.adjusted', 'account.adjusted', 'caller.out', 'caller.in', 'pilot.voided', 'pilot.decided'] as const;
const mostChanges = 200;

async function readChanges(db: Queries, { campaignId, createdAt }: Campaign): Promise<CampaignEvent[]> {
  const own = await readEvents(db, campaignId, { types: changeTypes, limit: mostChanges });
  const ofHouse = await readEvents(db, accountScope, { types: ['house.changed'], limit: mostChanges });
  return [...own, ...ofHouse.filter(({ at }) => at >= createdAt)].toSorted((one, other) => one.seq - other.seq);
}

/** For the calls' time on the line; null: the file names no price. `perGoal`: per person with whom the goal was reached; null: none. */
function reportedCost(price: Price | undefined, { calls, goal }: Report) {
  if (price === undefined) return null;
  const amount = costOf((calls?.talkSeconds ?? 0) * 1000, price) / 1_000_000;
  const reached = goal?.people.count ?? 0;
  const perGoal = reached === 0 ? null : amount / reached;
  return { amount, currency: price.currency, perMinute: price.perMinuteMicros / 1_000_000, perGoal };
}

/** What there is to know of the law of the rows that could be called. */
export async function readLawOutlook(db: Queries, { campaignId, rules, createdAt }: Campaign): Promise<LawOutlook> {
  const groups = await db
    .selectFrom('recipients')
    .select((eb) => ['country', 'regions', eb.fn.countAll<number>().as('rows')])
    .where('campaign_id', '=', campaignId)
    .where((eb) => eb.or([eb('outcome', 'is', null), eb('outcome', '<>', 'rejected')]))
    .groupBy(['country', 'regions'])
    .execute();
  const places = groups.map(({ rows, ...group }) => ({ ...placeOf(group), rows }));
  return lawOutlook(rules, places, { from: createdAt, to: rules.endsAt });
}

export function reportedCourse({ stepMs, points, pauses }: Course): ReportedCourse {
  return { stepMs, points, pauses: pauses.map(({ from, to, reason }) => ({ fromAt: from, toAt: to, reason })) };
}
