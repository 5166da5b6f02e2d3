import type { UnclearReason } from '../../rules/callback-rules.ts';
import { atLocal, faultOf, toWholeSecond } from '../../rules/callbacks/callback-time.ts';
import { openAttemptStates } from '../../rules/ledger.ts';
import { isNeverCalledAgain } from '../../rules/outcome.ts';
import { appendEvents } from '../events.ts';
import { RefusedError } from '../ledger-error.ts';
import { lockedTransaction } from '../locks.ts';
import { requireCampaign, type Campaign } from '../rows/campaigns.ts';
import { callbackRulesOf, questionOf } from '../rows/callback-times.ts';
import { endCallback, findOther, moveCallback, writeCallback } from '../rows/promises.ts';
import { requeueRecipient } from '../rows/recipients.ts';
import { callbackRank } from '../rows/row-terms.ts';
import { settlePassedCallbacks } from '../rows/passed-promises.ts';
import { findSuppressed } from '../rows/suppressions.ts';
import type { At, Queries, Tx, Store } from '../tx.ts';
import { updateRecipient } from '../updates.ts';
import type { CallbackRow, RecipientRow } from '../schema.ts';

export class CallbackRefusedError extends RefusedError {
  override readonly name = 'CallbackRefusedError' as const;
}

/** An instant, or the recipient's local time (`2030-11-30 17:00`). */
export type CallbackTime = { instant: number } | { local: string };

export interface CallbackRequest extends At {
  row: number;
  by: string;
}

export interface Callback {
  row: number;
  externalId: string | null;
  state: CallbackRow['state'];
  dueAt: number | null;
  untilAt: number | null;
  /** Open past its time because no call could be placed. */
  isOverdue: boolean;
  /** The recipient's local time; null: given as an instant. */
  local: string | null;
  zones: string[];
  said: string | null;
  fromAttempt: string | null;
  madeAt: number;
  madeBy: string | null;
  reason: string | null;
  keptBy: string | null;
  endedAt: number | null;
}

/**
 * Sets or moves a callback, even after the row's outcome while the campaign runs. All rules apply. Throws CallbackRefusedError. Returns the
 * instant.
 */
export async function setCallback(
  store: Store,
  { campaignId, row: number, by, now }: CallbackRequest,
  time: CallbackTime,
): Promise<number> {
  return lockedTransaction(store, campaignId, async (tx) => {
    const campaign = await requireCampaign(tx, campaignId);
    if (!['scheduled', 'running', 'paused'].includes(campaign.state))
      throw new CallbackRefusedError(
        `Campaign ${campaignId} is ${campaign.state}: nobody is called back. Start another campaign with the row.`,
      );
    const row = await findRow(tx, campaignId, number);
    await refuseRow(tx, campaign, row, now);
    const read = readTime(campaign, row, { time, now });
    if ((await findOther(tx, row)) !== null) throw refusal(number, 'promised_elsewhere');
    const callbackId = row.promise_id;
    await decideUnclear(tx, { campaignId, now }, row.recipient_id);
    if (callbackId !== null) {
      await moveCallback(tx, { campaign, row, now }, { promiseId: callbackId, dueAt: read.at, local: read.local });
      return read.at;
    }
    const made = await tx
      .selectFrom('promises')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('recipient_id', '=', row.recipient_id)
      .executeTakeFirstOrThrow();
    const origin = { promiseId: `${row.recipient_id}/callback-${made.count + 1}`, said: null, fromAttempt: null, madeBy: by };
    await writeCallback(tx, { campaign, row, now }, { ...origin, dueAt: read.at, local: read.local });
    await requeueRecipient(tx, { campaignId, now }, { ...row, dueAt: read.at });
    return read.at;
  });
}

