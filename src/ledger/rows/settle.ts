import { hasClosed } from '../../rules/lifecycle.ts';
import type { Outcome } from '../../rules/outcome.ts';
import type { AttemptResult } from '../../rules/disposition.ts';
import { withdrawnReason } from '../../rules/attempts/eligibility.ts';
import { afterAttempt } from '../../rules/attempts/retry-schedule.ts';
import { endsRow } from '../../rules/talk-results.ts';
import { changeAggregates, type AggregateChange } from '../aggregates.ts';
import { appendEvents } from '../events.ts';
import { prepared } from '../prepared.ts';
import type { At, Tx } from '../tx.ts';
import { requireCampaign, type Campaign } from './campaigns.ts';
import { noteCallbacks } from './promises.ts';
import { finishRecipients, requireRecipient, takeBackOutcome } from './recipients.ts';
import { rankOf } from './row-terms.ts';
import { accountScope, addSuppression } from './suppressions.ts';
import { updateAttempt, updateRecipient } from '../updates.ts';
import type { AttemptRow, RecipientRow } from '../schema.ts';

/** Counts although unanswered, because too many such came in a row; does not end the row. */
const uncountedTooOften = 'uncounted_too_often';

const selectAttemptsTo = prepared((tx: Tx, { recipientId }: { recipientId: string }) =>
  tx
    .selectFrom('attempts')
    .select(['number', 'state', 'disposition', 'counted', 'reason', 'asks'])
    .where('recipient_id', '=', recipientId)
    .where('state', '!=', 'released')
    .orderBy('number'),
);

const selectPlaced = prepared((tx: Tx, { attemptId }: { attemptId: string }) =>
  tx.selectFrom('attempts').selectAll().where('attempt_id', '=', attemptId).where('state', '!=', 'released'),
);

const selectLastTalk = prepared((tx: Tx, { recipientId }: { recipientId: string }) =>
  tx
    .selectFrom('attempts')
    .select('result')
    .where('recipient_id', '=', recipientId)
    .where('state', '=', 'settled')
    .where('disposition', 'in', ['answered', 'opted_out'])
    // Only the agent spoke: no talk.
    .where((eb) => eb.or([eb('disposition', '=', 'opted_out'), eb('detail', 'is', null), eb('detail', '!=', 'silent')]))
    .orderBy('number', 'desc')
    .limit(1),
);

/** Empty while the last talk has no result, and for good after an opt-out. */
export async function noteResultOfLastTalk(tx: Tx, recipientId: string, now: number): Promise<void> {
  const [last] = (await selectLastTalk(tx, { recipientId })).rows;
  await updateRecipient(tx, recipientId, { result: last?.result ?? null, changed_at: now });
}

/** Recounts a recipient's settled attempts: a correction may have changed any. */
async function tally(
  tx: Tx,
  { recipient_id: recipientId, budget_from: budgetFrom }: RecipientRow,
  { number: until, disposition }: { number: number; disposition: string },
) {
  const { rows: attempts } = await selectAttemptsTo(tx, { recipientId });
  const settled = attempts.filter((row) => row.state === 'settled');
  const ofBudget = settled.filter((row) => row.number > budgetFrom);
  const before = ofBudget.filter((row) => row.number < until);
  let uncountedInARow = 0;
  for (const row of before) uncountedInARow = row.counted === 1 && row.reason !== uncountedTooOften ? 0 : uncountedInARow + 1;
  return {
    countedBefore: before.filter((row) => row.counted === 1).length,
    countedAfter: ofBudget.filter((row) => row.number > until && row.counted === 1).length,
    uncountedInARow,
    sameDisposition: before.filter((row) => row.disposition === disposition).length + 1,
    reached: settled.some((row) => row.number !== until && endsRow(row)),
    optedOut: settled.some((row) => row.disposition === 'opted_out' && row.number !== until),
    // A planned or open attempt decides at its own end.
    isLatest: attempts.every((row) => row.number <= until),
    isBeforeRetry: attempts.some((row) => row.number > until) && settled.every((row) => row.number <= until),
  };
}

