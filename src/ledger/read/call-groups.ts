import { sql, type RawBuilder } from 'kysely';
import { isAnswered } from '../../rules/disposition.ts';
import { requestedAttemptStates } from '../../rules/ledger.ts';
import { sqlStates } from '../parts.ts';
import { isPostgres, type Queries } from '../tx.ts';

export type CallDimension = 'attempt' | 'time' | 'zone' | 'caller';

/** Calls alike in every requested dimension; null in the others. */
export interface CallGroup {
  /** Null while the call is open. */
  disposition: string | null;
  /** Ordinal among the recipient's calls, from 1; attempts without a call do not count. */
  attempt: number | null;
  /** Possible zones of the recipient, likeliest first. */
  zones: string[] | null;
  /** Start of the dial's quarter hour, service time. */
  quarterAt: number | null;
  /** Id of the calling number. */
  caller: string | null;
  calls: number;
  /** Calls with a record; of these, those with a duration, and its sum. */
  recorded: number;
  timedCalls: number;
  talkMs: number;
}

/** Every UTC offset is a multiple of this, so a quarter lies within one local hour. */
const quarterMs = 15 * 60_000;

/** Attempts `a` whose call may have been placed and was not refused (see `callsAmong`). */
export function sqlPlaced(campaignId: string): RawBuilder<boolean> {
  return sql`a.campaign_id = ${campaignId} and a.state in (${sqlStates(requestedAttemptStates)}) and a.posted_at is not null
    and (a.disposition is null or a.disposition <> 'invalid_number')`;
}

/** Duration of the call of record `c`; null: not recorded. */
function sqlDurationMs(db: Queries): RawBuilder<number | null> {
  return sql.raw(isPostgres(db) ? `(c.facts::json ->> 'durationMs')::double precision` : `json_extract(c.facts, '$.durationMs')`);
}

/** Grouped by the database: a million attempts become a few thousand groups. */
export async function groupCalls({ db }: { db: Queries }, campaignId: string, dimensions: readonly CallDimension[]): Promise<CallGroup[]> {
  const [byTime, byCaller, byAttempt] = (['time', 'caller', 'attempt'] as const).map((each) => dimensions.includes(each));
  const byZone = byTime || dimensions.includes('zone');
  const quarter = sql.lit(quarterMs);
  const columns = Object.entries({
    disposition: sql`a.disposition`,
    attempt: byAttempt ? sql`a.nth` : null,
    zones: byZone ? sql`r.zones` : null,
    quarterAt: byTime ? sql`a.posted_at / ${quarter} * ${quarter}` : null,
    caller: byCaller ? sql`b.caller` : null,
  });
  const shown = columns.map(([name, column]) => sql`${column ?? sql`null`} as ${sql.ref(name)}`);
  const durationMs = sqlDurationMs(db);
  const { rows } = await sql<Omit<CallGroup, 'zones' | 'talkMs'> & { zones: string | null; talk_ms: number | null }>`
    select ${sql.join(shown)}, count(*) as calls, count(c.attempt_id) as recorded,
      count(${durationMs}) as "timedCalls", sum(${durationMs}) as talk_ms
    from (
      select a.* ${byAttempt ? sql`, row_number() over (partition by a.recipient_id order by a.number) as nth` : sql``}
      from attempts a where ${sqlPlaced(campaignId)}) a
    ${byZone ? sql`join recipients r on r.recipient_id = a.recipient_id` : sql``}
    ${byCaller ? sql`join batches b on b.batch_id = a.batch_id` : sql``}
    left join conversations c on c.attempt_id = a.attempt_id
    group by ${sql.join(columns.flatMap(([, column]) => column ?? []))}`.execute(db);
  return rows.map(({ zones, talk_ms: talkMs, ...group }) => ({
    ...group,
    zones: zones === null ? null : (JSON.parse(zones) as string[]),
    talkMs: Math.round(talkMs ?? 0),
  }));
}

/** Fewer calls predict nothing. */
export const fewestCalls = 30;
const mostCalls = 200;

/** Mean length of the newest answered calls; null: fewer than `fewestCalls`. */
export async function readTalkMs(db: Queries, campaignId: string): Promise<number | null> {
  const { rows } = await sql<{ calls: number; talk_ms: number | null }>`
    select count(talk_ms) as calls, avg(talk_ms) as talk_ms from (
      select ${sqlDurationMs(db)} as talk_ms from attempts a join conversations c on c.attempt_id = a.attempt_id
      where a.campaign_id = ${campaignId} and a.disposition = 'answered' order by a.settled_at desc
      limit ${sql.lit(mostCalls)}) newest`.execute(db);
  const [row] = rows;
  return row?.talk_ms == null || row.calls < fewestCalls ? null : Math.max(1_000, Math.round(row.talk_ms));
}

/** Talk time of answered calls, and line time of all calls, voicemail included. Reads every call. */
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
