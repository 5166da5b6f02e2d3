import { callingAttemptStates } from '../../rules/ledger.ts';
import { changeCampaignState, lastBatchNumber } from '../rows/campaigns.ts';
import { createBatch } from '../rows/create-batch.ts';
import { attemptsOf } from '../reads.ts';
import type { Tx } from '../tx.ts';
import { requireRecipient } from '../rows/recipients.ts';
import { refusedInBatch, releaseBatchAttempts } from '../rows/release.ts';
import { settleAttempts } from '../rows/settle.ts';
import type { AttemptRow, BatchRow } from '../schema.ts';

/** After this many in a row the numbers are hardly the cause. */
const refusalsBeforePause = 5;

/** For an operator to check, per status; the service's own text stays in the ledger (table `posts`). */
const pauseReasons: Readonly<Record<number, string>> = {
  400: 'The service refuses the batch as a whole (400)',
  401: 'The service refuses the API key (401): set SVC_API_KEY',
  402: 'The service asks for payment (402)',
  403: 'The service does not allow this (403): check what the key may do, and whether the account has accepted the terms of such calls',
  404: 'The service does not know the agent or the caller number, or has no such operation (404): check them and SVC_API',
  405: 'The service does not offer batch calls at this address (405): check SVC_BASE_URL and SVC_API',
  413: 'The batch is too large for the service (413): lower pacing.batch_size',
  415: 'The service refuses the content type (415): check SVC_BASE_URL',
  422: 'The service refuses the batch as a whole (422)',
};

/** Plans the refused recipients in two smaller batches; the planner reaches them by number. */
async function splitBatch(tx: Tx, batch: BatchRow, { attempts, now }: { attempts: AttemptRow[]; now: number }) {
  const { campaign_id: campaignId, round, caller } = batch;
  await releaseBatchAttempts(tx, batch, { reason: refusedInBatch, now });
  // The planner takes batches in order, so the halves go last.
  let n = await lastBatchNumber(tx, batch);
  const half = Math.ceil(attempts.length / 2);
  for (const part of [attempts.slice(0, half), attempts.slice(half)]) {
    n += 1;
    const first = part[0];
    if (first === undefined) continue;
    const recipients = [];
    for (const { recipient_id: id, opening_line: openingLine } of part)
      recipients.push({ row: await requireRecipient(tx, id), openingLine });
    const prefix = first.reference === null ? null : first.reference.slice(0, first.reference.indexOf(':') + 1);
    const reference = prefix === null ? null : (attemptId: string) => `${prefix}${attemptId}`;
    const wordsKept = part.some((attempt) => attempt.words_key !== null);
    const agentId = first.agent_id;
    await createBatch(tx, { campaignId, round, n, now, agentId, caller, reference, recipients, wordsKept });
  }
}

/** Whether smaller batches may help: the calls were refused, not the request or its sender. */
export function isAboutCalls(status: number, wholeRequest: boolean): boolean {
  return (status === 400 || status === 422) && !wholeRequest;
}

/** More dialling cannot fix this refusal: requeues the recipients and pauses the campaign. */
export async function pauseForRefusal(tx: Tx, batch: BatchRow, { status, now }: { status: number; now: number }): Promise<void> {
  await releaseBatchAttempts(tx, batch, { reason: `refused_${status}`, now });
  const reason = `${pauseReasons[status] ?? `The service refuses batches (${status})`}. Fix it, then resume.`;
  await changeCampaignState(tx, { campaignId: batch.campaign_id, now }, { to: 'paused', reason });
}

/** For a batch refused for one of its calls, which no record contradicts: resends halves until the call is found. */
export async function applyRefusal(tx: Tx, batch: BatchRow, now: number): Promise<void> {
  const at = { campaignId: batch.campaign_id, now };
  const attempts = await attemptsOf(tx, batch.batch_id, callingAttemptStates);
  if (batch.size > 1) return splitBatch(tx, batch, { attempts, now });
  const result = { disposition: 'invalid_number', detail: null, counted: true } as const;
  await settleAttempts(
    tx,
    at,
    attempts.map((attempt) => ({ attemptId: attempt.attempt_id, result })),
  );
  const { refused_streak: streak } = await tx
    .updateTable('rounds')
    .set((eb) => ({ refused_streak: eb('refused_streak', '+', 1) }))
    .where('campaign_id', '=', batch.campaign_id)
    .where('round', '=', batch.round)
    .returning('refused_streak')
    .executeTakeFirstOrThrow();
  if (streak < refusalsBeforePause) return;
  const reason = `${streak} calls in a row were refused. Check the numbers and the table posts, then resume.`;
  await changeCampaignState(tx, at, { to: 'paused', reason });
}
