import { sqlStates } from '../parts.ts';
import { requestedAttemptStates } from '../../rules/ledger.ts';
import { sql, type RawBuilder } from 'kysely';
import { isPostgres, type Queries, type Store } from '../tx.ts';

/** Ways in which calls can be told apart from the ledger's rows. */
export type CallDimension = 'attempt' | 'time' | 'zone' | 'caller';

/** Calls that are alike in every dimension that was asked for. */
export interface CallGroup {
  /** The how manieth call to its recipient it was, from 1: attempts that came to no call are left out. Null when not asked for. */
  attempt: number | null;
  /** Id of the number that called; null when not asked for. */
  caller: string | null;
  /** Zones that the recipient may be in, first the likeliest; null when not asked for. */
  zones: string[] | null;
  /** Begin of the quarter of an hour of the dial, service time; null when not asked for. */
  quarterAt: number | null;
  /** Null while the call is open. */
  disposition: string | null;
  calls: number;
  /** Calls whose record has a duration, and how long these were together. */
  timedCalls: number;
  talkMs: number;
}

/** Every offset from UTC is a whole number of these, so one lies within a single hour wherever the recipient is. */
const quarterMs = 15 * 60_000;

/** Of attempts `a`, those whose call was placed, or may have been: the service refused none of them (see `callsAmong`). */
export function sqlPlaced(campaignId: string): RawBuilder<boolean> {
  return sql`a.campaign_id = ${campaignId} and a.state in (${sqlStates(requestedAttemptStates)}) and a.posted_at is not null
    and (a.disposition is null or a.disposition <> 'invalid_number')`;
}

/** How long the call of a record `c` was; null where the record does not tell. */
export function sqlDurationMs(db: Queries): RawBuilder<number | null> {
  return sql.raw(isPostgres(db) ? `(c.facts::json ->> 'durationMs')::double precision` : `json_extract(c.facts, '$.durationMs')`);
}

/** Counted by the database: a million attempts come back as a few thousand groups. Only the dimensions asked for divide them. */
export async function groupCalls(
  store: Pick<Store, 'db' | 'dialect'>,
  campaignId: string,
  dimensions: readonly CallDimension[],
): Promise<CallGroup[]> {
  const byTime = dimensions.includes('time');
  const byCaller = dimensions.includes('caller');
  const byZone = byTime || dimensions.includes('zone');
  const byAttempt = dimensions.includes('attempt');
  const attempt = byAttempt ? sql.ref('a.nth') : sql.raw('null');
  const zones = byZone ? sql.ref('r.zones') : sql.raw('null');
  const caller = byCaller ? sql.ref('b.caller') : sql.raw('null');
  const quarter = byTime ? sql`a.posted_at / ${sql.lit(quarterMs)}` : sql.raw('null');
  const durationMs = sqlDurationMs(store.db);
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
    timed: number;
    talk_ms: number | null;
  }>`
    select a.disposition as disposition, ${attempt} as attempt, ${caller} as caller, ${zones} as zones, ${quarter} as quarter,
      count(*) as calls, count(${durationMs}) as timed, sum(${durationMs}) as talk_ms
    from (
      select a.* ${byAttempt ? sql`, row_number() over (partition by a.recipient_id order by a.number) as nth` : sql``}
      from attempts a where ${sqlPlaced(campaignId)}) a
    ${byZone ? sql`join recipients r on r.recipient_id = a.recipient_id` : sql``}
    ${byCaller ? sql`join batches b on b.batch_id = a.batch_id` : sql``}
    left join conversations c on c.attempt_id = a.attempt_id
    group by ${sql.join(divided)}`.execute(store.db);
  return rows.map((row) => ({
    attempt: row.attempt,
    caller: row.caller,
    zones: row.zones === null ? null : (JSON.parse(row.zones) as string[]),
    quarterAt: row.quarter === null ? null : row.quarter * quarterMs,
    disposition: row.disposition,
    calls: row.calls,
    timedCalls: row.timed,
    talkMs: Math.round(row.talk_ms ?? 0),
  }));
}
