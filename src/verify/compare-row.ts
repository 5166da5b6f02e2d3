import { callsOf, type Campaign } from './book.ts';
import { findAttempt, isTalk, nthOf, rowNumber, rowOf } from './readings.ts';
import { misplacedBy, recordAgainst, resultBy } from './judge-record.ts';
import type { LogAudit } from './fold.ts';
import type { Violate } from './log-rules.ts';
import type { AttemptRow, RecipientRow } from './reader.ts';
import { hashCells, hashRow, type RowFacts } from './row-book.ts';

/** What the log has under an id, and where to note how the tables differ. */
export interface Compared {
  judge: LogAudit;
  campaign: Campaign;
  id: string;
  violate: Violate;
}

export function compareRow({ judge, campaign, id, violate }: Compared, row: RecipientRow | undefined): void {
  const differ = (what: string): void => violate('rows_differ', `row ${id} ${what}`);
  if (row === undefined) return differ('of the list is not in the tables');
  const number = rowNumber(campaign, id);
  if (number === null) return differ('is in the tables, and the log knows of no such row');
  const compare = (what: string, inTable: unknown, inLog: unknown): void => {
    if (inTable !== inLog) differ(`has ${what} ${String(inTable)} in the tables, and ${String(inLog)} in the log`);
  };
  const known = campaign.outcomes.get(id) ?? null;
  // Of rejected rows the log tells the number and the hashes only.
  const isRejected = known === null && row.outcome === 'rejected';
  if (!isRejected) compare('outcome', row.outcome, known);
  const reason = known === null ? null : (campaign.reasons.get(id) ?? null);
  if (!isRejected && row.outcome === known) compare('reason', row.reason, reason);
  const calls = callsOf(campaign, id);
  const waits = calls.some(({ state }) => state === null) ? 'open' : 'waiting';
  if (row.outcome === known || isRejected) compare('state', row.state, row.outcome === null ? waits : 'done');
  if (known === null && waits === 'open' && campaign.withdrawn.has(id) && row.taken_out_at === null)
    differ('was withdrawn with its open call by the log, and not in the tables');
  compare('number', row.row_number, number);
  compare('calls', row.attempts, calls.length);
  compare('result', row.result, calls.findLast((call) => isTalk(call) && call.detail !== 'silent')?.result ?? null);
  compare('last call', row.last_attempt_id, calls.findLast(({ postedAt }) => postedAt !== null)?.attemptId ?? null);
  const { rowKey } = judge;
  const ofTerms = campaign.rowBook.of(number);
  if (ofTerms === undefined || rowKey === null) return;
  const regions = row.regions === null ? null : (JSON.parse(row.regions) as unknown);
  const { e164, external_id: person, country, not_before: notBefore, expires_at: expiresAt } = row;
  const zones = JSON.parse(row.zones) as unknown;
  const later = row.terms === null ? {} : (JSON.parse(row.terms) as RowFacts);
  const facts = { ...later, e164, person, zones, country, regions, notBefore, expiresAt };
  if (hashRow(rowKey, id, facts, ofTerms.version) !== ofTerms.hash)
    differ('leads to another number, person, place or time than its list said');
  const ofCells = campaign.cellBook.of(number);
  const rejectedAs = isRejected ? row.reason : null;
  if (ofCells !== undefined && hashCells(rowKey, id, { cells: row.cells, rejectedAs }) !== ofCells.hash)
    differ('has other cells than its list, or was rejected for another reason');
}

/** As `compareRow`, of a call and the record that it owns. */
export function compareCall({ judge, campaign, id, violate }: Compared, row: AttemptRow | undefined): void {
  const attempt = findAttempt(campaign, id);
  if (row === undefined) return violate('calls_differ', `call ${id} is in the log, and not in the tables`);
  if (attempt === undefined) return violate('calls_differ', `call ${id} is in the tables, and not in the log`);
  const compare = (what: string, inTable: unknown, inLog: unknown): void => {
    if (inTable === inLog) return;
    const both = `${String(inTable)} in the tables, and ${String(inLog)} in the log`;
    violate('calls_differ', `${what} of call ${id} is ${both}`);
  };
  const ended = row.state === 'settled' || row.state === 'released' ? row.state : null;
  compare('the row', row.recipient_id, rowOf(id));
  compare('the place in its row', row.number, nthOf(attempt));
  compare('the agent', row.agent_id, campaign.rules.agentId);
  compare('the end', ended, attempt.state);
  compare('the batch', row.batch_id, attempt.batchId);
  if (attempt.call !== null && (row.e164 !== attempt.call.number || row.person !== attempt.call.person))
    violate('calls_differ', `call ${id} went to another number or person by the tables than by the log`);
  // The fate of a batch that was posted again may be unknown: then the first request counts.
  const postedAt = [attempt.postedAt, attempt.call?.at ?? null, campaign.batches.get(attempt.batchId)?.firstPostedAt];
  if (!postedAt.includes(row.posted_at)) compare('the time', row.posted_at, attempt.postedAt);
  if (ended === 'settled' && attempt.state === 'settled') {
    compare('the disposition', row.disposition, attempt.disposition);
    compare('the detail', row.detail, attempt.detail);
    compare('the place in the budget', row.counted === 1, attempt.counted);
  }
  if (ended !== null && attempt.state === ended) compare('the end', row.settled_at, attempt.endedAt);
  compare('the result', row.result, attempt.result);
  compare('what it asks for', row.asks, attempt.asks);
  compare('the record', row.conversation_id, attempt.conversation);
  compare('the evidence', row.evidence, attempt.evidence);
  if (row.conversation_id !== null && row.owner !== id)
    violate('calls_differ', `record ${row.conversation_id} of call ${id} ${ownerOf(row)}`);
  const says = recordAgainst(campaign.rules, row);
  if (says !== null) violate('record_contradicts', `call ${id} ended as ${row.disposition}, and its record says ${says}`);
  const came = resultBy(campaign.rules, row);
  if ((came?.result ?? null) !== row.result)
    violate('record_contradicts', `call ${id} came to ${row.result}, and its record says ${came?.result ?? null}`);
  if (!mayAsk(row.asks, came?.asks ?? null))
    violate('record_contradicts', `call ${id} asks for ${row.asks}, and its record for ${came?.asks ?? null}`);
  const misplaced = misplacedBy(judge, row);
  if (misplaced !== null) violate('record_ignored', `conversation ${row.conversation_id} belongs to call ${id}, and ${misplaced}`);
}

function ownerOf({ facts, owner }: AttemptRow): string {
  if (facts === null) return 'is not in the tables';
  return owner === null ? 'belongs to nobody in the tables' : `belongs to call ${owner} in the tables`;
}

/** Whether a call may ask for this by its record. When somebody wants to be called back may be unclear, and a person may say so, too. */
function mayAsk(asks: string | null, told: string | null): boolean {
  return asks === 'person' || asks === told || (told === 'callback' && (asks === null || asks === 'retry'));
}
