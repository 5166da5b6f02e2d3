import type { LoggedEvent } from './logged-event.ts';
import { rowNumber, rowOf, type AttemptBook, type BatchBook, type CampaignBook } from './campaign-book.ts';
import { settleDebt } from './judge-batch.ts';
import { judgeCall } from './judge-call.ts';
import { judgeWithdrawn } from './judge-edit.ts';
import { judgeBudget, judgeCounted, judgePace, noteDelay } from './judge-limits.ts';
import { isTalk, judgeReached } from './judge-outcome.ts';
import { judgeScreened } from './judge-screening.ts';
import { numberOf, textOf } from './judged-rules.ts';
import type { Found } from './log-rules.ts';
import type { NumberBook } from './number-book.ts';
import { hashRow } from './row-book.ts';

/** What the tables know of a call beside the log: when its phone rang, and when its record first showed it to be over. */
export interface CallFacts {
  rangAt: number | null;
  overAt: number | null;
}

interface Dialling {
  campaign: CampaignBook;
  numbers: NumberBook;
  /** Null: the database has none. */
  rowKey: string | null;
  facts: CallFacts | undefined;
}

/** A call is in a request that begins. */
export function dial(
  { campaign, numbers, rowKey, facts }: Dialling,
  attempt: AttemptBook,
  batch: BatchBook | undefined,
  event: LoggedEvent,
): Found {
  const { attemptId = '', at, data = {} } = event;
  const recipientId = rowOf(attemptId);
  const found: Found = [
    ...judgeRow(campaign, rowKey, recipientId, event),
    ...judgeCall(campaign.rules, numbers, event),
    ...judgeBudget(campaign, numbers, recipientId, event),
    ...judgeWithdrawn(campaign, { ...event, recipientId }),
    ...judgeScreened(campaign, event),
    ...judgeReached(campaign, recipientId, event),
  ];
  if (attempt.state !== null) found.push(['dialled_twice', `call ${attemptId} was placed again after its end`]);
  attempt.postedAt ??= at;
  attempt.overAt = facts?.overAt ?? null;
  attempt.zones = numbers.sameZones(data['zones']);
  const latest = at + campaign.rules.dispatchMarginMs;
  attempt.call = {
    attemptId,
    number: String(data['e164']),
    person: textOf(data['person']),
    at,
    rangBy: Math.min(facts?.rangAt ?? latest, latest),
    talked: false,
    counted: false,
  };
  numbers.openCallTo(attempt.call.number, attemptId);
  numbers.place(attempt.call);
  if (batch === undefined) return found;
  batch.calls.push(attempt);
  return [...found, ...judgePace(campaign, attempt, batch, event)];
}

/** Whether the call goes where the list said, by the keyed hash of its row. */
function judgeRow(campaign: CampaignBook, rowKey: string | null, recipientId: string, event: LoggedEvent): Found {
  const row = rowNumber(campaign, recipientId);
  if (row === null || rowKey === null) return [];
  const { attemptId, data = {} } = event;
  const known = campaign.rowBook.of(row);
  if (known === undefined)
    return [['log_incomplete', `the log has no hash of ${recipientId}, to which ${attemptId} went`]];
  const hash = hashRow(rowKey, recipientId, {
    e164: textOf(data['e164']),
    person: textOf(data['person']),
    zones: data['zones'],
    country: textOf(data['country']),
    regions: data['regions'] ?? null,
    notBefore: numberOf(data['notBefore']),
    expiresAt: numberOf(data['expiresAt']),
  });
  if (hash === known) return [];
  return [
    ['row_forged', `call ${attemptId} went to another number, person, place or time than its row of the list has`],
  ];
}

/** A call has ended, or its end is corrected. */
export function settle(
  campaign: CampaignBook,
  numbers: NumberBook,
  attempt: AttemptBook | undefined,
  event: LoggedEvent,
): Found {
  const { attemptId = '', at, type, data = {} } = event;
  if (attempt?.postedAt == null) return [['log_incomplete', `call ${attemptId} ended and was never placed`]];
  const recipientId = rowOf(attemptId);
  const found: Found = [];
  const batch = campaign.batches.get(attempt.batchId);
  // The end of a single call that was refused stands behind the state of its batch.
  if (batch !== undefined) found.push(...settleDebt(batch, { batchId: attempt.batchId }));
  const wasMade = attempt.state === 'released' && mayHaveBeenMade(batch, attempt, event);
  if ((type === 'attempt.corrected') !== (attempt.state === 'settled' || wasMade))
    found.push([
      'illegal_change',
      `call ${attemptId} is told of by ${type}, and was ${attempt.state ?? 'open'} before`,
    ]);
  attempt.state = 'settled';
  attempt.endedAt = wasMade ? at : (attempt.endedAt ?? at);
  attempt.disposition = textOf(data['disposition']);
  if (wasMade && attempt.call !== null) numbers.place(attempt.call);
  found.push(...judgeCounted(campaign, attempt, recipientId, event));
  attempt.counted = data['counted'] === true;
  if (attempt.call !== null) {
    attempt.call.counted = attempt.counted;
    attempt.call.talked = isTalk(attempt);
    numbers.closeCall(attempt.call.number, attemptId);
  }
  campaign.open.delete(attempt);
  noteDelay(campaign, attempt, recipientId, event);
  return found;
}

/** Whether a call that was given back on the service's word may have been made: its record shows it, or nobody knows. */
function mayHaveBeenMade(batch: BatchBook | undefined, attempt: AttemptBook, { data = {} }: LoggedEvent): boolean {
  return batch?.denied === true && (attempt.conversation !== null || data['disposition'] === 'unknown');
}

/** A call is given back. */
export function release(
  campaign: CampaignBook,
  numbers: NumberBook,
  attempt: AttemptBook | undefined,
  { attemptId = '', at }: LoggedEvent,
): Found {
  if (attempt === undefined) return [['log_incomplete', `call ${attemptId} was given back and never planned`]];
  const found: Found =
    attempt.state === null
      ? []
      : [['illegal_change', `call ${attemptId} was given back, and was ${attempt.state} before`]];
  attempt.state = 'released';
  attempt.endedAt ??= at;
  campaign.open.delete(attempt);
  if (attempt.call === null) return found;
  numbers.unplace(attempt.call);
  numbers.closeCall(attempt.call.number, attemptId);
  return found;
}
