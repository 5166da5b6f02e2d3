import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import { carriedOutTwice, type AttemptResult } from '../../rules/disposition.ts';
import { requestedAttemptStates } from '../../rules/ledger.ts';
import type { CallReport } from '../../rules/correlation/call-report.ts';
import { noteNaming } from '../doubt/agent-habits.ts';
import { mergeFacts } from '../doubt/conversations.ts';
import { findRecordOf } from '../dial/evidence.ts';
import { lastEventSeq } from '../events.ts';
import { readAccount } from '../limits/account-pace.ts';
import { lockBatch } from '../locks.ts';
import { attemptsOf } from '../reads.ts';
import { changeCampaignState, requireCampaign } from '../rows/campaigns.ts';
import { releaseAttempts } from '../rows/release.ts';
import { settleAttempts } from '../rows/settle.ts';
import type { Queries, Tx } from '../tx.ts';
import { updateAttempt, updateBatch, updateConversation } from '../updates.ts';
import { proveCampaign } from './matching.ts';
import type { AttemptRow, BatchRow } from '../schema.ts';

/** A call without a conversation counts only if a report this much later still names none. */
const secondReportMs = 60_000;

/** Analysis usually takes seconds: one read then finds everything. The line is free meanwhile. */
const analysisPauseMs = 10_000;

/** Fallback, since the end of a call is reported. */
const underWayPauseMs = 10 * 60_000;

export interface ReportedBatch {
  batchId: string;
  campaignId: string;
  serviceBatchId: string;
  withdrawAskedAt: number | null;
}

/** Batches that the service took, with an open call without a record. */
export async function findReportedBatches(db: Queries, agentId: string): Promise<ReportedBatch[]> {
  const rows = await db
    .selectFrom('attempts')
    .innerJoin('batches', 'batches.batch_id', 'attempts.batch_id')
    .select(['batches.batch_id', 'batches.campaign_id', 'batches.service_batch_id', 'batches.withdraw_asked_at'])
    .distinct()
    .where('attempts.agent_id', '=', agentId)
    .where('attempts.state', '=', 'open')
    .where('attempts.conversation_id', 'is', null)
    .where('batches.state', '=', 'confirmed')
    .where('batches.service_batch_id', 'is not', null)
    .orderBy('batches.batch_id')
    .execute();
  return rows.map((row) => ({
    batchId: row.batch_id,
    campaignId: row.campaign_id,
    serviceBatchId: row.service_batch_id ?? '',
    withdrawAskedAt: row.withdraw_asked_at,
  }));
}

export interface Reported {
  /** Calls still waiting at the service, by our reference. */
  waiting: { attemptId: string; ref: string }[];
  /** Entries that match no call, and calls that the report omits: neither allows a conclusion. */
  contradictions: number;
}

/**
 * Stores the report on a batch. A named conversation is read once its call is over; a call reported twice without one ends by the report
 * alone. A wrong reference or number settles nothing.
 */
export async function takeReport(
  tx: Tx,
  batchId: string,
  { reports, now }: { reports: readonly CallReport[]; now: number },
): Promise<Reported> {
  const batch = await lockBatch(tx, batchId);
  const attempts = await attemptsOf(tx, batchId, requestedAttemptStates);
  const named = new Map(attempts.map((attempt) => [attempt.reference, attempt]));
  const seen = new Map<AttemptRow, CallReport[]>();
  let contradictions = 0;
  for (const report of reports) {
    const attempt = report.ref === null ? undefined : named.get(report.ref);
    if (attempt === undefined || (report.to !== null && report.to !== attempt.e164)) contradictions += 1;
    else seen.set(attempt, [...(seen.get(attempt) ?? []), report]);
  }
  const waiting: Reported['waiting'] = [];
  const { accountId } = await requireCampaign(tx, batch.campaign_id);
  const { steppedAt } = await readAccount(tx, accountId);
  let isNews = false;
  for (const attempt of attempts) {
    const [report, ...others] = seen.get(attempt) ?? [];
    if (report === undefined || others.length > 0) contradictions += 1;
    else if (attempt.state === 'open' && attempt.conversation_id === null) {
      // After a clock step it is unknown how long ago the end was reported.
      const overAt = attempt.over_at !== null && attempt.over_at > steppedAt ? attempt.over_at : null;
      isNews ||= (report.state !== null && underWay.includes(report.state)) || (isOver(report) && overAt === null);
      if (report.state === 'waiting') waiting.push({ attemptId: attempt.attempt_id, ref: report.ref ?? '' });
      await takeOne(tx, batch, { attempt: { ...attempt, over_at: overAt }, report, now });
    }
  }
  if (reports.some(({ again }) => again === true)) await stopCalledAgain(tx, batch, now);
  // A waiting or just ended call is not missing; `max` covers a clock set back within a sweep.
  if (isNews) await updateBatch(tx, batchId, { progress_at: Math.max(now, batch.progress_at ?? 0) });
  return { waiting, contradictions };
}

