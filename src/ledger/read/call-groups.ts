import { sql, type RawBuilder } from 'kysely';
import { isAnswered } from '../../rules/disposition.ts';
import { requestedAttemptStates } from '../../rules/ledger.ts';
import { sqlStates } from '../parts.ts';
import { isPostgres, type Queries } from '../tx.ts';

/** Ways in which calls can be told apart from the ledger's rows. */
export type CallDimension = 'attempt' | 'time' | 'zone' | 'caller';

/** Calls that are alike in every dimension that was asked for. */
export type CallGroup = Awaited<ReturnType<typeof groupCalls>>[number];

/** Every offset from UTC is a whole number of these, so one lies within a single hour wherever the recipient is. */
const quarterMs = 15 * 60_000;

/** Of attempts `a`, those whose call was placed, or may have been: the service refused none of them (see `callsAmong`). */
export function sqlPlaced(campaignId: string): RawBuilder<boolean> {
  return sql`a.campaign_id = ${campaignId} and a.state in (${sqlStates(requestedAttemptStates)}) and a.posted_at is not null
    and (a.disposition is null or a.disposition <> 'invalid_number')`;
}

/** How long the call of a record `c` was; null where the record does not tell. */
function sqlDurationMs(db: Queries): RawBuilder<number | null> {
  return sql.raw(isPostgres(db) ? `(c.facts::json ->> 'durationMs')::double precision` : `json_extract(c.facts, '$.durationMs')`);
}

/** Counted by the database: a million attempts come back as a few thousand groups. Only the dimensions asked for divide them. */
export async function groupCalls({ db }: { db: Queries }, campaignId: string, dimensions: readonly CallDimension[]) {
  const byTime = dimensions.includes('time');
  const byCaller = dimensions.includes('caller');
  const byZone = byTime || dimensions.includes('zone');
  const byAttempt = dimensions.includes('attempt');
  const attempt = byAttempt ? sql.ref('a.nth') : sql.raw('null');
  const zones = byZone ? sql.ref('r.zones') : sql.raw('null');
  const caller = byCaller ? sql.ref('b.caller') : sql.raw('null');
  const quarter = byTime ? sql`a.posted_at / ${sql.lit(quarterMs)}` : sql.raw('null');
  const durationMs = sqlDurationMs(db);
  const divided = [
    sql.ref('a.disposition'),
    ...(byAttempt ? [attempt] : []),
    ...(byZone ? [zones] : []),
    ...(byTime ? [quarter] : []),
    ...(byCaller ? [caller] : []),
  ];
  const { rows } = await sql<{
    attempt: number | null;
    caller: string | null;
    zones: string | null;
    quarter: number | null;
    disposition: string | null;
    calls: number;
    recorded: number;
    timed: number;
    talk_ms: number | null;
  }>`
    select a.disposition as disposition, ${attempt} as attempt, ${caller} as caller, ${zones} as zones, ${quarter} as quarter,
      count(*) as calls, count(c.attempt_id) as recorded, count(${durationMs}) as timed, sum(${durationMs}) as talk_ms
    from (
      select a.* ${byAttempt ? sql`, row_number() over (partition by a.recipient_id order by a.number) as nth` : sql``}
      from attempts a where ${sqlPlaced(campaignId)}) a
    ${byZone ? sql`join recipients r on r.recipient_id = a.recipient_id` : sql``}
    ${byCaller ? sql`join batches b on b.batch_id = a.batch_id` : sql``}
    left join conversations c on c.attempt_id = a.attempt_id
    group by ${sql.join(divided)}`.execute(db);
  return rows.map((row) => ({
    /** The how manieth call to its recipient it was, from 1: attempts that came to no call are left out. Null when not asked for. */
    attempt: row.attempt,
    /** Id of the number that called; null when not asked for. */
    caller: row.caller,
    /** Zones that the recipient may be in, first the likeliest; null when not asked for. */
    zones: row.zones === null ? null : (JSON.parse(row.zones) as string[]),
    /** Begin of the quarter of an hour of the dial, service time; null when not asked for. */
    quarterAt: row.quarter === null ? null : row.quarter * quarterMs,
    /** Null while the call is open. */
    disposition: row.disposition,
    calls: row.calls,
    /** Calls that have a record, those of them whose record has a duration, and how long these were together. */
    recorded: row.recorded,
    timedCalls: row.timed,
    talkMs: Math.round(row.talk_ms ?? 0),
  }));
}

/** Fewer calls say nothing about those to come. */
export const fewestCalls = 30;
const mostCalls = 200;

/** The mean length of the newest calls that a person answered; null where fewer than a few are known. */
export async function readTalkMs(db: Queries, campaignId: string): Promise<number | null> {
  const { rows } = await sql<{ calls: number; talk_ms: number | null }>`
    select count(talk_ms) as calls, avg(talk_ms) as talk_ms from (
      select ${sqlDurationMs(db)} as talk_ms from attempts a join conversations c on c.attempt_id = a.attempt_id
      where a.campaign_id = ${campaignId} and a.disposition = 'answered' order by a.settled_at desc
      limit ${sql.lit(mostCalls)}) newest`.execute(db);
  const [row] = rows;
  return row?.talk_ms == null || row.calls < fewestCalls ? null : Math.max(1_000, Math.round(row.talk_ms));
}

/** How long people have talked in all calls of a campaign, and how long calls were on the line, voicemail too; walks through them. */
export async function readTalkTotal(db: Queries, campaignId: string): Promise<{ calls: number; talkMs: number; lineMs: number }> {
  const total = { calls: 0, talkMs: 0, lineMs: 0 };
  for (const { disposition, recorded, talkMs } of await groupCalls({ db }, campaignId, [])) {
    total.lineMs += talkMs;
    if (!isAnswered(disposition)) continue;
    total.calls += recorded;
    total.talkMs += talkMs;
  }
  return total;
}
