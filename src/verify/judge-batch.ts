import type { LoggedEvent } from './logged-event.ts';
import type { BatchBook, CampaignBook } from './campaign-book.ts';
import { takeBackStarts } from './judge-limits.ts';
import { numberOf } from './judged-rules.ts';
import type { Found } from './log-rules.ts';
import type { NumberBook } from './number-book.ts';
import { mayBatchMove } from './transitions.ts';

/** The state that a verdict brings about, from the states in which it has a say. */
const broughtBy: Readonly<Record<string, readonly string[]>> = {
  confirmed: ['posting', 'unknown', 'held'],
  refused: ['posting', 'unknown'],
  not_sent: ['posting'],
  unknown: ['posting'],
};

/** A request begins. */
export function beginPost(campaign: CampaignBook, batch: BatchBook, event: LoggedEvent): Found {
  const { batchId, at, data = {} } = event;
  const k = Number(data['k']);
  const found: Found = [...settleDebt(batch, event)];
  if (batch.k > 0 && !isIdle(batch.verdicts[batch.k - 1]))
    found.push([
      'dialled_twice',
      `request ${k} of batch ${batchId} began although ${batch.k} may have been carried out`,
    ]);
  if (k !== batch.k + 1)
    found.push(['log_incomplete', `request ${k} of batch ${batchId} began, and the one before it was ${batch.k}`]);
  if (campaign.state !== 'running')
    found.push(['dialled_while_stopped', `batch ${batchId} was sent while the campaign was ${campaign.state}`]);
  if (campaign.callersOut.has(String(data['caller'])))
    found.push(['caller_out_dialled', `batch ${batchId} was sent from ${String(data['caller'])}`]);
  if (batch.planned !== batch.size)
    found.push([
      'log_incomplete',
      `batch ${batchId} was to have ${batch.size} calls, and the log has ${batch.planned}`,
    ]);
  batch.firstPostedAt ??= at;
  batch.k = k;
  batch.verdicts[k - 1] = null;
  batch.told[k - 1] = null;
  batch.calls = [];
  batch.posted = numberOf(data['size']) ?? 0;
  return [...found, ...changeState(batch, event, 'posting')];
}

function isIdle(verdict: string | null | undefined): boolean {
  return verdict === 'not_sent' || verdict === 'refused';
}

/** What is known of a request. Calls that were never sent are none. */
export function takeVerdict(
  campaign: CampaignBook,
  batch: BatchBook,
  numbers: NumberBook,
  event: LoggedEvent,
): { found: Found; unsent: number } {
  const { batchId, data = {} } = event;
  const k = Number(data['k']);
  const verdict = String(data['verdict']);
  const found: Found = [];
  if (k > batch.k) found.push(['log_incomplete', `request ${k} of batch ${batchId} has a verdict and was never begun`]);
  if (batch.verdicts[k - 1] != null)
    found.push(['illegal_change', `request ${k} of batch ${batchId} has a second verdict, ${verdict}`]);
  batch.verdicts[k - 1] = verdict;
  batch.told[k - 1] = verdict;
  if (isIdle(verdict) && numberOf(data['status']) !== null) batch.denied = true;
  if (k !== batch.k) return { found, unsent: 0 };
  if (batch.calls.length !== batch.posted)
    found.push([
      'log_incomplete',
      `request ${k} of batch ${batchId} was to have ${batch.posted} calls, and the log has ${batch.calls.length}`,
    ]);
  if (broughtBy[verdict]?.includes(batch.state) === true) batch.owes = verdict;
  if (!isIdle(verdict)) return { found, unsent: 0 };
  for (const { call } of batch.calls) if (call !== null) numbers.unplace(call);
  takeBackStarts(campaign, new Set(batch.calls));
  return { found, unsent: batch.calls.length };
}

/** A batch changes its state; answers the calls that count as placed again, too. */
export function moveBatch(
  campaign: CampaignBook,
  batch: BatchBook,
  numbers: NumberBook,
  event: LoggedEvent,
): { found: Found; placedAgain: number } {
  const { batchId, at, data = {} } = event;
  const to = String(data['state']);
  const found: Found = [];
  const verdict = batch.verdicts[batch.k - 1] ?? null;
  const needsVerdict = to === 'refused' || to === 'not_sent' || (to === 'confirmed' && data['by'] !== 'evidence');
  if (needsVerdict && !batch.verdicts.includes(to))
    found.push(['cause_missing', `batch ${batchId} is ${to}, and no request of it has that verdict`]);
  if (batch.owes === to) batch.owes = null;
  // The line of the record that proves it stands behind.
  if (to === 'confirmed' && data['by'] === 'evidence')
    batch.lacksMatch = batch.calls.some(({ conversation }) => conversation !== null) ? null : event;
  // Nothing can become of them any more.
  if (to === 'confirmed') Object.assign(batch, { calls: [], posted: 0 });
  if (to === 'refused') campaign.split = { at, limits: batch.limits };
  found.push(...settleDebt(batch, event), ...changeState(batch, event, to));
  let placedAgain = 0;
  if (to === 'unknown' && isIdle(verdict)) {
    // A record outranks the word that nothing was queued.
    for (const { call } of batch.calls) if (call !== null) numbers.place(call);
    placedAgain = batch.calls.length;
    batch.verdicts[batch.k - 1] = 'unknown';
  }
  return { found, placedAgain };
}

function changeState(batch: BatchBook, { batchId }: LoggedEvent, to: string): Found {
  const from = batch.state;
  batch.state = to;
  if (mayBatchMove(from, to)) return [];
  return [['illegal_change', `batch ${batchId} went from ${from} to ${to}`]];
}

/** A verdict changes the batch in the same breath: any other line about it shows that the change was taken out. */
export function settleDebt(batch: BatchBook, { batchId }: Pick<LoggedEvent, 'batchId'>): Found {
  const { owes } = batch;
  batch.owes = null;
  return owes === null ? [] : [['cause_missing', `batch ${batchId} has the verdict ${owes}, and never became so`]];
}
