import { moveBatch, releaseAttempts } from '../rows/release.ts';
import { deepSweepPauseMs, findOpenBatches, settleDeadline, skipGap, type OpenBatch } from '../doubt/open-batches.ts';
import { notToldApart, type AttemptResult } from '../../rules/disposition.ts';
import { readAccount } from '../limits/account-pace.ts';
import { countDialable } from '../limits/counters.ts';
import { requireCampaign, type Campaign } from '../rows/campaigns.ts';
import { readDoubts, type Doubt } from '../doubt/doubts.ts';
import { readAgent } from '../doubt/correlation-rows.ts';
import { countRows } from '../reads.ts';
import type { Tx } from '../tx.ts';
import { applyRefusal } from '../dial/refusal.ts';
import { canaryAllowance } from '../limits/safety.ts';
import { noteCandidates, settleAttempts } from '../rows/settle.ts';
import { countAsUnknown } from '../dial/verdicts.ts';
import { updateAgent } from '../updates.ts';
import type { AttemptRow, BatchRow } from '../schema.ts';

/** Unqueued returns of a recipient before one counts. */
const uncountedReturns = 3;

export interface Conclusion extends OpenBatch {
  doubts: ReadonlyMap<string, Doubt>;
  now: number;
}

/** Requeues calls that the service did not queue; one omitted again and again counts as failed. */
async function releaseNotQueued(tx: Tx, { batch, missing, now }: Conclusion): Promise<void> {
  const { campaign_id: campaignId, batch_id: batchId } = batch;
  const reason = 'not_queued';
  for (const { attempt_id: attemptId, recipient_id: recipientId } of missing) {
    const ofRecipient = tx.selectFrom('attempts').where('recipient_id', '=', recipientId);
    if ((await countRows(ofRecipient.where('reason', '=', reason))) >= uncountedReturns) {
      const result = { disposition: 'failed', detail: reason, counted: true } as const;
      await settleAttempts(tx, { campaignId, now }, [{ attemptId, result }]);
    } else {
      const release = { attemptId, recipientId, reason, next: { kind: 'requeue', dueAt: now } } as const;
      await releaseAttempts(tx, { campaignId, batchId, now }, [release]);
    }
  }
}

/** True when fewer calls were queued than sent, and all queued ones are known for certain. */
async function isRestNotQueued(tx: Tx, batch: BatchRow): Promise<boolean> {
  if (batch.accepted_by !== 'reply' || (batch.calls_initiated ?? batch.size) >= batch.size) return false;
  const matched = await tx
    .selectFrom('attempts')
    .select('evidence')
    .where('batch_id', '=', batch.batch_id)
    .where('conversation_id', 'is not', null)
    .execute();
  const certain = matched.every((row) => row.evidence === 'reference' || row.evidence === 'batch_and_number');
  return certain && matched.length === batch.calls_initiated;
}

function unknown(detail: string): AttemptResult {
  return { disposition: 'unknown', detail, counted: true };
}

/** Result of a call that the service took, without a record. */
async function resultOfAbsence(tx: Tx, { batch, reported }: Conclusion, campaign: Campaign): Promise<AttemptResult> {
  // The report omits the call or is no longer readable.
  if (reported) return unknown('not_reported');
  if (batch.accepted_by !== 'reply') return unknown('no_record');
  if (!campaign.recordShown) return unknown('no_record_shown');
  // After a clock step it is unknown when a record began.
  const { steppedAt } = await readAccount(tx, campaign.accountId);
  if (steppedAt >= (batch.first_posted_at ?? 0)) return unknown('clock_stepped');
  return { disposition: 'unreached', detail: 'no_record', counted: true };
}

/** The service has shown no record of the campaign yet: too early while more calls may produce one. */
async function maySoonShowRecord(tx: Tx, campaign: Campaign, now: number): Promise<boolean> {
  if (campaign.recordShown || campaign.state !== 'running') return false;
  if ((await canaryAllowance(tx, campaign)) === 0) return false;
  return (await countDialable(tx, campaign, now)) > 0;
}

async function settleMissing(tx: Tx, conclusion: Conclusion): Promise<void> {
  const { batch, missing, doubts, now } = conclusion;
  const campaign = await requireCampaign(tx, batch.campaign_id);
  if (await maySoonShowRecord(tx, campaign, now)) return;
  const decided = missing.filter((attempt) => doubts.get(attempt.attempt_id)?.undecided !== true);
  const clear = await settleDoubtful(tx, { ...conclusion, missing: decided });
  if (clear.length === 0) return;
  if (await isRestNotQueued(tx, batch)) await releaseNotQueued(tx, { ...conclusion, missing: clear });
  else await settleAll(tx, { ...conclusion, missing: clear }, await resultOfAbsence(tx, conclusion, campaign));
}

