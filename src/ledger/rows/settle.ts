import type { Selectable } from 'kysely';
import { hasClosed } from '../../domain/lifecycle.ts';
import { readRules, type CampaignRules } from '../../domain/campaign-rules.ts';
import type { AttemptResult } from '../../domain/disposition.ts';
import { afterAttempt } from '../../domain/attempts/retry-schedule.ts';
import { changeAggregates } from '../aggregates.ts';
import { appendEvents } from '../events.ts';
import type { Queries } from '../open-ledger.ts';
import { finishRecipients, takeBackOutcome } from './recipients.ts';
import type { Database } from '../schema.ts';
import { addSuppression } from './suppressions.ts';

type AttemptRow = Selectable<Database['attempts']>;

/** Reason of an attempt that counts although nobody picked up, because too many such came in a row; it does not end the row. */
const uncountedTooOften = 'uncounted_too_often';

interface Settling {
  rules: CampaignRules;
  /** Nobody is dialled any more unless a person starts another round. */
  ended: boolean;
}

async function settlingOf(tx: Queries, campaignId: string): Promise<Settling> {
  const row = await tx
    .selectFrom('campaigns')
    .select(['rules', 'state'])
    .where('campaign_id', '=', campaignId)
    .executeTakeFirstOrThrow();
  return { rules: readRules(row.rules), ended: hasClosed(row) };
}

/** Counts a recipient's attempts afresh from its settled ones: a correction may have changed any of them. */
async function tally(tx: Queries, recipientId: string, until: number, disposition: string, budgetFrom: number) {
  const attempts = await tx
    .selectFrom('attempts')
    .select(['number', 'state', 'disposition', 'counted', 'reason'])
    .where('recipient_id', '=', recipientId)
    .where('state', '!=', 'released')
    .orderBy('number')
    .execute();
  const settled = attempts.filter((row) => row.state === 'settled');
  const ofBudget = settled.filter((row) => row.number > budgetFrom);
  const before = ofBudget.filter((row) => row.number < until);
  let uncountedInARow = 0;
  for (const row of before)
    uncountedInARow = row.counted === 1 && row.reason !== uncountedTooOften ? 0 : uncountedInARow + 1;
  return {
    countedBefore: before.filter((row) => row.counted === 1).length,
    countedAfter: ofBudget.filter((row) => row.number > until && row.counted === 1).length,
    uncountedInARow,
    sameDisposition: before.filter((row) => row.disposition === disposition).length + 1,
    reached: settled.some((row) => row.disposition === 'answered' && row.number !== until),
    optedOut: settled.some((row) => row.disposition === 'opted_out' && row.number !== until),
    // One that is planned or open decides for itself when it ends.
    isLatest: attempts.every((row) => row.number <= until),
  };
}

/** Decides what follows for the recipient from an attempt that has just been settled or corrected. */
async function decideNext(
  tx: Queries,
  { rules, ended }: Settling,
  attempt: AttemptRow,
  result: AttemptResult,
  now: number,
): Promise<boolean> {
  const recipient = await tx
    .selectFrom('recipients')
    .selectAll()
    .where('recipient_id', '=', attempt.recipient_id)
    .executeTakeFirstOrThrow();
  const { budget_from: budgetFrom } = recipient;
  const counts = await tally(tx, attempt.recipient_id, attempt.number, result.disposition, budgetFrom);
  const next = afterAttempt({
    result,
    countedAttempts: counts.countedBefore + (result.counted ? 1 : 0),
    uncountedInARow: result.counted ? 0 : counts.uncountedInARow + 1,
    sameDisposition: counts.sameDisposition,
    settledAt: now,
    zones: JSON.parse(recipient.zones) as string[],
    attemptId: attempt.attempt_id,
    rules: rules.retry,
  });
  // An attempt of an earlier budget is corrected without a bearing on this one.
  const isOfBudget = attempt.number > budgetFrom;
  const counted = counts.countedBefore + counts.countedAfter + (next.countsAs && isOfBudget ? 1 : 0);
  await tx
    .updateTable('recipients')
    .set({ counted, uncounted_in_row: next.countsAs ? 0 : counts.uncountedInARow + 1, changed_at: now })
    .where('recipient_id', '=', attempt.recipient_id)
    .execute();
  const finish = (outcome: Parameters<typeof finishRecipients>[2][number]['outcome'], reason: string) =>
    finishRecipients(tx, attempt.campaign_id, [{ recipientId: attempt.recipient_id, outcome, reason }], now);
  if (counts.optedOut) await finish('opted_out', 'opted_out');
  else if (next.kind === 'final' && (next.outcome === 'completed' || next.outcome === 'opted_out')) {
    // Reached after all: this outranks a waiting retry. A newer call that is already open is left to its own end.
    if (recipient.state !== 'open' || recipient.last_attempt_id === attempt.attempt_id)
      await finish(next.outcome, next.reason);
  } else if (counts.reached) await finish('completed', 'reached_by_another_attempt');
  else if (
    counts.isLatest &&
    recipient.last_attempt_id === attempt.attempt_id &&
    // Whom a person took out stays out.
    recipient.outcome !== 'cancelled'
  ) {
    if (next.kind === 'final') await finish(next.outcome, next.reason);
    else if (recipient.expires_at !== null && next.at + rules.timing.dispatchMarginMs >= recipient.expires_at)
      await finish('expired', 'row_expired');
    // A campaign that has ended calls nobody again for a record that comes late.
    else if (!ended || recipient.outcome === null)
      await takeBackOutcome(tx, attempt.campaign_id, { ...recipient, posted: true }, next.at, now);
  }
  return next.countsAs;
}