interface Settled {
  campaign: Campaign;
  attempt: AttemptRow;
  result: AttemptResult;
  by?: 'report' | undefined;
  /** Its result waits until the record is read to its end. */
  isAwaited?: boolean | undefined;
  now: number;
}

async function decideNext(tx: Tx, { campaign, attempt, result, isAwaited = false, now }: Settled): Promise<boolean> {
  const { campaignId, rules } = campaign;
  const { recipient_id: recipientId, attempt_id: attemptId, number } = attempt;
  const recipient = await requireRecipient(tx, recipientId);
  const counts = await tally(tx, recipient, { number, disposition: result.disposition });
  // Correcting an attempt of an earlier budget does not affect this one.
  const isOfBudget = number > recipient.budget_from;
  const next = afterAttempt({
    result,
    countedAttempts: counts.countedBefore + (result.counted && isOfBudget ? 1 : 0),
    uncountedInARow: result.counted ? 0 : counts.uncountedInARow + 1,
    sameDisposition: counts.sameDisposition,
    settledAt: now,
    zones: JSON.parse(recipient.zones) as string[],
    attemptId,
    asksAt: attempt.asks_at,
    rules: rules.retry,
  });
  const counted = counts.countedBefore + counts.countedAfter + (next.countsAs && isOfBudget ? 1 : 0);
  const uncounted = next.countsAs ? 0 : counts.uncountedInARow + 1;
  const placed = recipient.called === 1 || attempt.e164 !== recipient.e164 ? {} : ({ called: 1, rank: rankOf(1) } as const);
  await updateRecipient(tx, recipientId, { counted, uncounted_in_row: uncounted, ...placed, changed_at: now });
  const finish = (outcome: Outcome, reason: string) => finishRecipients(tx, { campaignId, now }, [{ recipientId, outcome, reason }]);
  const isLast = recipient.last_attempt_id === attemptId;
  if (counts.optedOut) await finish('opted_out', 'opted_out');
  // Neither queued nor finished until its record is read to its end.
  else if (isAwaited && isLast && counts.isLatest && recipient.outcome === null) await updateRecipient(tx, recipientId, { state: 'open' });
  else if (next.kind === 'final' && (next.outcome === 'completed' || next.outcome === 'opted_out')) {
    // Reached after all: outranks a waiting retry. A newer open call decides at its own end.
    if (recipient.state !== 'open' || isLast) await finish(next.outcome, next.reason);
  } else if (counts.reached) await finish('completed', 'reached_by_another_attempt');
  // A withdrawn row stays withdrawn.
  else if (counts.isLatest && isLast && recipient.outcome !== 'cancelled') {
    if (next.kind === 'final') await finish(next.outcome, next.reason);
    else if (recipient.taken_out_at !== null) await finish('cancelled', withdrawnReason);
    else if (recipient.expires_at !== null && next.at + rules.timing.dispatchMarginMs >= recipient.expires_at)
      await finish('expired', 'row_expired');
    // A late record does not make an ended campaign call again.
    else if (!hasClosed(campaign) || recipient.outcome === null)
      await takeBackOutcome(tx, { campaignId, now }, { ...recipient, dueAt: next.at });
  }
  // A planned retry not under way yet waits as long as the corrected end requires.
  else if (counts.isBeforeRetry && next.kind === 'retry') await updateRecipient(tx, recipientId, { due_at: next.at });
  return next.countsAs;
}

/** For the operator to decide. */
export async function noteCandidates(tx: Tx, attemptId: string, conversationIds: readonly string[]): Promise<void> {
  const candidates = JSON.stringify(conversationIds.slice(0, mostCandidates));
  await updateAttempt(tx, attemptId, { candidates });
}

/** More do not help the operator. */
const mostCandidates = 50;

export interface Settlement {
  attemptId: string;
  result: AttemptResult;
  /** According to the service's report, without a record. */
  by?: 'report';
  /** What follows is decided once the record is read to its end, see `decideAfterTalk`. */
  isAwaited?: boolean;
}

