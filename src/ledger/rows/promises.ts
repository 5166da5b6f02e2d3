import { sql } from 'kysely';
import type { CallbackEnd, UnclearReason } from '../../rules/callback-rules.ts';
import { readCallback } from '../../rules/callbacks/callback-time.ts';
import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import { retryAt } from '../../rules/attempts/retry-delay.ts';
import type { NextCallSource } from '../../rules/talk-results.ts';
import type { AttemptResult } from '../../rules/disposition.ts';
import { appendEvents } from '../events.ts';
import { countRows } from '../reads.ts';
import type { At, Queries, Tx } from '../tx.ts';
import { updateRecipient } from '../updates.ts';
import type { AttemptRow, CallbackRow, RecipientRow } from '../schema.ts';
import type { Campaign } from './campaigns.ts';
import { callbackRulesOf, questionOf } from './callback-times.ts';
import { callbackRank, laterTermsOf, rankOf } from './row-terms.ts';

/** What a talk requests, and when; undefined: nothing. `write` stores it once the talk's result is logged. */
export interface TalkRequest {
  asks?: Exclude<NextCallSource, 'person'>;
  at?: number;
  write?: () => Promise<void>;
}

/** A callback if its time is clear, else what the campaign's rules say. */
export async function callbackFromTalk(
  tx: Tx,
  campaign: Campaign,
  { attempt, row, facts, now }: { attempt: AttemptRow; row: RecipientRow; facts: ConversationFacts; now: number },
): Promise<TalkRequest> {
  const { callback, retry } = campaign.rules;
  if (callback === undefined) return {};
  const question = questionOf(campaign, row, { toldAt: facts.endedAt ?? attempt.settled_at ?? now, now });
  const read = readCallback(callback, facts, question, campaign.rules);
  const origin = { promiseId: `${attempt.attempt_id}/callback`, said: read.said, fromAttempt: attempt.attempt_id, madeBy: null };
  const unclear = read.kind === 'unclear' ? read.reason : ((await findOther(tx, row)) ?? (await isTooOften(tx, row, callback.most)));
  if (read.kind === 'clear' && unclear === null) {
    const write = () => writeCallback(tx, { campaign, row, now }, { ...origin, dueAt: read.at, local: read.local });
    return { asks: 'callback', at: read.at, write };
  }
  const write = () => writeUnclear(tx, { row, now }, origin, unclear ?? 'not_understood');
  const delay = {
    delays: retry.delays.no_answer,
    nth: 1,
    from: now,
    zones: question.zones,
    jitterMs: retry.jitterMs,
    key: attempt.attempt_id,
  };
  const isLeft = callback.unclear === 'ask' || (callback.words === 'en' && unclear === 'not_understood');
  const at = isLeft ? null : retryAt(delay);
  return at === null ? { write } : { asks: 'retry', at, write };
}

/** Whether another row has the open callback to this number; there is at most one. */
export async function findOther(tx: Queries, row: RecipientRow): Promise<Extract<UnclearReason, 'promised_elsewhere'> | null> {
  const [open] = await openCallbacksTo(tx, [row.e164 ?? '']);
  return open === undefined || open.recipient_id === row.recipient_id ? null : 'promised_elsewhere';
}

/** Whether the row's records led to as many callbacks as allowed: an agent may hear one in every talk. */
async function isTooOften(tx: Tx, row: RecipientRow, most: number): Promise<Extract<UnclearReason, 'too_often'> | null> {
  const made = tx.selectFrom('promises').where('recipient_id', '=', row.recipient_id).where('from_attempt', 'is not', null);
  return (await countRows(made.where('due_at', 'is not', null))) >= most ? 'too_often' : null;
}

export async function openCallbacksTo(db: Queries, numbers: readonly string[]): Promise<CallbackRow[]> {
  if (numbers.length === 0) return [];
  const callbacks = db.selectFrom('promises').selectAll().where('e164', 'in', numbers);
  // As a literal: with a bound value, no database uses its index of the open ones.
  return callbacks.where(sql<boolean>`state = 'open'`).execute();
}

interface Told {
  promiseId: string;
  said: string | null;
  fromAttempt: string | null;
  madeBy: string | null;
}

async function writeUnclear(tx: Tx, { row, now }: { row: RecipientRow; now: number }, origin: Told, reason: UnclearReason): Promise<void> {
  await tx
    .insertInto('promises')
    .values({ ...columnsOf(row, origin, now), state: 'unclear', reason })
    .execute();
  const { campaign_id: campaignId, recipient_id: recipientId } = row;
  const data = { promise: origin.promiseId, reason };
  await appendEvents(tx, [{ at: now, campaignId, type: 'callback.unclear', recipientId, data }]);
}

function columnsOf(row: RecipientRow, { promiseId, said, fromAttempt, madeBy }: Told, now: number) {
  const { campaign_id, recipient_id, e164 } = row;
  const where = { promise_id: promiseId, campaign_id, recipient_id, e164: e164 ?? '', due_at: null, until: null, local: null };
  const made = { said, from_attempt: fromAttempt, made_at: now, made_by: madeBy, reason: null, kept_by: null, ended_at: null };
  return { ...where, ...made };
}

