import { judgePromised } from './judge-asked.ts';
import { rowNumber, rowOf, type AttemptBook, type JudgedLine } from './campaign-book.ts';
import { settleDebt } from './judge-batch.ts';
import { judgeCall, personOf } from './judge-call.ts';
import { judgePilot } from './judge-pilot.ts';
import { countGoal, judgeGoal } from './judge-goal.ts';
import { judgeWithdrawn } from './judge-edit.ts';
import { judgeBudget, judgeCaller, judgeCounted, judgeDelay, judgePace, noteDelay } from './judge-limits.ts';
import { isTalk, judgeReached } from './judge-outcome.ts';
import { minuteMs } from './local-time.ts';
import { textOf } from './judged-rules.ts';
import type { CallFacts } from './log-types.ts';
import { hashRow } from './row-book.ts';

/** A call is in a request that begins. `rowKey`: null where the database has none. */
export function dial(
  line: JudgedLine,
  attempt: AttemptBook,
  { rowKey, facts }: { rowKey: string | null; facts: CallFacts | undefined },
): void {
  const { campaign, numbers, data, violate } = line;
  const { attemptId } = attempt;
  const { at, batchId = '' } = line.event;
  const recipientId = rowOf(attemptId);
  judgeRow(line, rowKey, recipientId);
  judgeCall(line);
  judgeBudget(line, recipientId);
  judgeDelay(line, recipientId);
  judgeWithdrawn(line, recipientId);
  judgeScreened(line);
  judgeReached(line, recipientId);
  judgePromised(line, recipientId);
  judgePilot(line, recipientId);
  judgeGoal(line, recipientId);
  if (attempt.state !== null) violate('dialled_twice', `call ${attemptId} was placed again after its end`);
  attempt.postedAt ??= at;
  attempt.overAt = facts?.overAt ?? null;
  attempt.zones = numbers.sameZones(data['zones']);
  const latest = at + campaign.rules.timing.dispatchMarginMs;
  const batch = campaign.batches.get(batchId);
  const caller = batch?.caller ?? '';
  judgeCaller(line, caller);
  attempt.call = {
    attemptId,
    number: String(data['e164']),
    person: personOf(data),
    caller,
    at,
    rangBy: Math.min(facts?.rangAt ?? latest, latest),
    talked: false,
    counted: false,
  };
  numbers.openCallTo(attempt.call.number, attemptId);
  numbers.place(attempt.call);
  if (batch === undefined) return;
  batch.calls.push(attempt);
  judgePace(line, attempt, batch);
}

/** Whether the call goes where the list said, by the keyed hash of its row. */
function judgeRow({ campaign, event, data, violate }: JudgedLine, rowKey: string | null, recipientId: string): void {
  const row = rowNumber(campaign, recipientId);
  if (row === null || rowKey === null) return;
  const { attemptId } = event;
  const known = campaign.rowBook.of(row);
  if (known === undefined) return violate('log_incomplete', `the log has no hash of ${recipientId}, to which ${attemptId} went`);
  // All but these is what the row says.
  const { k: _, screened: _screened, ...facts } = data;
  if (hashRow(rowKey, recipientId, facts, known.version) !== known.hash)
    violate('row_forged', `call ${attemptId} went to another number, person, place or time than its row of the list has`);
}

