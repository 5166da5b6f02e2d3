import type { Selectable } from 'kysely';
import { callingAttemptStates } from '../../domain/ledger.ts';
import { batchIdOf } from '../../domain/ids.ts';
import { changeCampaignState } from '../rows/campaigns.ts';
import { createBatch } from '../rows/create-batch.ts';
import type { Queries } from '../open-ledger.ts';
import { refusedInBatch, releaseBatchAttempts } from '../rows/release.ts';
import type { Database } from '../schema.ts';
import { settleAttempts } from '../rows/settle.ts';

type BatchRow = Selectable<Database['batches']>;

/** Single calls refused in a row after which it is hardly the numbers that are wrong. */
const refusalsBeforePause = 5;

/** What a person has to look at, per status; the service's own words stay in the ledger (table `posts`). */
const pauseReasons: Readonly<Record<number, string>> = {
  400: 'The service refuses the batch as a whole (400)',
  401: 'The service refuses the API key (401): set SVC_API_KEY',
  402: 'The service asks for payment (402)',
  403: 'The service does not allow this (403)',
  404: 'The service does not know the agent or the caller number (404)',
  405: 'The service does not offer batch calls at this address (405): check SVC_BASE_URL',
  413: 'The batch is too large for the service (413): lower pacing.batch_size',
  415: 'The service refuses the content type (415): check SVC_BASE_URL',
  422: 'The service refuses the batch as a whole (422)',
};

/** Plans the refused recipients again in two smaller batches, which the planner finds when it comes to their numbers. */
async function splitBatch(tx: Queries, batch: BatchRow, now: number): Promise<void> {
  const attempts = await tx
    .selectFrom('attempts')
    .selectAll()
    .where('batch_id', '=', batch.batch_id)
    .where('state', 'in', callingAttemptStates)
    .orderBy('position')
    .execute();
  await releaseBatchAttempts(tx, batch.campaign_id, batch.batch_id, refusedInBatch, now);
  // The planner takes stored batches one by one, so the halves stand behind whatever is stored already.
  const last = await tx
    .selectFrom('batches')
    .select((eb) => eb.fn.max('n').as('n'))
    .where('campaign_id', '=', batch.campaign_id)
    .where('round', '=', batch.round)
    .executeTakeFirstOrThrow();
  const half = Math.ceil(attempts.length / 2);
  for (const [index, part] of [attempts.slice(0, half), attempts.slice(half)].entries()) {
    const n = last.n + 1 + index;
    const recipients = [];
    for (const attempt of part) {
      const row = await tx
        .selectFrom('recipients')
        .selectAll()
        .where('recipient_id', '=', attempt.recipient_id)
        .executeTakeFirstOrThrow();
      recipients.push({ row, openingLine: attempt.opening_line });
    }
    const first = part[0];
    if (first === undefined) continue;
    const prefix = first.reference === null ? null : first.reference.slice(0, first.reference.indexOf(':') + 1);
    await createBatch(tx, {
      batchId: batchIdOf(batch.campaign_id, batch.round, n),
      campaignId: batch.campaign_id,
      round: batch.round,
      n,
      now,
      agentId: first.agent_id,
      caller: batch.caller,
      reference: prefix === null ? null : (attemptId) => `${prefix}${attemptId}`,
      recipients,
      wordsKept: part.some((attempt) => attempt.words_key !== null),
    });
  }
}

/** Whether smaller batches may help: the service complains about the calls, not about the request or who makes it. */
export function isAboutCalls(status: number, wholeRequest: boolean): boolean {
  return (status === 400 || status === 422) && !wholeRequest;
}

/** A refusal that dialling on would not mend: its people go back in line, and the campaign pauses with the reason. */
export async function pauseForRefusal(tx: Queries, batch: BatchRow, status: number, now: number): Promise<void> {
  const { campaign_id: campaignId, batch_id: batchId } = batch;
  await releaseBatchAttempts(tx, campaignId, batchId, `refused_${status}`, now);
  const reason = `${pauseReasons[status] ?? `The service refuses batches (${status})`}. Fix it, then resume.`;
  await changeCampaignState(tx, campaignId, 'paused', reason, now);
}

/**
 * What follows when a batch was refused for one of its calls, and no record speaks against that: it is sent again in halves until the call
 * is found.
 */
export async function applyRefusal(tx: Queries, batch: BatchRow, now: number): Promise<void> {
  const { campaign_id: campaignId, batch_id: batchId } = batch;
  if (batch.size > 1) {
    await splitBatch(tx, batch, now);
    return;
  }
  await settleAttempts(
    tx,
    campaignId,
    [{ batchId, result: { disposition: 'invalid_number', detail: null, counted: true } }],
    now,
  );
  const round = await tx
    .updateTable('rounds')
    .set((eb) => ({ refused_streak: eb('refused_streak', '+', 1) }))
    .where('campaign_id', '=', campaignId)
    .where('round', '=', batch.round)
    .returning('refused_streak')
    .executeTakeFirstOrThrow();
  if (round.refused_streak >= refusalsBeforePause) {
    const reason = `${round.refused_streak} calls in a row were refused. Check the numbers and the table posts, then resume.`;
    await changeCampaignState(tx, campaignId, 'paused', reason, now);
  }
}
