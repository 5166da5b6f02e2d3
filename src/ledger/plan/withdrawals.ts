import { judgeEligibility } from '../../rules/attempts/eligibility.ts';
import type { WithdrawReason } from '../../rules/events.ts';
import { appendEvents } from '../events.ts';
import { readQuestions } from './candidates.ts';
import { requireCampaign } from '../rows/campaigns.ts';
import type { At, Queries, Tx } from '../tx.ts';
import { updateBatch } from '../updates.ts';

/** Why calls of a batch must not be made any more, and which: those of these attempts, or all that still wait. */
export interface Withdrawal {
  reason: WithdrawReason;
  attemptIds: ReadonlySet<string> | 'all';
}

/**
 * Asks of a batch that may wait at the service what the dial transaction asked before it was sent: whether the campaign dials, and whether
 * each of its people may be called now and for as long as a phone rings. Null: all of them may. Hours and ends are asked ahead of time,
 * for the service to hear of them before.
 */
export async function findWithdrawal(db: Queries, { campaignId, now }: At, batchId: string): Promise<Withdrawal | null> {
  const campaign = await requireCampaign(db, campaignId);
  if (campaign.state !== 'running') return { reason: campaign.state === 'paused' ? 'paused' : 'ended', attemptIds: 'all' };
  const rows = await db
    .selectFrom('attempts')
    .innerJoin('recipients', 'recipients.recipient_id', 'attempts.recipient_id')
    .selectAll('recipients')
    .select(['attempts.attempt_id', 'attempts.e164 as called_number'])
    .where('attempts.batch_id', '=', batchId)
    .where('attempts.state', '=', 'open')
    .where('attempts.conversation_id', 'is', null)
    .orderBy('attempts.position')
    .execute();
  const recipients = rows.map((row) => ({ ...row, e164: row.called_number }));
  const questionOf = await readQuestions(db, campaign, { recipients, now });
  const { ringLimitMs, pollMs } = campaign.rules.timing;
  // What limits how many calls are begun was asked when this one was.
  const begun = { marginMs: ringLimitMs + 2 * pollMs, capsAllowAt: now, budgetAllowsAt: now, rowStartsAt: null };
  const refused = recipients.flatMap((row) => {
    const verdict = judgeEligibility({ ...questionOf(row, false), ...begun });
    return verdict.verdict === 'dial' ? [] : [{ attemptId: row.attempt_id, reason: verdict.reason }];
  });
  const [first] = refused;
  if (first === undefined) return null;
  const reason = told.find((known) => known === first.reason) ?? 'outside_hours';
  return { reason, attemptIds: new Set(refused.map(({ attemptId }) => attemptId)) };
}

const told = ['suppressed', 'campaign_end', 'row_expired'] as const;

/** Notes that the service is about to be asked to give calls of a batch back. What it gave back is what its reports say afterwards. */
export async function noteWithdrawing(tx: Tx, { campaignId, now }: At, { batchId, reason }: { batchId: string; reason: WithdrawReason }) {
  await updateBatch(tx, batchId, { withdraw_asked_at: now });
  await appendEvents(tx, [{ at: now, campaignId, type: 'batch.withdrawing', batchId, data: { reason } }]);
}