/** Once per batch: another client had it called again, so recipients may be on that call, or be redialled by both. */
async function stopCalledAgain(tx: Tx, { batch_id: batchId, campaign_id: campaignId, n, reason: known }: BatchRow, now: number) {
  const calledAgain = 'called_again';
  if (known === calledAgain || known === carriedOutTwice) return;
  await updateBatch(tx, batchId, { reason: calledAgain });
  const reason = `The service was told by somebody else to call people of batch ${n} again. Look there who was called, decide about its rows, then resume.`;
  await changeCampaignState(tx, { campaignId, now }, { to: 'paused', reason });
}

const underWay: readonly string[] = ['waiting', 'dialling', 'talking'];

function isOver({ state }: CallReport): boolean {
  return state === 'over' || state === 'withdrawn';
}

interface Entry {
  attempt: AttemptRow;
  report: CallReport;
  now: number;
}

async function takeOne(tx: Tx, batch: BatchRow, entry: Entry): Promise<void> {
  const { attempt, report, now } = entry;
  const { attempt_id: attemptId, over_at: overAt } = attempt;
  const over = isOver(report);
  const rangAt = attempt.rang_at ?? (report.state === 'dialling' || report.state === 'talking' ? now : null);
  if (rangAt !== attempt.rang_at) await updateAttempt(tx, attemptId, { rang_at: rangAt });
  if (!over || overAt === null) await updateAttempt(tx, attemptId, { over_at: over ? now : null });
  if (report.conversationId !== null) return expectRecord(tx, batch, { ...entry, conversationId: report.conversationId, isOver: over });
  if (!over || overAt === null || now < overAt + secondReportMs || (await findRecordOf(tx, batch, [attempt])) !== null) return;
  const at = { campaignId: batch.campaign_id, now };
  if (report.state === 'withdrawn' && batch.withdraw_asked_at !== null && rangAt === null) {
    const release = { attemptId, recipientId: attempt.recipient_id, reason: 'withdrawn', by: 'report' } as const;
    return releaseAttempts(tx, { ...at, batchId: batch.batch_id }, [{ ...release, next: { kind: 'requeue', dueAt: now } }]);
  }
  await settleAttempts(tx, at, [{ attemptId, result: resultOf(report), by: 'report' }]);
}

/** From the report alone, without a conversation. */
function resultOf({ state, result }: CallReport): AttemptResult {
  // It rang, which counts, or another client withdrew it for its own reason.
  if (state === 'withdrawn') return { disposition: 'failed', detail: 'withdrawn_at_service', counted: true };
  if (result === 'failed') return { disposition: 'failed', detail: 'not_dialled', counted: true };
  if (result === 'voicemail' || result === 'busy' || result === 'no_answer') return { disposition: result, detail: null, counted: true };
  // A person may have answered.
  return { disposition: 'unknown', detail: 'no_conversation', counted: true };
}

async function expectRecord(
  tx: Tx,
  batch: BatchRow,
  { attempt, report, conversationId, isOver, now }: Entry & { conversationId: string; isOver: boolean },
): Promise<void> {
  await proveCampaign(tx, { campaignId: batch.campaign_id });
  const reportedFacts: ConversationFacts = {
    ...nothingKnown,
    conversationId,
    agentId: attempt.agent_id,
    calleeNumber: attempt.e164,
    batchId: batch.service_batch_id,
    references: [report.ref ?? ''],
    reported: 'alone',
  };
  const row = await tx.selectFrom('conversations').selectAll().where('conversation_id', '=', conversationId).executeTakeFirst();
  if (row === undefined) {
    await tx
      .insertInto('conversations')
      .values({
        conversation_id: conversationId,
        agent_id: attempt.agent_id,
        reads: 0,
        first_seen_at: now,
        started_at: null,
        facts: JSON.stringify(reportedFacts),
        finished: 0,
        finished_at: isOver ? now : null,
        final: 0,
        gone: 0,
        unchanged_reads: 0,
        next_read_at: now + (isOver ? analysisPauseMs : underWayPauseMs),
        seen_seq: await lastEventSeq(tx),
        missed_at: null,
        caller: null,
      })
      .execute();
    return;
  }
  if (row.attempt_id !== null) return;
  const known = JSON.parse(row.facts) as ConversationFacts;
  // Read before its report, it did not name its call.
  if (row.final === 1 && known.reported === undefined && !known.references.includes(report.ref ?? ''))
    await noteNaming(tx, row.agent_id, false);
  const facts = JSON.stringify(mergeFacts(known, reportedFacts));
  const isNew = facts !== row.facts;
  // A record read before its report lacks only its owner.
  const isDue = isOver && row.reads === 0;
  const dueAt = now + analysisPauseMs;
  if (!isNew && !(isDue && row.next_read_at > dueAt)) return;
  const due = isDue ? { finished_at: row.finished_at ?? now, next_read_at: Math.min(row.next_read_at, dueAt), final: 0 } : {};
  await updateConversation(tx, conversationId, { facts, ...due });
}

/** Facts known only from a report. */
const nothingKnown = {
  direction: 'outbound',
  status: null,
  startedAt: null,
  endedAt: null,
  durationMs: null,
  callResult: null,
  terminationReason: null,
  hasTranscript: false,
  openingLine: null,
  agentTurns: 0,
  userTurns: 0,
  audio: null,
  collected: null,
  evaluation: null,
} as const;
