import { sqlStates } from '../parts.ts';
import { settleFromRecord } from './record-results.ts';
import { callingAttemptStates, openAttemptStates, requestedAttemptStates } from '../../rules/ledger.ts';
import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import { correlate, type ConversationMatch, type CorrelationAttempt, type CorrelationClock } from '../../rules/correlation/correlation.ts';
import { sql } from 'kysely';
import { correlationOf, lookAheadOf, readAgent, readBatches, type Timing, readPostBounds } from '../doubt/correlation-rows.ts';
import { appendEvents } from '../events.ts';
import { prepared } from '../prepared.ts';
import { findBatch } from '../reads.ts';
import type { Queries, Tx } from '../tx.ts';
import { liftPossibleOptOuts } from '../doubt/possible-opt-outs.ts';
import { settleAsUnknown } from '../rows/settle.ts';
import { Overtaken } from '../transaction.ts';
import { confirmBatch } from '../dial/verdicts.ts';
import { updateAttempt, updateBatch, updateConversation } from '../updates.ts';
import type { AttemptRow, ConversationRow } from '../schema.ts';

/** Records may start this long before the oldest unmatched POST; correlation itself is exact. */
const lookBackMs = 10 * 60_000;

/** Cap on the learnt delay. */
const longestDelayMs = 24 * 3_600_000;

interface CandidateRow extends AttemptRow {
  superseded_at: number | null;
}

/** Posted, then given back or to be resent since the service denied the request; a record may contradict that. */
const wasDenied = sql<boolean>`a.state in ('planned', 'released') and a.posted_at is not null and exists (
  select 1 from posts where posts.batch_id = a.batch_id and (posts.absent_at is not null
    or (posts.status is not null and posts.verdict in ('not_sent', 'refused'))))`;

/**
 * Attempts that may own an unowned record: open, without a record, or denied. Others with the same number or line keep weak evidence
 * ambiguous.
 */
async function findCandidates(tx: Tx, agentId: string, since: number): Promise<CandidateRow[]> {
  const { rows } = await sql<CandidateRow>`
    with unowned as (
      select a.attempt_id, a.e164, a.opening_line from attempts a
      where a.agent_id = ${agentId} and a.posted_at >= ${since} and a.conversation_id is null
        and (a.state in (${sqlStates(callingAttemptStates)}) or (a.state = 'settled' and a.disposition in ('unreached', 'unknown')) or (${wasDenied})))
    select a.*,
      (select min(later.posted_at) from attempts later
        where later.e164 = a.e164 and later.posted_at > a.posted_at and later.state in (${sqlStates(requestedAttemptStates)})) as superseded_at
    from attempts a
    where a.agent_id = ${agentId} and a.posted_at >= ${since}
      and (a.attempt_id in (select attempt_id from unowned)
        or (a.conversation_id is not null and (a.e164 in (select e164 from unowned) or a.opening_line in (select opening_line from unowned))))`.execute(
    tx,
  );
  return rows;
}

/** First POST among open calls without a record; null: none. */
export async function oldestOpenPost(db: Queries, agentId: string): Promise<number | null> {
  const row = await db
    .selectFrom('attempts')
    .select((eb) => eb.fn.min('posted_at').as('oldest'))
    .where('agent_id', '=', agentId)
    .where('state', 'in', openAttemptStates)
    .where('conversation_id', 'is', null)
    .executeTakeFirst();
  return row?.oldest ?? null;
}

/** Start of the agent's oldest campaign that runs or ended since `since`; null: none. Older records do not matter. */
export async function oldestCampaignStart(db: Queries, agentId: string, since: number): Promise<number | null> {
  const row = await db
    .selectFrom('rounds')
    .innerJoin('campaigns', 'campaigns.campaign_id', 'rounds.campaign_id')
    .innerJoin('rounds as first', 'first.campaign_id', 'campaigns.campaign_id')
    .select((eb) => eb.fn.min('first.started_at').as('oldest'))
    .where('campaigns.agent_id', '=', agentId)
    .where('first.round', '=', 1)
    .where((eb) => eb.or([eb('rounds.ended_at', 'is', null), eb('rounds.ended_at', '>=', since)]))
    .executeTakeFirst();
  return row?.oldest ?? null;
}