/** Cancels a callback or dismisses an unclear one; recipients who were talked to are not called again. Throws CallbackRefusedError. */
export async function cancelCallback(store: Store, { campaignId, row: number, by, now }: CallbackRequest): Promise<void> {
  await lockedTransaction(store, campaignId, async (tx) => {
    const campaign = await requireCampaign(tx, campaignId);
    const row = await findRow(tx, campaignId, number);
    const decided = await decideUnclear(tx, { campaignId, now }, row.recipient_id);
    if (row.promise_id === null && decided > 0) return;
    if (row.promise_id === null) throw new CallbackRefusedError(`Row ${number} has no open call back.`);
    if (row.state === 'open')
      throw new CallbackRefusedError(`The call back of row ${number} is planned or open. Look again when it has ended.`);
    const callback = { promise_id: row.promise_id, recipient_id: row.recipient_id };
    await endCallback(tx, { campaignId, now }, callback, { state: 'cancelled', reason: `taken_back_by_${by}` });
    await settlePassedCallbacks(tx, campaign, now);
  });
}

/** Closes the row's unclear callbacks; returns how many. */
async function decideUnclear(tx: Tx, { campaignId, now }: At, recipientId: string): Promise<number> {
  const ended = await tx
    .updateTable('promises')
    .set({ state: 'cancelled', reason: 'decided', ended_at: now })
    .where('recipient_id', '=', recipientId)
    .where('state', '=', 'unclear')
    .returning('promise_id')
    .execute();
  const data = { state: 'cancelled', reason: 'decided' } as const;
  await appendEvents(
    tx,
    ended.map(({ promise_id: promise }) => ({ at: now, campaignId, type: 'callback.ended', recipientId, data: { promise, ...data } })),
  );
  return ended.length;
}

async function findRow(tx: Tx, campaignId: string, number: number): Promise<RecipientRow> {
  const query = tx.selectFrom('recipients').selectAll().where('campaign_id', '=', campaignId);
  const row = await query.where('row_number', '=', number).executeTakeFirst();
  if (row === undefined) throw new CallbackRefusedError(`Campaign ${campaignId} has no row ${number}.`);
  return row;
}

async function refuseRow(tx: Tx, campaign: Campaign, row: RecipientRow, now: number): Promise<void> {
  const { row_number: number, outcome, e164 } = row;
  const open = tx.selectFrom('attempts').select('attempt_id').where('recipient_id', '=', row.recipient_id);
  const isOpen = row.state === 'open' || (await open.where('state', 'in', openAttemptStates).limit(1).executeTakeFirst()) !== undefined;
  if (isOpen) throw new CallbackRefusedError(`A call to row ${number} is planned or open. Say it again when it has ended.`);
  if (row.taken_out_at !== null || row.reason === 'withdrawn')
    throw new CallbackRefusedError(`Row ${number} was withdrawn. carillon update --restore puts it back in line.`);
  if (e164 === null || isNeverCalledAgain(outcome))
    throw new CallbackRefusedError(`Row ${number} has outcome ${outcome ?? 'none'}: it is never called again.`);
  const { campaignId, rules } = campaign;
  const suppressed = (await findSuppressed(tx, { campaignId, purpose: rules.purpose, now }, [e164])).get(e164);
  if (suppressed === 'consent_revoked') throw new CallbackRefusedError(`The consent of row ${number} was taken back.`);
  if (suppressed !== undefined) throw new CallbackRefusedError(`The number of row ${number} is on the do-not-call list.`);
}

function readTime(
  campaign: Campaign,
  row: RecipientRow,
  { time, now }: { time: CallbackTime; now: number },
): { at: number; local: string | null } {
  const rules = callbackRulesOf(campaign.rules);
  const question = questionOf(campaign, row, { toldAt: now, now });
  const read = 'instant' in time ? { at: toWholeSecond(time.instant), local: null } : atLocal(time.local, question, rules.lateMs);
  if (typeof read === 'string') throw refusal(row.row_number, read);
  const fault = read.at <= now ? 'past' : faultOf(read.at, rules, question);
  if (fault !== null) throw refusal(row.row_number, fault);
  return read;
}

