import { hasClosed } from '../../rules/lifecycle.ts';
import { notToldApart } from '../../rules/disposition.ts';
import { retriableOutcomes, type RetriableOutcome } from '../../rules/outcome.ts';
import type { NewEvent } from '../../rules/events.ts';
import { changeAggregates, type AggregateChange } from '../aggregates.ts';
import { findCampaign, type Campaign } from '../rows/campaigns.ts';
import { RefusedError } from '../ledger-error.ts';
import { withdrawnReason } from '../../rules/attempts/eligibility.ts';
import { appendEvents } from '../events.ts';
import { countBy } from '../reads.ts';
import { lockedTransaction } from '../locks.ts';
import type { At, Queries, Tx, Store } from '../tx.ts';

export class RetryRefusedError extends RefusedError {
  override readonly name = 'RetryRefusedError' as const;
}

const rowsPerCommit = 500;

/**
 * Requeues with a new budget; history, attempt numbers and caps continue. Returns the count; the caller starts the next round. Idempotent.
 */
export async function retryEnded(store: Store, { campaignId, now }: At, outcomes: readonly RetriableOutcome[]): Promise<number> {
  let requeued = 0;
  let after = 0;
  for (;;) {
    const part = await lockedTransaction(store, campaignId, async (tx) => {
      // Checked once: the later parts belong to the same command.
      if (requeued === 0) refuseUnlessEnded(await findCampaign(tx, campaignId), now);
      return requeuePart(tx, { campaignId, now }, { outcomes, after });
    });
    requeued += part.length;
    if (part.length < rowsPerCommit) return requeued;
    after = part.at(-1)?.row_number ?? after;
  }
}

export function refuseUnlessRetriable({ campaignId, state }: Campaign): void {
  if (state === 'failed')
    throw new RetryRefusedError(`Campaign ${campaignId} has failed, so it cannot be retried now.`, {
      kind: 'fix_failure',
      campaignId,
    });
  if (!hasClosed({ state })) {
    throw new RetryRefusedError(
      `Campaign ${campaignId} is ${state}; retry it when it has ended. Its own retries follow the retry: settings of its file.`,
    );
  }
}

function refuseUnlessEnded(campaign: Campaign | undefined, now: number): void {
  if (campaign === undefined) throw new RetryRefusedError('The campaign is not in this database.');
  refuseUnlessRetriable(campaign);
  const { campaignId, rules } = campaign;
  if (rules.endsAt !== null && rules.endsAt <= now) {
    throw new RetryRefusedError(
      `Campaign ${campaignId} ended for good at ${new Date(rules.endsAt).toISOString()} (ends_at): nobody would be called. Start a new campaign with the rows that are left.`,
    );
  }
}

export function countRetriable(db: Queries, campaignId: string): Promise<Partial<Record<RetriableOutcome, number>>> {
  return countBy(retriableOf(db, campaignId, retriableOutcomes), 'outcome');
}

function retriableOf(db: Queries, campaignId: string, outcomes: readonly RetriableOutcome[]) {
  return (
    db
      .selectFrom('recipients')
      .where('campaign_id', '=', campaignId)
      .where('state', '=', 'done')
      .where('outcome', 'in', outcomes)
      .where('taken_out_at', 'is', null)
      // Withdrawn rows and rows with ambiguous records come back only by a decision about that row.
      .where((eb) => eb.or([eb('reason', 'is', null), eb('reason', 'not in', [withdrawnReason, notToldApart])]))
  );
}

async function requeuePart(
  tx: Tx,
  { campaignId, now }: At,
  { outcomes, after }: { outcomes: readonly RetriableOutcome[]; after: number },
): Promise<{ row_number: number }[]> {
  const rows = await retriableOf(tx, campaignId, outcomes)
    .select(['recipient_id', 'row_number', 'outcome'])
    .where('row_number', '>', after)
    .orderBy('row_number')
    .limit(rowsPerCommit)
    .execute();
  if (rows.length === 0) return rows;
  const ids = rows.map((row) => row.recipient_id);
  await tx
    .updateTable('recipients')
    .set((eb) => ({
      state: 'waiting',
      due_at: now,
      outcome: null,
      reason: null,
      changed_at: now,
      counted: 0,
      uncounted_in_row: 0,
      budget_from: eb.ref('attempts'),
    }))
    .where('recipient_id', 'in', ids)
    .execute();
  const changes = rows.flatMap(({ outcome }): AggregateChange[] =>
    outcome === null ? [] : [{ kind: 'outcome', value: outcome, delta: -1 }],
  );
  await changeAggregates(tx, campaignId, changes);
  const events = rows.map(({ recipient_id: recipientId, outcome }): NewEvent => {
    return { at: now, campaignId, type: 'recipient.retried', recipientId, data: { outcome, by: 'person' } };
  });
  await appendEvents(tx, events);
  return rows;
}
