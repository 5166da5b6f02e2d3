import { callsOf, rowNumber, type AttemptBook, type BatchBook, type JudgedLine } from './campaign-book.ts';
import { countOnLine, judgeDelay, limitsOf } from './judge-limits.ts';
import { reached } from './judge-outcome.ts';

/** Notes a batch that was planned. Those of a round have no gap: one that is missing was taken out of the log. */
export function planBatch({ campaign, event, data, violate }: JudgedLine): void {
  const { batchId = '', at } = event;
  const batch: BatchBook = {
    batchId,
    state: 'intent',
    serviceId: null,
    size: Number(data['size']),
    planned: 0,
    k: 0,
    verdicts: [],
    told: [],
    firstPostedAt: null,
    denied: false,
    calls: [],
    posted: 0,
    owes: null,
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