/** Keeps which conversations may be an attempt's, for a person to decide. */
export async function noteCandidates(
  tx: Queries,
  attemptId: string,
  conversationIds: readonly string[],
): Promise<void> {
  const candidates = JSON.stringify(conversationIds.slice(0, mostCandidates));
  await tx.updateTable('attempts').set({ candidates }).where('attempt_id', '=', attemptId).execute();
}

/** More are no help to anybody. */
const mostCandidates = 50;

export interface Settlement {
  attemptId: string;
  result: AttemptResult;
}

/**
 * Gives attempts their disposition and their recipients what follows from it: done, or back in line. An attempt that is settled
 * already is corrected when the disposition differs, else left alone, so repeating a settlement changes nothing.
 */
export async function settleAttempts(
  tx: Queries,
  campaignId: string,
  settlements: readonly (Settlement | { batchId: string; result: AttemptResult })[],
  now: number,
): Promise<void> {
  const settling = await settlingOf(tx, campaignId);
  for (const settlement of settlements) {
    let query = tx.selectFrom('attempts').selectAll().where('state', '!=', 'released');
    query =
      'attemptId' in settlement
        ? query.where('attempt_id', '=', settlement.attemptId)
        : query.where('batch_id', '=', settlement.batchId);
    for (const attempt of await query.orderBy('position').execute()) {
      await settleOne(tx, settling, attempt, settlement.result, now);
    }
  }
}

async function settleOne(
  tx: Queries,
  settling: Settling,
  attempt: AttemptRow,
  result: AttemptResult,
  now: number,
): Promise<void> {
  const corrected = attempt.state === 'settled';
  if (corrected && attempt.disposition === result.disposition && attempt.detail === result.detail) return;
  await tx
    .updateTable('attempts')
    .set({
      state: 'settled',
      settled_at: attempt.settled_at ?? now,
      disposition: result.disposition,
      detail: result.detail,
      counted: result.counted ? 1 : 0,
    })
    .where('attempt_id', '=', attempt.attempt_id)
    .execute();
  const countsAs = await decideNext(tx, settling, attempt, result, now);
  if (countsAs !== result.counted) {
    await tx
      .updateTable('attempts')
      .set({ counted: 1, reason: uncountedTooOften })
      .where('attempt_id', '=', attempt.attempt_id)
      .execute();
  }
  await changeAggregates(tx, attempt.campaign_id, [
    ...(corrected && attempt.disposition !== null
      ? [{ kind: 'disposition' as const, key: '', value: attempt.disposition, delta: -1 }]
      : []),
    { kind: 'disposition', key: '', value: result.disposition, delta: 1 },
  ]);
  const { campaign_id: campaignId, recipient_id: recipientId, attempt_id: attemptId, batch_id: batchId } = attempt;
  const event = { at: now, campaignId, recipientId, attemptId, batchId };
  const end = { disposition: result.disposition, detail: result.detail, counted: countsAs };
  await appendEvents(tx, [
    corrected
      ? { ...event, type: 'attempt.corrected', data: { ...end, from: attempt.disposition } }
      : { ...event, type: 'attempt.settled', data: end },
  ]);
  if (result.disposition === 'opted_out') {
    const entry = {
      e164: attempt.e164,
      scope: 'account',
      source: `call:${attemptId}`,
      reason: 'opted out in a call',
      expiresAt: null,
    };
    await addSuppression(tx, entry, now);
    const data = { scope: 'account', e164: attempt.e164 };
    await appendEvents(tx, [{ at: now, campaignId, type: 'suppression.added', attemptId, data }]);
  }
}
