import { sqlStates } from '../parts.ts';
import { sql } from 'kysely';
import { openAttemptStates, requestedAttemptStates, undecidedStates, type AttemptState, type BatchState } from '../../rules/ledger.ts';
import { clockToleranceMs } from '../../rules/correlation/evidence.ts';
import { countRows } from '../reads.ts';
import type { At, Queries } from '../tx.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { refusedInBatch } from '../rows/release.ts';
import { hasFreeWords, readWordsKept } from '../doubt/shared-words.ts';

/** Recipients per planning transaction; more than a batch, since many may be deferred. */
export const candidatesPerPass = 1000;

const openBatchStates: readonly BatchState[] = ['posting', 'not_sent', 'unknown'];

export interface Outstanding {
  /** Attempts that hold a slot: planned, posting or open. */
  open: number;
  /** Conversations of the campaign's attempts not yet read to the end. */
  unread: number;
  /** Unsettled batches (posting, not sent or unknown), plus one while a redial waits for a sweep. */
  undecided: number;
}

/** Attempts that hold a slot. Attempts of a held batch are settled and hold none. */
export async function countOpen(db: Queries, campaignId: string): Promise<number> {
  return countAttempts(db, campaignId, openAttemptStates);
}

/** Open attempts whose batch was not sent yet, or came back unsent. */
export async function countPlanned(db: Queries, campaignId: string): Promise<number> {
  return countAttempts(db, campaignId, ['planned']);
}

async function countAttempts(db: Queries, campaignId: string, states: readonly AttemptState[]): Promise<number> {
  return countRows(db.selectFrom('attempts').where('campaign_id', '=', campaignId).where('state', 'in', states));
}

/**
 * Attempts that hold a slot, minus those a record or report shows over by `now`. Unread records count only if none can be another
 * campaign's.
 */
export async function countOnLine(
  db: Queries,
  { campaignId, agentId, now }: { campaignId: string; agentId: string; now: number },
): Promise<number> {
  const { rows } = await sql<{
    open: number;
    owned_over: number;
    missing: number;
    all_missing: number;
    since: number | null;
  }>`
    select
      count(case when attempts.campaign_id = ${campaignId} then 1 end) as open,
      count(case when attempts.campaign_id = ${campaignId} and (conversations.finished_at <= ${now} or attempts.over_at <= ${now}) then 1 end) as owned_over,
      count(case when attempts.campaign_id = ${campaignId} and attempts.state = 'open' and attempts.conversation_id is null
        and attempts.over_at is null then 1 end) as missing,
      count(case when attempts.agent_id = ${agentId} and attempts.state <> 'planned' and attempts.conversation_id is null then 1 end) as all_missing,
      min(case when attempts.campaign_id = ${campaignId} and attempts.conversation_id is null then attempts.posted_at end) as since
    from attempts left join conversations on conversations.attempt_id = attempts.attempt_id
    where attempts.state in (${sqlStates(openAttemptStates)})`.execute(db);
  const [counts] = rows;
  if (counts === undefined) return 0;
  const { open, owned_over: ownedOver, missing, all_missing: allMissing, since } = counts;
  if (missing === 0 || allMissing !== missing || since === null) return open - ownedOver;
  const records = await db
    .selectFrom('conversations')
    .select((eb) => [
      eb.fn.countAll<number>().as('count'),
      eb.fn.count<number>(eb.case().when('finished_at', '<=', now).then(1).end()).as('over'),
    ])
    .where('agent_id', '=', agentId)
    .where('final', '=', 0)
    .where('attempt_id', 'is', null)
    .where('started_at', '>=', since - clockToleranceMs)
    .executeTakeFirstOrThrow();
  return open - ownedOver - (records.count <= missing ? records.over : 0);
}

export async function countOutstanding(db: Queries, campaignId: string): Promise<Outstanding> {
  const open = await countOpen(db, campaignId);
  // From the few unread records, not from all attempts of the campaign.
  const unread = await sql<{ count: number }>`
    select count(*) as count from conversations
    where final = 0 and attempt_id is not null and exists (
      select 1 from attempts where attempts.attempt_id = conversations.attempt_id and attempts.campaign_id = ${campaignId})`.execute(db);
  const ofCampaign = db.selectFrom('batches').where('campaign_id', '=', campaignId);
  const undecided = await countRows(ofCampaign.where('state', 'in', openBatchStates));
  const awaited = await db.selectFrom('campaigns').select('sweep_back_to').where('campaign_id', '=', campaignId).executeTakeFirst();
  const sweeps = awaited?.sweep_back_to == null ? 0 : 1;
  return { open, unread: unread.rows[0]?.count ?? 0, undecided: undecided + sweeps };
}

export function isOutstanding(counts: Outstanding): boolean {
  return counts.open + counts.unread + counts.undecided > 0;
}

/** `beingSubmitted`: a batch has no verdict yet. `halvesWait`: halves of a refused batch wait for the planner. */
export async function readUnsubmitted(db: Queries, campaignId: string): Promise<{ beingSubmitted: boolean; halvesWait: boolean }> {
  const rows = await db
    .selectFrom('batches')
    .select('state')
    .select(
      sql<number>`case when state = 'intent' and first_submit_at is null and exists (
        select 1 from attempts join attempts earlier on earlier.recipient_id = attempts.recipient_id
          and earlier.number = attempts.number - 1 and earlier.reason = ${refusedInBatch}
        where attempts.batch_id = batches.batch_id) then 1 else 0 end`.as('half'),
    )
    .where('campaign_id', '=', campaignId)
    .where('state', 'in', undecidedStates)
    .execute();
  return { beingSubmitted: rows.some(({ half }) => half === 0), halvesWait: rows.some(({ half }) => half === 1) };
}