async function settleAll(tx: Tx, { batch, missing, now }: Conclusion, result: AttemptResult): Promise<void> {
  const settlements = missing.map((attempt) => ({ attemptId: attempt.attempt_id, result }));
  await settleAttempts(tx, { campaignId: batch.campaign_id, now }, settlements);
}

/** Settles attempts with ambiguous records; returns the rest. */
async function settleDoubtful(tx: Tx, conclusion: Conclusion): Promise<AttemptRow[]> {
  const clear: AttemptRow[] = [];
  for (const attempt of conclusion.missing) {
    const candidates = conclusion.doubts.get(attempt.attempt_id)?.candidates ?? [];
    if (candidates.length === 0) clear.push(attempt);
    else {
      await noteCandidates(tx, attempt.attempt_id, candidates);
      await settleAll(tx, { ...conclusion, missing: [attempt] }, unknown(notToldApart));
    }
  }
  return clear;
}

/** No evidence, and none to come: an operator decides, unless the campaign file says to redial. */
export async function hold(tx: Tx, conclusion: Conclusion, reason = 'no_evidence'): Promise<void> {
  const { batch, rules, now } = conclusion;
  const changes = { reason, verdict_at: now };
  if (!(await moveBatch(tx, batch, { from: ['unknown'], event: { state: 'held' }, now, changes }))) return;
  if (rules.retry.delays.unknown !== 'never')
    await moveBatch(tx, batch, { from: ['held'], event: { state: 'redial', by: 'campaign' }, now });
  await settleAll(tx, { ...conclusion, missing: await settleDoubtful(tx, conclusion) }, unknown('held'));
}

/** A refusal is only a claim: unless a record contradicts it, recipients are resent in halves or given up. */
async function concludeRefusal(tx: Tx, { batch, doubts, now }: Conclusion): Promise<void> {
  const isDoubtful = [...doubts.values()].some(({ candidates }) => candidates.length > 0);
  if (isDoubtful) await countAsUnknown(tx, batch, { from: ['refused'], now });
  else await applyRefusal(tx, batch, now);
}

/** A sweep that read as far as needed, without a fault. Instants: service time of its process. */
export interface CompleteSweep {
  begunAt: number;
  /** Everything since then was listed; null: it stopped at records already final. */
  deepFrom: number | null;
}

/** The only place where a missing record has a meaning. Counts deadlines passed before the sweep began. */
export async function concludeSweep(tx: Tx, agentId: string, { begunAt, deepFrom, now }: CompleteSweep & { now: number }): Promise<void> {
  const agent = await readAgent(tx, agentId);
  const open = await findOpenBatches(tx, agentId);
  await skipGap(tx, open, { lastCompleteAt: agent?.complete_sweep_at ?? null, begunAt });
  for (const entry of deepFrom === null ? [] : open) {
    const deadline = settleDeadline(entry, agent?.longest_lag_ms ?? 0);
    if (deadline === null || begunAt <= deadline) continue;
    const { batch, missing: attempts, rules } = entry;
    const { timing } = rules;
    const doubts = await readDoubts(tx, agentId, { attempts, timing, now, undecidedUntil: deadline });
    const conclusion = { ...entry, doubts, now };
    if (batch.state === 'confirmed') await settleMissing(tx, conclusion);
    else if ([...doubts.values()].some(({ undecided }) => undecided)) continue;
    else if (batch.state === 'unknown') await hold(tx, conclusion);
    else await concludeRefusal(tx, conclusion);
  }
  await updateAgent(tx, agentId, { complete_sweep_at: now, complete_begun_at: begunAt });
  if (deepFrom === null) return;
  // Remembers a deeper sweep for a while, for recipients that wait for one.
  await tx
    .updateTable('agents')
    .set({ swept_begun_at: begunAt, swept_from: deepFrom })
    .where('agent_id', '=', agentId)
    .where((eb) =>
      eb.or([eb('swept_from', 'is', null), eb('swept_from', '>=', deepFrom), eb('swept_begun_at', '<=', begunAt - deepSweepPauseMs)]),
    )
    .execute();
  await tx
    .updateTable('campaigns')
    .set({ sweep_back_to: null })
    .where('agent_id', '=', agentId)
    .where('sweep_back_to', '>=', deepFrom)
    .execute();
}