/** A call has ended, or its end is corrected. */
export function settle(line: JudgedLine, attempt: AttemptBook | undefined): void {
  const { campaign, numbers, data, violate } = line;
  const { attemptId = '', at, type } = line.event;
  if (attempt?.postedAt == null) return violate('log_incomplete', `call ${attemptId} ended and was never placed`);
  const recipientId = rowOf(attemptId);
  const batch = campaign.batches.get(attempt.batchId);
  // The end of a single call that was refused stands behind the state of its batch.
  if (batch !== undefined) settleDebt(batch, violate);
  // One that was given back on the service's word may have been made: its record shows it, or nobody knows.
  const mayHaveBeenMade = attempt.conversation !== null || data['disposition'] === 'unknown';
  const wasMade = attempt.state === 'released' && batch?.denied === true && mayHaveBeenMade;
  if ((type === 'attempt.corrected') !== (attempt.state === 'settled' || wasMade))
    violate('illegal_change', `call ${attemptId} is told of by ${type}, and was ${attempt.state ?? 'open'} before`);
  attempt.state = 'settled';
  if (data['by'] === 'report') takeReport(line, attempt);
  attempt.endedAt = wasMade ? at : (attempt.endedAt ?? at);
  attempt.disposition = textOf(data['disposition']);
  countGoal(campaign, attempt, -1);
  attempt.result = null;
  attempt.asks = null;
  attempt.detail = textOf(data['detail']);
  if (wasMade && attempt.call !== null) numbers.place(attempt.call);
  judgeCounted(line, attempt, recipientId);
  attempt.counted = data['counted'] === true;
  if (attempt.call !== null) {
    attempt.call.counted = attempt.counted;
    attempt.call.talked = isTalk(attempt);
    numbers.closeCall(attempt.call.number, attemptId);
  }
  campaign.open.delete(attempt);
  noteDelay(line, attempt, recipientId);
}

/** A report is the only word on the call, and only a service that gives reports has it. */
function takeReport({ campaign, violate }: JudgedLine, attempt: AttemptBook): void {
  attempt.evidence = 'report';
  if (!campaign.looksUp) violate('cause_missing', `call ${attempt.attemptId} ended by a report, which its service gives none of`);
  if (attempt.conversation !== null) violate('cause_missing', `call ${attempt.attemptId} ended by a report although it has a record`);
}

export function release(line: JudgedLine, attempt: AttemptBook | undefined): void {
  const { campaign, numbers, event, data, violate } = line;
  const { attemptId = '', at } = event;
  if (attempt === undefined) return violate('log_incomplete', `call ${attemptId} was given back and never planned`);
  if (attempt.state !== null) violate('illegal_change', `call ${attemptId} was given back, and was ${attempt.state} before`);
  // One that was not sent yet is given back by the word of the person alone.
  const isOwn = data['by'] !== 'report' && campaign.withdrawn.has(rowOf(attemptId));
  if (data['reason'] === 'withdrawn' && !isOwn && campaign.batches.get(attempt.batchId)?.askedBack !== true)
    violate('cause_missing', `call ${attemptId} was given back as withdrawn, and the service was never asked for it`);
  if (data['by'] === 'report') takeReport(line, attempt);
  attempt.state = 'released';
  attempt.endedAt ??= at;
  campaign.open.delete(attempt);
  if (attempt.call === null) return;
  numbers.unplace(attempt.call);
  numbers.closeCall(attempt.call.number, attemptId);
}

/** An answer of the hook is good for this long. */
const freshMs = 15 * minuteMs;

export function noteScreening({ campaign, event, data }: JudgedLine): void {
  const { batchId = '', at } = event;
  const { eligible } = data;
  campaign.screened.set(batchId, { at, eligible: new Set(Array.isArray(eligible) ? eligible : []) });
}

/** Whether the hook allowed a call that was placed, and not too long before. */
function judgeScreened({ campaign, event, data, violate }: JudgedLine): void {
  if (campaign.rules.preDial === null) return;
  const { batchId = '', attemptId, at } = event;
  const screened = campaign.screened.get(batchId);
  if (screened === undefined || !screened.eligible.has(attemptId) || data['screened'] !== 'eligible')
    violate('unscreened_dialled', `call ${attemptId} was placed without a yes of the pre-dial hook`);
  else if (at - screened.at > freshMs)
    violate('unscreened_dialled', `call ${attemptId} was placed ${at - screened.at} ms after the pre-dial hook allowed it`);
}