async function toCorrelation(
  tx: Tx,
  candidates: readonly CandidateRow[],
  { lookAheadMs, offsetMs, timing }: { lookAheadMs: number; offsetMs: number; timing: Timing },
): Promise<CorrelationAttempt[]> {
  const batchIds = [...new Set(candidates.map((row) => row.batch_id))];
  const bounds = await readPostBounds(tx, batchIds, timing);
  const batches = await readBatches(tx, batchIds);
  return candidates.map((row) => {
    const posted = (row.posted_at ?? 0) + offsetMs;
    const own = bounds.get(row.batch_id) ?? { from: posted, to: posted, clocked: false };
    const supersededAt = row.superseded_at === null ? null : row.superseded_at + offsetMs;
    const batch = batches.get(row.batch_id) ?? { serviceBatchId: null, template: null, namedOnly: false, reported: false };
    // While a report or look-up may still name its record, nothing weaker counts.
    const namedOnly = batch.namedOnly || (batch.reported && row.state !== 'settled');
    const attempt = correlationOf(row, own, { ...batch, namedOnly, supersededAt, lookAheadMs, timing });
    // Weak evidence needs a nearly exact time; the tolerance only keeps records possible.
    return own.clocked ? attempt : { ...attempt, postedAt: posted };
  });
}

interface Match {
  conversationId: string;
  attemptId: string;
  /** `person`: assigned by an operator; `report`: named by the report, not by the record. */
  evidence: ConversationMatch['evidence'] | 'person' | 'report';
  now: number;
}

const claimRecord = prepared((tx: Tx, { conversationId, attemptId }: { conversationId: string; attemptId: string }) =>
  tx
    .updateTable('conversations')
    .set({ attempt_id: attemptId })
    .where('conversation_id', '=', conversationId)
    .where('attempt_id', 'is', null)
    .returningAll(),
);

const giveRecord = prepared(
  (
    tx: Tx,
    { conversationId, attemptId, evidence, rangAt }: Pick<Match, 'conversationId' | 'attemptId' | 'evidence'> & { rangAt: number | null },
  ) =>
    tx
      .updateTable('attempts')
      .set({ conversation_id: conversationId, evidence, rang_at: rangAt, candidates: null })
      .where('attempt_id', '=', attemptId)
      .returningAll(),
);

export const proveCampaign = prepared((tx: Tx, { campaignId }: { campaignId: string }) =>
  tx
    .updateTable('campaigns')
    .set({ caller_proven: 1, record_shown: 1 })
    .where('campaign_id', '=', campaignId)
    .where((eb) => eb.or([eb('caller_proven', '=', 0), eb('record_shown', '=', 0)])),
);

/** Assigns a record to an attempt and settles from it; false: it already has an owner. */
async function storeMatch(tx: Tx, { conversationId, attemptId, evidence, now }: Match): Promise<boolean> {
  // The row as claimed: another process may have read the record to its end meanwhile.
  const [record] = (await claimRecord(tx, { conversationId, attemptId })).rows;
  if (record === undefined) return false;
  const claimed = { conversationId, attemptId, evidence, rangAt: record.started_at };
  const [attempt] = (await giveRecord(tx, claimed)).rows;
  if (attempt === undefined) throw new Error('the attempt that is to own a record is not in the database');
  const { batch_id: batchId, campaign_id: campaignId, recipient_id: recipientId } = attempt;
  const batch = await findBatch(tx, batchId);
  if (batch === undefined) throw new Error('the batch of an attempt is not in the database');
  await confirmBatch(tx, batch, { acceptedBy: 'evidence', now });
  await updateBatch(tx, batchId, { progress_at: now });
  await proveCampaign(tx, { campaignId });
  const by = evidence === 'person' ? ({ by: 'person' } as const) : {};
  const data = { conversation: conversationId, evidence, ...by };
  await appendEvents(tx, [{ at: now, campaignId, type: 'attempt.matched', recipientId, attemptId, batchId, data }]);
  await noteDelay(tx, attempt, record);
  if (attempt.state === 'released') await takeAsPlaced(tx, attempt, now);
  if (record.heard > 0) await liftPossibleOptOuts(tx, attempt, { conversationId, now });
  await settleFromRecord(tx, record, { now, becameFinal: true });
  return true;
}