/** Stores a callback and gives its row its own attempt budget. The caller sets when the row is due. */
export async function writeCallback(
  tx: Tx,
  { campaign, row, now }: { campaign: Campaign; row: RecipientRow; now: number },
  { dueAt, local, ...origin }: Told & { dueAt: number; local: string | null },
): Promise<void> {
  const { campaignId, rules } = campaign;
  const { recipient_id: recipientId } = row;
  const until = dueAt + callbackRulesOf(rules).lateMs;
  await tx
    .insertInto('promises')
    .values({ ...columnsOf(row, origin, now), state: 'open', due_at: dueAt, until, local })
    .execute();
  const budget = { budget_from: row.attempts, counted: 0, uncounted_in_row: 0 };
  await updateRecipient(tx, recipientId, { promise_id: origin.promiseId, rank: callbackRank, ...budget, changed_at: now });
  // An operator's callback counts as requested in the talk itself.
  if (origin.madeBy !== null) {
    const talks = tx.updateTable('attempts').set({ asks: 'person', asks_at: dueAt }).where('recipient_id', '=', recipientId);
    await talks.where('disposition', '=', 'answered').where('asks', 'is', null).execute();
  }
  const data = { promise: origin.promiseId, dueAt, until, ...(origin.madeBy === null ? {} : { by: 'person' as const }) };
  await appendEvents(tx, [{ at: now, campaignId, type: 'callback.promised', recipientId, data }]);
}

export async function moveCallback(
  tx: Tx,
  { campaign: { campaignId, rules }, row, now }: { campaign: Campaign; row: RecipientRow; now: number },
  { promiseId, dueAt, local }: { promiseId: string; dueAt: number; local: string | null },
): Promise<void> {
  const { recipient_id: recipientId } = row;
  const until = dueAt + callbackRulesOf(rules).lateMs;
  const changes = { due_at: dueAt, until, local, e164: row.e164 ?? '', reason: null };
  const moved = await tx
    .updateTable('promises')
    .set(changes)
    .where('promise_id', '=', promiseId)
    .where((eb) => eb.or(Object.entries(changes).map(([name, value]) => eb(name as keyof typeof changes, 'is distinct from', value))))
    .executeTakeFirst();
  const standsThere = row.due_at === dueAt && row.rank === callbackRank;
  if (moved.numUpdatedRows === 0n && standsThere) return;
  await updateRecipient(tx, recipientId, { due_at: dueAt, rank: callbackRank, changed_at: now });
  const data = { promise: promiseId, dueAt, until };
  await appendEvents(tx, [{ at: now, campaignId, type: 'callback.moved', recipientId, data }]);
}

interface CallbackResult {
  state: CallbackEnd;
  reason: string | null;
  keptBy?: string;
}

/** Ends an open callback; false: it had ended before. Does not change its row. */
export async function endCallback(
  tx: Tx,
  { campaignId, now }: At,
  { promise_id: callbackId, recipient_id: recipientId }: Pick<CallbackRow, 'promise_id' | 'recipient_id'>,
  { state, reason, keptBy }: CallbackResult,
): Promise<boolean> {
  const ended = await tx
    .updateTable('promises')
    .set({ state, reason, kept_by: keptBy ?? null, ended_at: now })
    .where('promise_id', '=', callbackId)
    .where('state', '=', 'open')
    .returning('promise_id')
    .executeTakeFirst();
  if (ended === undefined) return false;
  const data = { promise: callbackId, state, reason };
  await appendEvents(tx, [
    { at: now, campaignId, type: 'callback.ended', recipientId, ...(keptBy === undefined ? {} : { attemptId: keptBy }), data },
  ]);
  return true;
}

/** To the normal queue, after the row's callback has ended. */
export async function leaveCallbackLine(tx: Tx, row: Pick<RecipientRow, 'recipient_id' | 'called' | 'terms'>): Promise<void> {
  await updateRecipient(tx, row.recipient_id, { promise_id: null, rank: rankOf(row.called, laterTermsOf(row)) });
}

export async function endCallbacksOf(
  tx: Tx,
  at: At,
  rows: readonly (Pick<RecipientRow, 'recipient_id' | 'promise_id'> & { reason: string | null })[],
): Promise<void> {
  for (const { recipient_id, promise_id, reason } of rows) {
    if (promise_id === null) continue;
    await endCallback(tx, at, { promise_id, recipient_id }, { state: 'cancelled', reason });
    await updateRecipient(tx, recipient_id, { promise_id: null });
  }
}

/**
 * The call keeps its own callback, or leaves it open if it cannot have reached the recipient; a talk cancels those of other rows, in any
 * campaign. Their rows end at their turn.
 */
