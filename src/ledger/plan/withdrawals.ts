import { evaluateEligibility } from '../../rules/attempts/eligibility.ts';
import { consentFaults } from '../../rules/consent.ts';
import { groupBy } from '../../rules/collections.ts';
import type { WithdrawReason } from '../../rules/events.ts';
import { appendEvents } from '../events.ts';
import { readQuestions } from './candidates.ts';
import { readInParts } from '../parts.ts';
import { requireCampaign } from '../rows/campaigns.ts';
import type { At, Queries, Tx } from '../tx.ts';
import { updateBatch } from '../updates.ts';

/** Why calls must be withdrawn, and which: these attempts, or all that still wait. */
export interface Withdrawal {
  reason: WithdrawReason;
  attemptIds: ReadonlySet<string> | 'all';
}

/**
 * Repeats the dial transaction's checks, ahead by the ring time, for batches that may wait at the service. Attempts not returned may go on.
 */
export async function findWithdrawals(
  db: Queries,
  { campaignId, now }: At,
  batchIds: readonly string[],
): Promise<ReadonlyMap<string, Withdrawal>> {
  const campaign = await requireCampaign(db, campaignId);
  const { state, letQueued } = campaign;
  if (state !== 'running' && !(state === 'paused' && letQueued)) {
    const whole: Withdrawal = { reason: state === 'paused' ? 'paused' : 'ended', attemptIds: 'all' };
    return new Map(batchIds.map((batchId) => [batchId, whole]));
  }
  const rows = await readInParts(batchIds, (part) =>
    db
      .selectFrom('attempts')
      .innerJoin('recipients', 'recipients.recipient_id', 'attempts.recipient_id')
      .selectAll('recipients')
      .select(['attempts.attempt_id', 'attempts.batch_id', 'attempts.e164 as called_number'])
      .where('attempts.batch_id', 'in', part)
      .where('attempts.state', '=', 'open')
      .where('attempts.conversation_id', 'is', null)
      .orderBy('attempts.position')
      .execute(),
  );
  const recipients = rows.map((row) => ({ ...row, e164: row.called_number }));
  const questionOf = await readQuestions(db, campaign, { recipients, now, areBegun: true });
  const { ringLimitMs, pollMs } = campaign.rules.timing;
  // The row's start was checked when the call began.
  const begun = { marginMs: ringLimitMs + 2 * pollMs, rowStartsAt: null };
  const refused = recipients.flatMap((row) => {
    const verdict = evaluateEligibility({ ...questionOf(row, false), ...begun });
    return verdict.verdict === 'dial' ? [] : [{ batchId: row.batch_id, attemptId: row.attempt_id, reason: verdict.reason }];
  });
  return new Map(
    [...groupBy(refused, ({ batchId }) => batchId)].map(([batchId, calls]) => {
      const reason = knownReasons.find((known) => known === calls[0]?.reason) ?? 'outside_hours';
      return [batchId, { reason, attemptIds: new Set(calls.map(({ attemptId }) => attemptId)) }];
    }),
  );
}

const knownReasons = ['withdrawn', 'suppressed', 'campaign_end', 'row_expired', ...consentFaults] as const;

/** Written before the service is asked to give calls back; its reports show later what it gave back. */
export async function noteWithdrawing(tx: Tx, { campaignId, now }: At, { batchId, reason }: { batchId: string; reason: WithdrawReason }) {
  await updateBatch(tx, batchId, { withdraw_asked_at: now });
  await appendEvents(tx, [{ at: now, campaignId, type: 'batch.withdrawing', batchId, data: { reason } }]);
}