/** Corrects a settled attempt if disposition or detail differ, else leaves it. */
export async function settleAttempts(tx: Tx, { campaignId, now }: At, settlements: readonly Settlement[]): Promise<void> {
  if (settlements.length === 0) return;
  const campaign = await requireCampaign(tx, campaignId);
  for (const { attemptId, result, by, isAwaited } of settlements) {
    const [attempt] = (await selectPlaced(tx, { attemptId })).rows;
    if (attempt !== undefined) await settleOne(tx, { campaign, attempt, result, by, isAwaited, now });
  }
}

/** Decides what follows for a settled call whose record brings no more. Idempotent. */
export async function decideAfterTalk(tx: Tx, { campaignId, now }: At, attemptId: string): Promise<void> {
  const [attempt] = (await selectPlaced(tx, { attemptId })).rows;
  if (attempt?.disposition == null || attempt.state !== 'settled') return;
  const { disposition, detail, counted } = attempt;
  const result: AttemptResult = { disposition, detail, counted: counted === 1 };
  await decideNext(tx, { campaign: await requireCampaign(tx, campaignId), attempt, result, now });
}

/** As `settleAttempts`, for calls with an unknown result: they count as made. */
export async function settleAsUnknown(
  tx: Tx,
  at: At,
  { attemptIds, detail }: { attemptIds: readonly string[]; detail: string },
): Promise<void> {
  const result: AttemptResult = { disposition: 'unknown', detail, counted: true };
  await settleAttempts(
    tx,
    at,
    attemptIds.map((attemptId) => ({ attemptId, result })),
  );
}

async function settleOne(tx: Tx, settled: Settled): Promise<void> {
  const { attempt, result, by, now } = settled;
  const corrected = attempt.state === 'settled';
  if (corrected && attempt.disposition === result.disposition && attempt.detail === result.detail) return;
  await updateAttempt(tx, attempt.attempt_id, {
    state: 'settled',
    settled_at: attempt.settled_at ?? now,
    disposition: result.disposition,
    detail: result.detail,
    counted: result.counted ? 1 : 0,
    evidence: by,
    // The earlier result and its request are void.
    ...(corrected ? { result: null, asks: null, asks_at: null } : {}),
  });
  await noteCallbacks(tx, attempt, result, now);
  const countsAs = await decideNext(tx, settled);
  if (countsAs !== result.counted) await updateAttempt(tx, attempt.attempt_id, { counted: 1, reason: uncountedTooOften });
  const changes: AggregateChange[] = [{ kind: 'disposition', value: result.disposition, delta: 1 }];
  if (attempt.result !== null) changes.push({ kind: 'result', value: attempt.result, delta: -1 });
  // A row's first call has no talk before it.
  if (corrected || attempt.number > 1) await noteResultOfLastTalk(tx, attempt.recipient_id, now);
  if (corrected && attempt.disposition !== null) changes.push({ kind: 'disposition', value: attempt.disposition, delta: -1 });
  await changeAggregates(tx, attempt.campaign_id, changes);
  const { campaign_id: campaignId, recipient_id: recipientId, attempt_id: attemptId, batch_id: batchId } = attempt;
  const event = { at: now, campaignId, recipientId, attemptId, batchId };
  const end = { disposition: result.disposition, detail: result.detail, counted: countsAs };
  await appendEvents(tx, [
    corrected
      ? { ...event, type: 'attempt.corrected', data: { ...end, from: attempt.disposition } }
      : { ...event, type: 'attempt.settled', data: { ...end, ...(by === undefined ? {} : { by }) } },
  ]);
  if (result.disposition !== 'opted_out') return;
  const data = { scope: accountScope, e164: attempt.e164 };
  const why = { source: `call:${attemptId}`, reason: 'opted out in a call', expiresAt: null };
  await addSuppression(tx, { ...data, ...why }, now);
  await appendEvents(tx, [{ at: now, campaignId, type: 'suppression.added', attemptId, data }]);
}