const refusals: Readonly<Record<UnclearReason, string>> = {
  no_time: 'no time was given. Write a date and a time, such as 2030-11-30 17:00',
  not_understood: 'the time is not understood. Write 2030-11-30 17:00 in their time, or an instant such as 2030-11-30T17:00:00-05:00',
  ambiguous: 'the time may mean more than one. Write 2030-11-30 17:00',
  past: 'that time has passed. Write a later one',
  too_far: 'that is later than callback.horizon allows. Write an earlier time',
  unknown_timezone: 'their time zone is not known. Write an instant with its offset, such as 2030-11-30T17:00:00-05:00',
  zones_apart: 'they may live in several zones whose clocks are too far apart. Write an instant with its offset',
  outside_hours: 'they may not be called then, by hours, law, or the end of the campaign or of their row. Write another time',
  too_often: 'they were called back too often',
  promised_elsewhere: 'another campaign or row is to call this number back. Cancel that one first',
};

function refusal(row: number, reason: UnclearReason): CallbackRefusedError {
  return new CallbackRefusedError(`Row ${row} cannot be called back then: ${refusals[reason]}.`);
}

export interface CallbackQuery {
  states?: readonly CallbackRow['state'][] | undefined;
  row?: number;
}

/** Open callbacks first, next due first; then unclear ones, then ended ones. */
export async function listCallbacks(
  db: Queries,
  { campaignId, now }: At,
  { states, row: number }: CallbackQuery = {},
): Promise<Callback[]> {
  const rows = await db
    .selectFrom('promises')
    .innerJoin('recipients', 'recipients.recipient_id', 'promises.recipient_id')
    .selectAll('promises')
    .select(['recipients.row_number', 'recipients.external_id', 'recipients.zones'])
    .where('promises.campaign_id', '=', campaignId)
    .$if(states !== undefined, (query) => query.where('promises.state', 'in', states ?? []))
    .$if(number !== undefined, (query) => query.where('recipients.row_number', '=', number ?? 0))
    .orderBy('promises.due_at')
    .orderBy('recipients.row_number')
    .execute();
  const order: readonly CallbackRow['state'][] = ['open', 'unclear', 'missed', 'late', 'kept', 'cancelled'];
  return rows
    .toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
    .map((row) => ({
      row: row.row_number,
      externalId: row.external_id,
      state: row.state,
      dueAt: row.due_at,
      untilAt: row.until,
      isOverdue: row.state === 'open' && (row.until ?? Infinity) <= now,
      local: row.local,
      zones: JSON.parse(row.zones) as string[],
      said: row.said,
      fromAttempt: row.from_attempt,
      madeAt: row.made_at,
      madeBy: row.made_by,
      reason: row.reason,
      keptBy: row.kept_by,
      endedAt: row.ended_at,
    }));
}

/** Moves the callback to the new number at the same local time, or ends it as `missed`. */
export async function followCorrection(tx: Tx, campaign: Campaign, recipientId: string, now: number): Promise<void> {
  const row = await tx.selectFrom('recipients').selectAll().where('recipient_id', '=', recipientId).executeTakeFirstOrThrow();
  const callbackId = row.promise_id;
  if (callbackId === null) return;
  const callback = await tx.selectFrom('promises').selectAll().where('promise_id', '=', callbackId).executeTakeFirstOrThrow();
  const { local, due_at: dueAt } = callback;
  const question = questionOf(campaign, row, { toldAt: callback.made_at, now });
  const read = local === null ? { at: dueAt ?? now, local } : atLocal(local, question, callbackRulesOf(campaign.rules).lateMs);
  const isFree = (await findOther(tx, row)) === null;
  if (typeof read !== 'string' && isFree && question.isOpen(Math.max(read.at, now)))
    return moveCallback(tx, { campaign, row, now }, { promiseId: callbackId, dueAt: read.at, local: read.local });
  await endCallback(tx, { campaignId: campaign.campaignId, now }, callback, { state: 'missed', reason: 'row_corrected' });
  await updateRecipient(tx, recipientId, { rank: callbackRank });
  await settlePassedCallbacks(tx, campaign, now);
}
