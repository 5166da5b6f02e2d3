import { type BatchBook, type JudgedLine, callsOf, rowNumber, type AttemptBook } from './campaign-book.ts';
import { takeBackStarts, countOnLine, judgeDelay, limitsOf } from './judge-limits.ts';
import { numberOf, textOf } from './judged-rules.ts';
import type { Violate } from './log-rules.ts';
import { reached } from './judge-outcome.ts';

/** How a batch may change. Written down anew: that the dialler allows a change is no reason to. */
const batchMoves: Readonly<Record<string, readonly string[]>> = {
  intent: ['posting', 'released'],
  posting: ['confirmed', 'refused', 'not_sent', 'unknown'],
  not_sent: ['posting', 'released', 'unknown'],
  unknown: ['confirmed', 'not_sent', 'refused', 'held'],
  held: ['confirmed', 'redial', 'given_up'],
  refused: ['unknown'],
  redial: ['confirmed'],
  given_up: ['confirmed'],
};

/** The state that a verdict brings about, from the states in which it has a say. */
const broughtBy: Readonly<Record<string, readonly string[]>> = {
  confirmed: ['posting', 'unknown', 'held'],
  refused: ['posting', 'unknown'],
  not_sent: ['posting'],
  unknown: ['posting'],
};

export function beginPost({ campaign, event, data, violate }: JudgedLine, batch: BatchBook): void {
  const { batchId } = batch;
  const k = Number(data['k']);
  settleDebt(batch, violate);
  if (batch.k > 0 && !isIdle(batch.verdicts[batch.k - 1]))
    violate('dialled_twice', `request ${k} of batch ${batchId} began although ${batch.k} may have been carried out`);
  if (k !== batch.k + 1) violate('log_incomplete', `request ${k} of batch ${batchId} began, and the one before it was ${batch.k}`);
  if (campaign.state !== 'running') violate('dialled_while_stopped', `batch ${batchId} was sent while the campaign was ${campaign.state}`);
  if (campaign.callersOut.has(String(data['caller'])))
    violate('caller_out_dialled', `batch ${batchId} was sent from ${String(data['caller'])}`);
  if (batch.planned !== batch.size)
    violate('log_incomplete', `batch ${batchId} was to have ${batch.size} calls, and the log has ${batch.planned}`);
  campaign.speed = Math.max(campaign.speed, numberOf(data['speed']) ?? 1);
  batch.firstPostedAt ??= event.at;
  batch.caller = textOf(data['caller']) ?? '';
  batch.k = k;
  batch.verdicts[k - 1] = null;
  batch.told[k - 1] = null;
  batch.calls = [];
  batch.posted = numberOf(data['size']) ?? 0;
  changeState(batch, 'posting', violate);
}

function isIdle(verdict: string | null | undefined): boolean {
  return verdict === 'not_sent' || verdict === 'refused';
}

/** What is known of a request; answers how many of its calls were never sent, and so are none. */
export function takeVerdict({ campaign, numbers, data, violate }: JudgedLine, batch: BatchBook): number {
  const { batchId } = batch;
  const k = Number(data['k']);
  const verdict = String(data['verdict']);
  if (k > batch.k) violate('log_incomplete', `request ${k} of batch ${batchId} has a verdict and was never begun`);
  if (batch.verdicts[k - 1] != null) violate('illegal_change', `request ${k} of batch ${batchId} has a second verdict, ${verdict}`);
  batch.verdicts[k - 1] = verdict;
  batch.told[k - 1] = verdict;
  if (isIdle(verdict) && numberOf(data['status']) !== null) batch.denied = true;
  if (k !== batch.k) return 0;
  if (batch.calls.length !== batch.posted) {
    const calls = `${batch.posted} calls, and the log has ${batch.calls.length}`;
    violate('log_incomplete', `request ${k} of batch ${batchId} was to have ${calls}`);
  }
  if (broughtBy[verdict]?.includes(batch.state) === true) batch.owes = verdict;
  if (!isIdle(verdict)) return 0;
  for (const { call } of batch.calls) if (call !== null) numbers.unplace(call);
  takeBackStarts(campaign, new Set(batch.calls));
  return batch.calls.length;
}

