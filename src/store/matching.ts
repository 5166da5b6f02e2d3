import { readRules, type CampaignRules } from '../domain/campaign-rules.ts';
import type { ConversationFacts } from '../domain/conversation-facts.ts';
import {
  correlate,
  type ConversationMatch,
  type CorrelationAttempt,
  type CorrelationClock,
} from '../domain/correlation.ts';
import { heardOptOut, readDisposition, ruledDisposition, type AttemptResult } from '../domain/disposition.ts';
import { sql } from 'kysely';
import { changeAggregates, groupsOf } from './aggregates.ts';
import type { ConversationRow } from './conversations.ts';
import { appendEvents } from './events.ts';
import { lockCampaign, type Queries, type Store } from './open-store.ts';
import { settleAttempts } from './settle.ts';
import { confirmBatch } from './verdicts.ts';

/** Records may start this much before the oldest unmatched POST and still be looked at; correlation itself is exact. */
const lookBeforeMs = 10 * 60_000;

interface CandidateRow {
  attempt_id: string;
  agent_id: string;
  e164: string;
  posted_at: number;
  superseded_at: number | null;
  service_batch_id: string | null;
  reference: string | null;
  opening_line: string | null;
  state: string;
  conversation_id: string | null;
}

/**
 * Attempts of the agent that may own a record nobody owns yet, over all campaigns: open ones, and ones settled without a record.
 * Attempts that have theirs come along where number or opening line is the same: they keep weak evidence from pointing at the
 * wrong one.
 */
async function findCandidates(tx: Queries, agentId: string, since: number): Promise<CandidateRow[]> {
  const { rows } = await sql<CandidateRow>`
    with unowned as (
      select attempt_id, e164, opening_line from attempts
      where agent_id = ${agentId} and posted_at >= ${since} and conversation_id is null
        and (state in ('posting', 'open') or (state = 'settled' and disposition in ('unreached', 'unknown'))))
    select a.attempt_id, a.agent_id, a.e164, a.posted_at, b.service_batch_id, a.reference, a.opening_line, a.state, a.conversation_id,
      (select min(later.posted_at) from attempts later
        where later.e164 = a.e164 and later.posted_at > a.posted_at and later.state in ('posting', 'open', 'settled')) as superseded_at
    from attempts a join batches b on b.batch_id = a.batch_id
    where a.agent_id = ${agentId} and a.posted_at >= ${since} and a.state in ('posting', 'open', 'settled')
      and (a.e164 in (select e164 from unowned) or a.opening_line in (select opening_line from unowned))`.execute(tx);
  return rows;
}

/** Earliest POST among attempts of the agent that may still get a record, or null; `openOnly` leaves out those settled without one. */
export async function oldestUnmatchedPost(
  tx: Queries,
  agentId: string,
  since: number,
  openOnly = false,
): Promise<number | null> {
  const row = await tx
    .selectFrom('attempts')
    .select((eb) => eb.fn.min('posted_at').as('oldest'))
    .where('agent_id', '=', agentId)
    .where('posted_at', '>=', since)
    .where('conversation_id', 'is', null)
    .where((eb) =>
      openOnly
        ? eb('state', 'in', ['planned', 'posting', 'open'])
        : eb.or([eb('state', 'in', ['planned', 'posting', 'open']), eb('disposition', 'in', ['unreached', 'unknown'])]),
    )
    .executeTakeFirst();
  return row?.oldest ?? null;
}

function toCorrelationAttempt(row: CandidateRow): CorrelationAttempt {
  return {
    attemptId: row.attempt_id,
    agentId: row.agent_id,
    e164: row.e164,
    postedAt: row.posted_at,
    supersededAt: row.superseded_at,
    serviceBatchId: row.service_batch_id,
    reference: row.reference,
    openingLine: row.opening_line,
    open: row.state !== 'settled',
    conversationId: row.conversation_id,
  };
}

async function storeMatch(tx: Queries, store: Store, match: ConversationMatch, now: number): Promise<void> {
  const claimed = await tx
    .updateTable('conversations')
    .set({ attempt_id: match.attemptId })
    .where('conversation_id', '=', match.conversationId)
    .where('attempt_id', 'is', null)
    .executeTakeFirst();
  if (claimed.numUpdatedRows !== 1n) return;
  const attempt = await tx
    .updateTable('attempts')
    .set({ conversation_id: match.conversationId, evidence: match.evidence })
    .where('attempt_id', '=', match.attemptId)
    .returning(['campaign_id', 'recipient_id', 'batch_id'])
    .executeTakeFirstOrThrow();
  const batch = await tx
    .selectFrom('batches')
    .selectAll()
    .where('batch_id', '=', attempt.batch_id)
    .executeTakeFirstOrThrow();
  await confirmBatch(tx, store, batch, { acceptedBy: 'evidence' }, now);
  await tx.updateTable('batches').set({ progress_at: now }).where('batch_id', '=', attempt.batch_id).execute();
  await tx
    .updateTable('campaigns')
    .set({ caller_proven: 1 })
    .where('campaign_id', '=', attempt.campaign_id)
    .where('caller_proven', '=', 0)
    .execute();
  await appendEvents(tx, [
    {
      at: now,
      campaignId: attempt.campaign_id,
      type: 'attempt.matched',
      recipientId: attempt.recipient_id,
      attemptId: match.attemptId,
      batchId: attempt.batch_id,
      data: { conversation: match.conversationId, evidence: match.evidence },
    },
  ]);
}