/** Calls started within `withinMs` before `now`; default: one minute. */
export async function countStarts(
  db: Queries,
  { campaignId, now }: At,
  withinMs = 60_000,
): Promise<{ count: number; oldest: number | null }> {
  const row = await db
    .selectFrom('attempts')
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.min('posted_at').as('oldest')])
    .where('campaign_id', '=', campaignId)
    .where('state', 'in', requestedAttemptStates)
    .where('posted_at', '>', now - withinMs)
    .executeTakeFirstOrThrow();
  return { count: row.count, oldest: row.oldest };
}

export async function nextDueAt(db: Queries, campaignId: string): Promise<number | null> {
  const instants = (await readRanks(db, campaignId)).map((rank) => rank.due_at);
  return instants.length === 0 ? null : Math.min(...instants);
}

/** Like `nextDueAt`, for rows that may be called before the pilot is decided. */
export async function nextDialableAt(db: Queries, campaign: Pick<Campaign, 'campaignId' | 'pilot'>): Promise<number | null> {
  const instants = (await readDialableRanks(db, campaign)).map((rank) => rank.due_at);
  return instants.length === 0 ? null : Math.min(...instants);
}

/** Rows callable during a pilot: first calls of its sample, and callbacks to recipients called before. */
function inSample(sample: number) {
  return sql<boolean>`((called = 0 and sample = ${sample}) or (called = 1 and promise_id is not null))`;
}

async function readDialableRanks(db: Queries, { campaignId, pilot }: Pick<Campaign, 'campaignId' | 'pilot'>): ReturnType<typeof readRanks> {
  if (pilot?.state === 'asked') return [];
  if (pilot?.state !== 'calling') return readRanks(db, campaignId);
  const { rows } = await sql<{ rank: number; due_at: number }>`
    select rank, min(due_at) as due_at from recipients
    where campaign_id = ${campaignId} and state = 'waiting' and ${inSample(pilot.sample)} group by rank order by rank`.execute(db);
  return rows;
}

/** Ranks of waiting rows, lowest first, with their earliest due time: a few index steps, however many rows wait. */
async function readRanks(db: Queries, campaignId: string): Promise<{ rank: number; due_at: number }[]> {
  const waiting = sql`from recipients where campaign_id = ${campaignId} and state = 'waiting'`;
  const { rows } = await sql<{ rank: number; due_at: number }>`
    with recursive ranks(rank) as (
      select min(rank) ${waiting}
      union all select (select min(recipients.rank) ${waiting} and recipients.rank > ranks.rank) from ranks where rank is not null)
    select rank, (select min(due_at) ${waiting} and recipients.rank = ranks.rank) as due_at
    from ranks where rank is not null order by rank`.execute(db);
  return rows;
}

export async function dueRanks(db: Queries, campaign: Pick<Campaign, 'campaignId' | 'pilot'>, now: number): Promise<number[]> {
  return (await readDialableRanks(db, campaign)).flatMap(({ rank, due_at: dueAt }) => (dueAt <= now ? [rank] : []));
}

/** `wordsKept`: only rows whose opening words differ from every open call. */
export function dueRecipients(
  db: Queries,
  { campaignId, rules, pilot }: Pick<Campaign, 'campaignId' | 'rules' | 'pilot'>,
  { ranks, now, limit, wordsKept }: { ranks: readonly number[]; now: number; limit: number; wordsKept: boolean },
) {
  return db
    .selectFrom('recipients')
    .where('campaign_id', '=', campaignId)
    .where('state', '=', 'waiting')
    .where('rank', 'in', ranks)
    .where('due_at', '<=', now)
    .$if(pilot?.state === 'calling', (query) => query.where(inSample(pilot?.sample ?? 0)))
    .$if(wordsKept, (query) => query.where(hasFreeWords(rules.agentId)))
    .limit(limit);
}

/** Due recipients whose opening words are free, up to the limit of one planning pass. */
export async function countDialable(
  db: Queries,
  campaign: Pick<Campaign, 'campaignId' | 'rules' | 'api' | 'pilot'>,
  now: number,
): Promise<number> {
  return countDue(db, campaign, { now, wordsKept: await readWordsKept(db, campaign) });
}

export async function countDue(
  db: Queries,
  campaign: Pick<Campaign, 'campaignId' | 'rules' | 'pilot'>,
  options: { now: number; wordsKept: boolean },
): Promise<number> {
  const ranks = await dueRanks(db, campaign, options.now);
  if (ranks.length === 0) return 0;
  const row = await db
    .selectFrom(
      dueRecipients(db, campaign, { ...options, ranks, limit: candidatesPerPass })
        .select('recipient_id')
        .as('due'),
    )
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return row.count;
}

export async function isAnyoneDue(db: Queries, campaign: Campaign, now: number): Promise<boolean> {
  return (await dueRanks(db, campaign, now)).length > 0;
}
