import type { Outcome } from '../domain/outcome.ts';
import { findCampaign, type Campaign } from './campaigns.ts';
import { withdrawnReason } from './edit-verdict.ts';
import { appendEvents } from './events.ts';
import { lockCampaign, type Queries, type Store } from './open-store.ts';
import { requeueRecipient } from './recipients.ts';

/** Outcomes after which somebody may be called again: they were not reached, and nothing forbids it. */
export const retriableOutcomes = [
  'exhausted',
  'unresolved',
  'expired',
  'cancelled',
  'undialable',
] as const satisfies Outcome[];
export type RetriableOutcome = (typeof retriableOutcomes)[number];

/** Thrown when a campaign cannot be retried in its present state; the message says what to do. */
export class RetryRefusedError extends Error {
  override readonly name = 'RetryRefusedError' as const;
  readonly exitCode = 2;
}

const rowsPerCommit = 500;

/**
 * Puts recipients of an ended campaign back in line, with a budget of attempts anew: their history stays, attempt numbers go on, and
 * caps still count every call. Answers how many; the next round then has to be started. Idempotent: whoever waits already is left alone.
 */
export async function retryEnded(
  store: Store,
  campaignId: string,
  outcomes: readonly RetriableOutcome[],
  now: number,
): Promise<number> {
  let requeued = 0;
  for (;;) {
    const part = await store.transaction(async (tx) => {
      await lockCampaign(tx, store, campaignId);
      // Only the first part finds the campaign ended and nobody waiting; the others belong to the same command.
      if (requeued === 0) refuseUnlessEnded(await findCampaign(tx, campaignId), now);
      return requeuePart(tx, campaignId, outcomes, now);
    });
    requeued += part;
    if (part < rowsPerCommit) return requeued;
  }
}

function refuseUnlessEnded(campaign: Campaign | undefined, now: number): void {
  if (campaign === undefined) throw new RetryRefusedError('The campaign is not in this database.');
  const { campaignId, state, rules } = campaign;
  if (state !== 'completed' && state !== 'cancelled') {
    throw new RetryRefusedError(
      `Campaign ${campaignId} is ${state}; retry it when it has ended. Its own retries follow the retry: settings of its file.`,
    );
  }
  if (rules.endsAt !== null && rules.endsAt <= now) {
    throw new RetryRefusedError(
      `Campaign ${campaignId} ended for good at ${new Date(rules.endsAt).toISOString()} (ends_at): nobody would be called. Start a new campaign with the rows that are left.`,
    );
  }
}

async function requeuePart(
  tx: Queries,
  campaignId: string,
  outcomes: readonly RetriableOutcome[],
  now: number,
): Promise<number> {
  const rows = await tx
    .selectFrom('recipients')
    .selectAll()
    .where('campaign_id', '=', campaignId)
    .where('state', '=', 'done')
    .where('outcome', 'in', outcomes)
    // Whom a person took out comes back only by a person's word about that row.
    .where((eb) => eb.or([eb('reason', 'is', null), eb('reason', '!=', withdrawnReason)]))
    .orderBy('row_number')
    .limit(rowsPerCommit)
    .execute();
  for (const row of rows) {
    await requeueRecipient(tx, campaignId, { ...row, posted: row.last_attempt_id !== null }, now, now);
    await tx
      .updateTable('recipients')
      .set({ counted: 0, uncounted_in_row: 0, budget_from: row.attempts })
      .where('recipient_id', '=', row.recipient_id)
      .execute();
  }
  await appendEvents(
    tx,
    rows.map((row) => ({
      at: now,
      campaignId,
      type: 'recipient.retried' as const,
      recipientId: row.recipient_id,
      data: { outcome: row.outcome, by: 'person' },
    })),
  );
  return rows.length;
}