/** Finds which unowned records belong to which attempts, and settles what is finished. One transaction of the caller. */
export async function matchRecords(
  tx: Queries,
  store: Store,
  agentId: string,
  clock: CorrelationClock,
  since: number,
  now: number,
): Promise<number> {
  const candidates = await findCandidates(tx, agentId, since);
  if (candidates.every((row) => row.conversation_id !== null)) return 0;
  const oldest = Math.min(...candidates.map((row) => row.posted_at)) - lookBeforeMs - Math.abs(clock.offsetMs);
  const rows = await tx
    .selectFrom('conversations')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('attempt_id', 'is', null)
    .where((eb) => eb.or([eb('started_at', 'is', null), eb('started_at', '>=', oldest)]))
    .execute();
  const records = rows.map((row) => {
    const facts = JSON.parse(row.facts) as ConversationFacts;
    return { ...facts, agentId: facts.agentId ?? row.agent_id };
  });
  const matches = correlate(candidates.map(toCorrelationAttempt), records, clock);
  for (const match of matches) {
    await storeMatch(tx, store, match, now);
    const row = rows.find((conversation) => conversation.conversation_id === match.conversationId);
    if (row !== undefined) await settleFromRecord(tx, { ...row, attempt_id: match.attemptId }, now, true);
  }
  return matches.length;
}

/** Locks the campaign whose attempt owns a record: its results and its campaign's dialling take turns. */
export async function lockOwner(tx: Queries, store: Store, conversationId: string): Promise<void> {
  const owner = await tx
    .selectFrom('conversations')
    .innerJoin('attempts', 'attempts.attempt_id', 'conversations.attempt_id')
    .select('attempts.campaign_id')
    .where('conversations.conversation_id', '=', conversationId)
    .executeTakeFirst();
  if (owner !== undefined) await lockCampaign(tx, store, owner.campaign_id);
}

/**
 * The result that a finished record shows; a record that ends without telling one proves a placed call and no more. A wish not to be
 * called again is heard first: it may be all that the record tells, where the transcript is withheld.
 */
function resultOf(facts: ConversationFacts, rules: CampaignRules, row: ConversationRow): AttemptResult | null {
  // A call that never ended by its record looks like an unanswered one, and may have been anything.
  const endless =
    (facts.status === 'initiated' || facts.status === 'in-progress') &&
    facts.callResult === null &&
    facts.userTurns === 0;
  const result = ruledDisposition(facts, rules.dispositions) ?? (endless ? null : readDisposition(facts));
  if (heardOptOut(facts, rules.optOut))
    return { disposition: 'opted_out', detail: result?.detail ?? null, counted: true };
  if (result !== null) return result;
  return row.final === 1 ? { disposition: 'unknown', detail: 'record_tells_nothing', counted: true } : null;
}

/**
 * Settles the attempt that owns a record as far as the record tells, and counts its results once it is final.
 * `becameFinal`: whether this is the first time that the record is both owned and final.
 */
export async function settleFromRecord(
  tx: Queries,
  row: ConversationRow,
  now: number,
  becameFinal: boolean,
): Promise<void> {
  if (row.attempt_id === null) return;
  const attempt = await tx
    .selectFrom('attempts')
    .innerJoin('campaigns', 'campaigns.campaign_id', 'attempts.campaign_id')
    .select(['attempts.campaign_id', 'attempts.batch_id', 'attempts.recipient_id', 'campaigns.rules'])
    .where('attempt_id', '=', row.attempt_id)
    .executeTakeFirstOrThrow();
  const facts = JSON.parse(row.facts) as ConversationFacts;
  if (row.finished === 1) {
    const result = resultOf(facts, readRules(attempt.rules), row);
    if (result !== null) {
      await settleAttempts(tx, attempt.campaign_id, [{ attemptId: row.attempt_id, result }], now);
      await tx.updateTable('batches').set({ progress_at: now }).where('batch_id', '=', attempt.batch_id).execute();
    }
  }
  if (becameFinal && row.final === 1) {
    const { recipient_id: recipientId } = attempt;
    await tx.updateTable('recipients').set({ changed_at: now }).where('recipient_id', '=', recipientId).execute();
    await changeAggregates(tx, attempt.campaign_id, [
      ...groupsOf('collected', facts.collected, 1),
      ...groupsOf('evaluation', facts.evaluation, 1),
    ]);
  }
}