/** A batch changes its state; answers how many more calls count as placed: negative where a look-up shows that none was. */
export function moveBatch({ campaign, numbers, event, data, violate }: JudgedLine, batch: BatchBook): number {
  const { batchId } = batch;
  const to = String(data['state']);
  const verdict = batch.verdicts[batch.k - 1] ?? null;
  const lookedUp = data['by'] === 'look_up';
  if (lookedUp && !campaign.looksUp) violate('cause_missing', `batch ${batchId} is ${to} by a look-up, which its service has none of`);
  const needsVerdict = to === 'refused' || (!lookedUp && (to === 'not_sent' || (to === 'confirmed' && data['by'] !== 'evidence')));
  if (needsVerdict && !batch.verdicts.includes(to))
    violate('cause_missing', `batch ${batchId} is ${to}, and no request of it has that verdict`);
  if (batch.owes === to) batch.owes = null;
  batch.serviceId ??= textOf(data['service_batch_id']);
  // The line of the record that proves it stands behind.
  if (to === 'confirmed' && data['by'] === 'evidence')
    batch.lacksMatch = batch.calls.some(({ conversation }) => conversation !== null) ? null : event;
  // Nothing can become of them any more.
  if (to === 'confirmed') Object.assign(batch, { calls: [], posted: 0 });
  if (to === 'refused') campaign.split = { at: event.at, limits: batch.limits };
  settleDebt(batch, violate);
  changeState(batch, to, violate);
  if (lookedUp && to === 'not_sent') {
    // None of its calls was ever made, unless a record names one all the same.
    batch.denied = true;
    for (const { call } of batch.calls) if (call !== null) numbers.unplace(call);
    takeBackStarts(campaign, new Set(batch.calls));
    return -batch.calls.length;
  }
  if (to !== 'unknown' || !isIdle(verdict)) return 0;
  // A record outranks the word that nothing was queued.
  for (const { call } of batch.calls) if (call !== null) numbers.place(call);
  batch.verdicts[batch.k - 1] = 'unknown';
  return batch.calls.length;
}

function changeState(batch: BatchBook, to: string, violate: Violate): void {
  const from = batch.state;
  batch.state = to;
  if (batchMoves[from]?.includes(to) !== true) violate('illegal_change', `batch ${batch.batchId} went from ${from} to ${to}`);
}

/** A verdict changes the batch in the same breath: any other line about it shows that the change was taken out. */
export function settleDebt(batch: BatchBook, violate: Violate): void {
  const { batchId, owes } = batch;
  batch.owes = null;
  if (owes !== null) violate('cause_missing', `batch ${batchId} has the verdict ${owes}, and never became so`);
}

/** Notes a batch that was planned. Those of a round have no gap: one that is missing was taken out of the log. */
export function planBatch({ campaign, event, data, violate }: JudgedLine): void {
  const { batchId = '', at } = event;
  const batch: BatchBook = {
    batchId,
    state: 'intent',
    serviceId: null,
    size: Number(data['size']),
    planned: 0,
    caller: '',
    k: 0,
    verdicts: [],
    told: [],
    firstPostedAt: null,
    denied: false,
    calls: [],
    posted: 0,
    owes: null,
    askedBack: false,
    lacksMatch: null,
    limits: limitsOf(campaign, at),
    onLine: countOnLine(campaign, at),
  };
  campaign.batches.set(batchId, batch);
  const [, round, number] = /\/(\d+)\/(\d+)$/.exec(batchId) ?? [];
  if (round === undefined) return;
  const before = campaign.batchesOf.get(round) ?? 0;
  campaign.batchesOf.set(round, Number(number));
  if (Number(number) !== before + 1) violate('log_incomplete', `batch ${batchId} was planned, and the last one of its round was ${before}`);
}

/** Notes an attempt that was planned. Those of a row have no gap either. */
export function planAttempt(line: JudgedLine): void {
  const { campaign, event, violate } = line;
  const { attemptId = '', recipientId = '', batchId = '' } = event;
  const calls = callsOf(campaign, recipientId);
  judgeDelay(line, recipientId);
  const batch = campaign.batches.get(batchId);
  const attempt: AttemptBook = {
    attemptId,
    // One text for all of its calls: there may be a million.
    batchId: batch?.batchId ?? batchId,
    call: null,
    postedAt: null,
    endedAt: null,
    state: null,
    disposition: null,
    result: null,
    asks: null,
    detail: null,
    counted: false,
    budget: campaign.budgets.get(recipientId) ?? 0,
    conversation: null,
    evidence: null,
    retryFrom: null,
    zones: null,
    overAt: null,
  };
  campaign.calls.set(recipientId, [...calls, attempt]);
  campaign.open.add(attempt);
  if (batch !== undefined) batch.planned += 1;
  const outcome = campaign.outcomes.get(recipientId);
  // Of those who were reached the call itself is named.
  if (outcome !== undefined && !reached.includes(outcome))
    violate('outcome_changed', `call ${attemptId} was planned although the outcome was ${outcome}`);
  if (rowNumber(campaign, recipientId) === null)
    violate('log_incomplete', `call ${attemptId} was planned for ${recipientId}, which is no row of the list`);
  if (attemptId !== `${recipientId}/${calls.length + 1}`)
    violate('log_incomplete', `call ${attemptId} was planned, and the log has ${calls.length} before it`);
}
