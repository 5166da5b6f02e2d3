import { sql } from 'kysely';
import type { ForecastGroup } from '../../rules/forecast/forecast.ts';
import { calendarsFor, lawFor } from '../../rules/hours/legal-hours.ts';
import { capsFor } from '../../rules/attempts/legal-caps.ts';
import { localDay } from '../../rules/hours/local-day.ts';
import { placeOf, sqlLaterTerm } from '../rows/row-terms.ts';
import type { Campaign } from '../rows/campaigns.ts';
import type { Queries } from '../tx.ts';
import { sqlDurationMs, sqlPlaced } from './call-groups.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export interface DueShades {
  now: number;
  hour: number;
  /** Of this day in the campaign's time zone, which is UTC where the file names none. */
  today: number;
  later: number;
}

/** Walks through the waiting rows of one index. */
export async function readDueShades(
  db: Queries,
  { campaignId, rules }: Pick<Campaign, 'campaignId' | 'rules'>,
  now: number,
): Promise<DueShades> {
  const hourEnds = now + hourMs;
  const dayEnds = Math.max(hourEnds, localDay(now, rules.list.fallbackTimezone ?? 'UTC')?.to ?? hourEnds);
  const { rows } = await sql<{ shade: keyof DueShades; rows: number }>`
    select case when due_at <= ${sql.lit(now)} then 'now' when due_at <= ${sql.lit(hourEnds)} then 'hour'
      when due_at < ${sql.lit(dayEnds)} then 'today' else 'later' end as shade, count(*) as rows
    from recipients where campaign_id = ${campaignId} and state = 'waiting' group by 1`.execute(db);
  const shades: DueShades = { now: 0, hour: 0, today: 0, later: 0 };
  for (const { shade, rows: count } of rows) shades[shade] = count;
  return shades;
}

/** Rows that are due between two of these from now on are due together, at the last one's time. */
const dueStepsMs = [0, 15 * minuteMs, hourMs, 4 * hourMs, 12 * hourMs, dayMs, 3 * dayMs, 7 * dayMs];

/** The waiting rows of a campaign in groups for a forecast, each with the attempts that were made. */
export async function readWaitingGroups(
  db: Queries,
  { campaignId, rules }: Pick<Campaign, 'campaignId' | 'rules'>,
  now: number,
): Promise<ForecastGroup[]> {
  const steps = dueStepsMs.map((ms, step) => sql`when due_at <= ${sql.lit(now + ms)} then ${sql.lit(step)}`);
  const { rows } = await sql<{
    zones: string;
    country: string | null;
    regions: string | null;
    hours: string | null;
    attempts: number;
    due_at: number;
    expires_at: number | null;
    rows: number;
  }>`
    select zones, country, regions, hours, counted as attempts, max(due_at) as due_at, min(expires_at) as expires_at, count(*) as rows
    from (select zones, country, regions, ${sqlLaterTerm(db, 'hours')} as hours, counted, due_at, expires_at, case ${sql.join(steps, sql` `)} else -1 end as step
      from recipients where campaign_id = ${campaignId} and state = 'waiting') waiting
    group by zones, country, regions, hours, counted, step, expires_at / ${sql.lit(hourMs)}`.execute(db);
  const groups = new Map<string, ForecastGroup>();
  for (const row of rows) {
    const laws = lawFor(rules, placeOf(row)).map(({ id }) => id);
    const notBefore = row.due_at > now ? row.due_at : null;
    const key = [row.zones, laws.join(), row.hours, row.attempts, notBefore, row.expires_at].join(' ');
    const known = groups.get(key);
    if (known !== undefined) {
      known.count += row.rows;
      continue;
    }
    groups.set(key, {
      count: row.rows,
      attempts: row.attempts,
      calendars: calendarsFor(rules, { ...placeOf(row), hours: row.hours }),
      zones: JSON.parse(row.zones) as string[],
      notBefore,
      expiresAt: row.expires_at,
      caps: capsFor(rules, placeOf(row)),
    });
  }
  return [...groups.values()];
}

/** The mean length of the newest calls that a person answered; null where fewer than a few are known. */
export async function readTalkMs(db: Queries, campaignId: string): Promise<number | null> {
  const durationMs = sqlDurationMs(db);
  const { rows } = await sql<{ calls: number; talk_ms: number | null }>`
    select count(talk_ms) as calls, avg(talk_ms) as talk_ms from (
      select ${durationMs} as talk_ms from attempts a join conversations c on c.attempt_id = a.attempt_id
      where a.campaign_id = ${campaignId} and a.disposition = 'answered' order by a.settled_at desc
      limit ${sql.lit(mostCalls)}) newest`.execute(db);
  const [row] = rows;
  return row?.talk_ms == null || row.calls < fewestCalls ? null : Math.max(1_000, Math.round(row.talk_ms));
}

/** How long people have talked in all calls of a campaign, and how long calls were on the line, voicemail too; walks through them. */
export async function readTalkTotal(db: Queries, campaignId: string): Promise<{ calls: number; talkMs: number; lineMs: number }> {
  const durationMs = sqlDurationMs(db);
  const { rows } = await sql<{ talked: number; calls: number; line_ms: number | null }>`
    select case when a.disposition in ('answered', 'opted_out') then 1 else 0 end as talked, count(*) as calls, sum(${durationMs}) as line_ms
    from attempts a join conversations c on c.attempt_id = a.attempt_id where ${sqlPlaced(campaignId)} group by 1`.execute(db);
  const talks = rows.find(({ talked }) => talked === 1);
  return { calls: talks?.calls ?? 0, talkMs: talks?.line_ms ?? 0, lineMs: rows.reduce((sum, row) => sum + (row.line_ms ?? 0), 0) };
}

const mostCalls = 200;
/** Fewer calls say nothing about those to come. */
export const fewestCalls = 30;