export async function noteCallbacks(tx: Tx, attempt: AttemptRow, result: AttemptResult, now: number): Promise<void> {
  const at = { campaignId: attempt.campaign_id, now };
  const open = await openCallbacksTo(tx, [attempt.e164]);
  for (const callback of open) {
    const isOwn = callback.recipient_id === attempt.recipient_id;
    // The talk that requested it turned out to be none.
    if (callback.from_attempt === attempt.attempt_id && result.disposition !== 'answered') {
      await endCallback(tx, at, callback, { state: 'cancelled', reason: 'corrected' });
      await updateRecipient(tx, attempt.recipient_id, { promise_id: null, rank: rankOf(1) });
      continue;
    }
    // A late result of a talk before the callback cancels nothing.
    const isTalk = result.disposition === 'opted_out' || (result.disposition === 'answered' && (attempt.posted_at ?? 0) > callback.made_at);
    if (isOwn && (attempt.posted_at ?? 0) >= (callback.due_at ?? 0)) await endOwn(tx, at, { promise: callback, attempt, result });
    else if (!isOwn && isTalk)
      await endCallback(tx, { campaignId: callback.campaign_id, now }, callback, {
        state: 'cancelled',
        reason: 'talked_to',
        keptBy: attempt.attempt_id,
      });
  }
}

async function endOwn(
  tx: Tx,
  at: At,
  { promise: callback, attempt, result }: { promise: CallbackRow; attempt: AttemptRow; result: AttemptResult },
): Promise<void> {
  const { disposition } = result;
  // The carrier reports no pick-up: it may be retried while in time.
  if (disposition === 'failed' && !result.counted) return;
  const keptBy = attempt.attempt_id;
  const rang = attempt.rang_at ?? attempt.posted_at ?? 0;
  const end: CallbackResult =
    disposition === 'unknown' || disposition === 'invalid_number'
      ? { state: 'missed', reason: disposition, keptBy }
      : { state: rang < (callback.until ?? 0) ? 'kept' : 'late', reason: disposition, keptBy };
  await endCallback(tx, at, callback, end);
  await updateRecipient(tx, attempt.recipient_id, { promise_id: null, rank: rankOf(1) });
}

/** Records why callbacks are held, by id: the reason if they are missed. */
export async function noteCallbackDelays(tx: Tx, reasons: ReadonlyMap<string, string>): Promise<void> {
  for (const [callbackId, reason] of reasons)
    await tx.updateTable('promises').set({ reason }).where('promise_id', '=', callbackId).where('state', '=', 'open').execute();
}

/** Past their time, or ended while their rows were queued. */
export async function findPassed(tx: Tx, campaignId: string, now: number): Promise<{ promise: CallbackRow; row: RecipientRow }[]> {
  const passed = tx
    .selectFrom('promises')
    .innerJoin('recipients', 'recipients.promise_id', 'promises.promise_id')
    .where('recipients.campaign_id', '=', campaignId)
    .where('recipients.state', '=', 'waiting')
    .where('recipients.rank', '=', callbackRank)
    .where((eb) => eb.or([eb('promises.state', '!=', 'open'), eb('promises.until', '<=', now)]));
  const callbacks = await passed.selectAll('promises').execute();
  const rows = callbacks.length === 0 ? [] : await passed.selectAll('recipients').execute();
  const byId = new Map(rows.map((row) => [row.recipient_id, row]));
  return callbacks.flatMap((callback) => {
    const row = byId.get(callback.recipient_id);
    return row === undefined ? [] : [{ promise: callback, row }];
  });
}

/** Whether only callbacks are left: every unfinished row has one. */
export async function hasOnlyCallbacksLeft(db: Queries, campaignId: string): Promise<boolean> {
  const left = db
    .selectFrom('recipients')
    .select('row_number')
    .where('campaign_id', '=', campaignId)
    .where('state', 'in', ['waiting', 'open'])
    .limit(1);
  const withoutCallback = await left.where('promise_id', 'is', null).executeTakeFirst();
  return withoutCallback === undefined && (await left.executeTakeFirst()) !== undefined;
}

export type CallbackCounts = NonNullable<Awaited<ReturnType<typeof countCallbacks>>>;

/** Null: the campaign never had any. */
export async function countCallbacks(db: Queries, campaignId: string, now: number) {
  const rows = await db
    .selectFrom('promises')
    .select((eb) => ['state', eb.fn.countAll<number>().as('count'), eb.fn.min('due_at').as('next')])
    .select(sql<number>`sum(case when state = 'open' and until <= ${now} then 1 else 0 end)`.as('overdue'))
    .where('campaign_id', '=', campaignId)
    .groupBy('state')
    .execute();
  if (rows.length === 0) return null;
  const of = (state: CallbackRow['state']) => rows.find((row) => row.state === state);
  const count = (state: CallbackRow['state']): number => of(state)?.count ?? 0;
  return {
    open: count('open'),
    /** Open past their time because no call could be placed. */
    overdue: of('open')?.overdue ?? 0,
    nextDueAt: of('open')?.next ?? null,
    unclear: count('unclear'),
    ended: { kept: count('kept'), late: count('late'), missed: count('missed'), cancelled: count('cancelled') } satisfies Record<
      CallbackEnd,
      number
    >,
  };
}
