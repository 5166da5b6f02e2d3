import { sql } from 'kysely';
import { atPace, fullPace } from '../../rules/pacing/pace-control.ts';
import { warmUpLines } from '../../rules/pacing/pacing.ts';
import { readMarks, type CampaignEvent } from '../events.ts';
import type { Campaign } from '../rows/campaigns.ts';
import type { Queries } from '../tx.ts';
import { sqlPlaced } from './call-groups.ts';

export type CampaignTimeline = NonNullable<Awaited<ReturnType<typeof readCampaignTimeline>>>;
export type TimelinePoint = CampaignTimeline['points'][number];

const steps = [10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000, 6 * 3_600_000, 86_400_000];
const mostPoints = 240;

/** In at most 240 steps; null: no request yet. Instants are service time. */
export async function readCampaignTimeline(db: Queries, campaign: Campaign, now: number) {
  const { campaignId } = campaign;
  const span = await readSpan(db, campaignId, now);
  if (span === null) return null;
  const stepMs = steps.find((ms) => (span.to - span.from) / ms < mostPoints) ?? (span.to - span.from) / mostPoints;
  const step = sql.lit(Math.ceil(stepMs));
  const placed = sqlPlaced(campaignId);
  const starts = await countSteps(db, sql`select a.posted_at / ${step} as step from attempts a where ${placed}`);
  const ends = await countSteps(
    db,
    sql`select coalesce(c.finished_at, a.settled_at) / ${step} as step from attempts a
      left join conversations c on c.attempt_id = a.attempt_id
      where ${placed} and coalesce(c.finished_at, a.settled_at) is not null`,
  );
  const limited = await countSteps(
    db,
    sql`select p.verdict_at / ${step} as step from posts p join batches b on b.batch_id = p.batch_id
      where b.campaign_id = ${campaignId} and p.status = 429 and p.verdict_at is not null`,
  );
  const marks = await readMarks(db, campaignId);
  const allowedAt = allowance(campaign, marks);
  const points = [];
  let open = 0;
  for (let index = Math.floor(span.from / stepMs); index <= Math.floor(span.to / stepMs); index += 1) {
    // Calls requested and ended in this step, and requests refused with 429.
    const counts = { starts: starts.get(index) ?? 0, ends: ends.get(index) ?? 0, limited: limited.get(index) ?? 0 };
    // At the end of the step.
    open += counts.starts - counts.ends;
    // By the campaign's limit, warm-up and pace; not by its account share.
    const allowed = allowedAt(Math.min((index + 1) * stepMs, span.to));
    points.push({ at: index * stepMs, ...counts, open, allowed });
  }
  /** `from`: first request; `to`: last end of a call, or now while one is open. */
  return { ...span, stepMs, points, pauses: pausesOf(marks) };
}

async function countSteps(db: Queries, steps: ReturnType<typeof sql>): Promise<Map<number, number>> {
  const { rows } = await sql<{ step: number; count: number }>`
    select step, count(*) as count from (${steps}) steps group by step`.execute(db);
  return new Map(rows.map(({ step, count }) => [step, count]));
}

async function readSpan(db: Queries, campaignId: string, now: number): Promise<{ from: number; to: number } | null> {
  const { rows } = await sql<{ first: number | null; last: number | null; settled: number | null; open: number }>`
    select min(posted_at) as first, max(posted_at) as last, max(settled_at) as settled,
      count(case when state <> 'settled' then 1 end) as open
    from attempts a where ${sqlPlaced(campaignId)}`.execute(db);
  const [row] = rows;
  if (row?.first == null) return null;
  const to = row.open > 0 ? now : Math.max(row.last ?? 0, row.settled ?? 0);
  return { from: row.first, to: Math.max(row.first, to) };
}

/** Lines allowed at an instant, from the logged changes. */
function allowance({ rules }: Campaign, marks: readonly CampaignEvent[]): (at: number) => number {
  const limits: Change[] = [];
  const begins: Change[] = [];
  const paces: Change[] = [];
  for (const event of marks) {
    const { at } = event;
    if (event.type === 'campaign.imported') limits.push({ at: 0, value: event.data.rules.pacing.maxConcurrentCalls });
    if (event.type === 'campaign.adjusted' && event.data.to.maxConcurrentCalls != null)
      limits.push({ at, value: event.data.to.maxConcurrentCalls });
    if (event.type === 'round.started') begins.push({ at, value: at });
    if (event.type === 'account.pace') paces.push({ at, value: event.data.to });
  }
  return (at) => {
    const lines = lastBefore(limits, at) ?? rules.pacing.maxConcurrentCalls;
    const began = Math.max(lastBefore(begins, at) ?? at, rules.startsAt ?? 0);
    const { warmUpMs } = rules.pacing;
    const warm = warmUpMs === 0 ? lines : warmUpLines({ lines, warmUpMs, sinceMs: at - began });
    return atPace(warm, lastBefore(paces, at) ?? fullPace);
  };
}

interface Change {
  at: number;
  value: number;
}

function lastBefore(changes: readonly Change[], at: number): number | undefined {
  return changes.findLast((change) => change.at <= at)?.value;
}

/** `toAt`: null while paused. */
function pausesOf(marks: readonly CampaignEvent[]) {
  const pauses: { fromAt: number; toAt: number | null; reason: string | null }[] = [];
  for (const event of marks) {
    if (event.type !== 'campaign.state') continue;
    const last = pauses.at(-1);
    if (last?.toAt === null) last.toAt = event.at;
    if (event.data.to === 'paused') pauses.push({ fromAt: event.at, toAt: null, reason: event.data.reason });
  }
  return pauses;
}
