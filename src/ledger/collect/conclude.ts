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

/** Uncounted returns in a row after which an attempt counts. */
const uncountedReturns = 3;

export interface Conclusion extends OpenBatch {
  doubts: ReadonlyMap<string, Doubt>;
  now: number;
}

/** Calls that the service did not queue go back in line; one that it leaves out again and again counts as failed. */
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

/** Whether the service queued fewer calls than it was sent, and all that it queued are known for certain. */
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

/** What the absence of a record means for a call that the service took. */
async function resultOfAbsence(tx: Tx, { batch, reported }: Conclusion, campaign: Campaign): Promise<AttemptResult> {
  // Its report leaves the call out, or cannot be read any more.
  if (reported) return unknown('not_reported');
  if (batch.accepted_by !== 'reply') return unknown('no_record');
  if (!campaign.recordShown) return unknown('no_record_shown');
  // Across a step of a clock nobody can tell when a record began.
  const { steppedAt } = await readAccount(tx, campaign.accountId);
  if (steppedAt >= (batch.first_posted_at ?? 0)) return unknown('clock_stepped');
  return { disposition: 'unreached', detail: 'no_record', counted: true };
}

/** While the service has shown no record of the campaign, it is too early as long as it may call others, whose record may still come. */
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

/** Ends the attempts in doubt that a record may belong to without being told apart from others, and answers the rest. */
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

/** No evidence, and none to come: a person decides, unless the campaign file says to dial these people again. */
export async function hold(tx: Tx, conclusion: Conclusion, reason = 'no_evidence'): Promise<void> {
  const { batch, rules, now } = conclusion;
  const changes = { reason, verdict_at: now };
  if (!(await moveBatch(tx, batch, { from: ['unknown'], event: { state: 'held' }, now, changes }))) return;
  if (rules.retry.delays.unknown !== 'never')
    await moveBatch(tx, batch, { from: ['held'], event: { state: 'redial', by: 'campaign' }, now });
  await settleAll(tx, { ...conclusion, missing: await settleDoubtful(tx, conclusion) }, unknown('held'));
}

/** A refusal is a claim: only when no record speaks against it are its people sent again, in halves, or given up. */
async function concludeRefusal(tx: Tx, { batch, doubts, now }: Conclusion): Promise<void> {
  const isDoubtful = [...doubts.values()].some(({ candidates }) => candidates.length > 0);
  if (isDoubtful) await countAsUnknown(tx, batch, { from: ['refused'], now });
  else await applyRefusal(tx, batch, now);
}

/** A sweep that read the list as far as needed, without a fault. Instants are service time of the process that swept. */
export interface CompleteSweep {
  begunAt: number;
  /** Everything that began since then was listed; null: it read no further than to records that had been final before. */
  deepFrom: number | null;
}

/** The only place where the absence of a record means something. Only deadlines that had passed when the sweep began count. */
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
  // One that read further back is kept in mind for a while, for those who wait for it.
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