/** Learns how long after its POST a call may begin. */
async function noteDelay(tx: Tx, attempt: AttemptRow, record: ConversationRow): Promise<void> {
  if (record.started_at === null || attempt.posted_at === null) return;
  const delayMs = Math.min(record.started_at - attempt.posted_at, longestDelayMs);
  await lengthenDelay(tx, { agentId: attempt.agent_id, delayMs });
}

const lengthenDelay = prepared((tx: Tx, { agentId, delayMs }: { agentId: string; delayMs: number }) =>
  tx.updateTable('agents').set({ longest_delay_ms: delayMs }).where('agent_id', '=', agentId).where('longest_delay_ms', '<', delayMs),
);

/** A record shows a denied call: it was placed and is not repeated. */
async function takeAsPlaced(tx: Tx, attempt: AttemptRow, now: number): Promise<void> {
  const { attempt_id: attemptId, campaign_id: campaignId } = attempt;
  await updateAttempt(tx, attemptId, { state: 'settled', reason: null, settled_at: now });
  await settleAsUnknown(tx, { campaignId, now }, { attemptIds: [attemptId], detail: 'denied' });
}

/** No process returns to a final record: it settles its attempt now, or is read if unfinished. */
async function settleLeftOpen(tx: Tx, agentId: string, now: number): Promise<void> {
  const left = await tx
    .selectFrom('attempts')
    .innerJoin('conversations', 'conversations.conversation_id', 'attempts.conversation_id')
    .selectAll('conversations')
    .where('attempts.agent_id', '=', agentId)
    .where('attempts.state', 'in', callingAttemptStates)
    .where('conversations.final', '=', 1)
    .execute();
  for (const row of left) {
    if (row.finished === 1) await settleFromRecord(tx, row, { now, becameFinal: true });
    else await updateConversation(tx, row.conversation_id, { final: 0, next_read_at: now });
  }
}

interface Matching {
  clock: CorrelationClock;
  since: number;
  timing: Timing;
  now: number;
}

/** Matches unowned records to attempts and settles what is finished, in the caller's transaction. */
export async function matchRecords(tx: Tx, agentId: string, { clock, since, timing, now }: Matching): Promise<number> {
  await settleLeftOpen(tx, agentId, now);
  const candidates = await findCandidates(tx, agentId, since);
  if (candidates.every((row) => row.conversation_id !== null)) return 0;
  const lookAheadMs = lookAheadOf(await readAgent(tx, agentId), timing);
  const attempts = await toCorrelation(tx, candidates, { lookAheadMs, offsetMs: clock.offsetMs, timing });
  const oldest = Math.min(...attempts.map((attempt) => attempt.postedAt)) - lookBackMs - timing.clockToleranceMs;
  const rows = await tx
    .selectFrom('conversations')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('attempt_id', 'is', null)
    // A reported record belongs to its call regardless of clocks.
    .where((eb) => eb.or([eb('started_at', 'is', null), eb('started_at', '>=', oldest), eb('facts', 'like', '%"reported":%')]))
    .execute();
  const records = rows.flatMap((row) => {
    const facts = JSON.parse(row.facts) as ConversationFacts;
    // The record may contradict its report.
    const isHearsay = facts.reported !== undefined && row.reads === 0 && row.gone === 0;
    return isHearsay ? [] : [{ ...facts, agentId: facts.agentId ?? row.agent_id }];
  });
  const matches = correlate(attempts, records, { offsetMs: 0, uncertaintyMs: clock.uncertaintyMs });
  const reportedOnlyIds = new Set(records.flatMap(({ conversationId, reported }) => (reported === 'alone' ? [conversationId] : [])));
  for (const match of matches)
    await storeMatch(tx, { ...match, ...(reportedOnlyIds.has(match.conversationId) ? { evidence: 'report' as const } : {}), now });
  return matches.length;
}

/** Assigns an unowned record as an operator decided, and settles. Throws Overtaken when it has an owner. */
export async function assignRecord(tx: Tx, match: Omit<Match, 'evidence'>): Promise<void> {
  if (!(await storeMatch(tx, { ...match, evidence: 'person' }))) throw new Overtaken('The record has got an owner.');
}
