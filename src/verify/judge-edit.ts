import { callsOf, forgetDelays, renewBudget, rowNumber, type JudgedLine } from './campaign-book.ts';
import { textOf } from './judged-rules.ts';

/** Outcomes that a correction may take back: such a recipient was never called, or under a number that does not exist. */
const correctable: readonly string[] = ['rejected', 'undialable', 'cancelled'];
/** Outcomes after which a person may have somebody called again. */
const retriable: readonly string[] = ['exhausted', 'unresolved', 'expired', 'cancelled', 'undialable'];

export function judgeEdit(line: JudgedLine): void {
  const { campaign, event, data } = line;
  const recipientId = event.recipientId ?? '';
  const { edits } = campaign;
  if (event.type === 'campaign.edited') return judgeCounts(line);
  if (event.type === 'recipient.withdrawn') {
    edits.withdrawn += 1;
    campaign.withdrawn.add(recipientId);
    return data['callOpen'] === true ? judgeWish(line, recipientId) : judgeOpen(line, 'withdrawn');
  }
  if (event.type === 'recipient.added') campaign.rows += 1;
  const row = rowNumber(campaign, recipientId);
  if (row !== null) campaign.rowBook.change(row, String(data['hash']), Number(data['version'] ?? 1));
  if (row !== null) campaign.cellBook.change(row, textOf(data['cells']));
  if (event.type === 'recipient.added') {
    edits.added += 1;
    return;
  }
  edits.corrected += 1;
  // The zones that a day's delay was reckoned with may be others now.
  for (const attempt of callsOf(campaign, recipientId)) attempt.zones = null;
  judgeOpen(line, 'changed');
  correct(line, recipientId);
}

/** A person gave the row a budget anew, which only somebody who was not reached may get. */
export function judgeRetry({ campaign, event: { recipientId = '' }, violate }: JudgedLine): void {
  const outcome = campaign.outcomes.get(recipientId);
  campaign.outcomes.delete(recipientId);
  campaign.requeued.add(recipientId);
  renewBudget(campaign, recipientId);
  if (outcome === undefined || !retriable.includes(outcome))
    violate('reached_dialled', `${recipientId} was put back in line although the outcome was ${outcome}`);
}

export function judgeWithdrawn({ campaign, event, violate }: JudgedLine, recipientId: string): void {
  if (campaign.withdrawn.has(recipientId))
    violate('withdrawn_dialled', `call ${event.attemptId} was placed although ${recipientId} was withdrawn`);
}

/** Only a service that gives calls back is asked for one that is planned or open, and then there is one. */
function judgeWish({ campaign, violate }: JudgedLine, recipientId: string): void {
  if (!campaign.looksUp) violate('open_changed', `${recipientId} was withdrawn while a call was open that its service gives not back`);
  const last = callsOf(campaign, recipientId).at(-1);
  // What its talk came to may be still to be told.
  const isAwaited =
    last?.disposition === 'answered' && last.result === null && campaign.rules.results.some(({ next }) => next !== undefined);
  if (last?.state !== null && !isAwaited)
    violate('log_incomplete', `${recipientId} was withdrawn with its open call, and the log has no such call`);
}

function judgeOpen({ campaign, event: { recipientId }, violate }: JudgedLine, what: 'withdrawn' | 'changed'): void {
  if (callsOf(campaign, recipientId ?? '').at(-1)?.state === null)
    violate('open_changed', `${recipientId} was ${what} while a call to them was planned or open`);
}

function correct({ campaign, data, violate }: JudgedLine, recipientId: string): void {
  const told = textOf(data['outcome']);
  const known = campaign.outcomes.get(recipientId) ?? null;
  if (told === 'rejected' ? known !== null : told !== known)
    violate('log_incomplete', `${recipientId} was corrected as ${told}, and the log has it as ${known}`);
  if (known !== null && !correctable.includes(known))
    violate('reached_dialled', `${recipientId} was put back in line although the outcome was ${known}`);
  if (told === 'rejected') campaign.rejected -= 1;
  if (told === 'rejected' && campaign.rejected < 0)
    violate('log_incomplete', `${recipientId} was corrected as rejected, and all rejected rows were corrected before`);
  // Another number is called with a budget of its own.
  if (told === 'undialable' && data['numberChanged'] === true) renewBudget(campaign, recipientId);
  // One whose number was refused has no delay to wait for.
  else if (told === 'undialable') forgetDelays(campaign, recipientId);
  campaign.outcomes.delete(recipientId);
  campaign.withdrawn.delete(recipientId);
}

function judgeCounts({ campaign: { edits }, data, violate }: JudgedLine): void {
  for (const kind of ['added', 'corrected', 'withdrawn'] as const) {
    const told = Number(data[kind]);
    if (told !== edits[kind]) violate('log_incomplete', `${told} rows were to have been ${kind}, and the log has ${edits[kind]}`);
    edits[kind] = 0;
  }
}
