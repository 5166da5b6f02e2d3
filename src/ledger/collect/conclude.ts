import {
  deepSweepPauseMs,
  findOpenBatches,
  settleDeadline,
  skipGap,
  type BatchRow,
  type OpenBatch,
} from '../doubt/open-batches.ts';
import { notToldApart, type AttemptResult } from '../../domain/disposition.ts';
import { candidatesPerLook, countDue } from '../limits/counters.ts';
import { findCampaign, type Campaign } from '../rows/campaigns.ts';
import { readDoubts, type Doubt } from '../doubt/doubts.ts';
import { readAgent, type AttemptRow } from '../doubt/correlation-rows.ts';
import { appendEvents } from '../events.ts';
import type { Queries, Store } from '../open-ledger.ts';
import { applyRefusal } from '../dial/refusal.ts';
import { releaseAttempts } from '../rows/release.ts';
import { canaryAllowance } from '../limits/safety.ts';
import { noteCandidates, settleAttempts } from '../rows/settle.ts';
import { readWordsKept } from '../doubt/shared-words.ts';
import { countAsUnknown } from '../dial/verdicts.ts';

/** Uncounted returns in a row after which an attempt counts. */
const uncountedReturns = 3;

/** Calls that the service did not queue go back in line; one that it leaves out again and again counts as failed. */
async function releaseNotQueued(
  tx: Queries,
  campaignId: string,
  batchId: string,
  missing: AttemptRow[],
  now: number,
): Promise<void> {
  for (const attempt of missing) {
    const earlier = await tx
      .selectFrom('attempts')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('recipient_id', '=', attempt.recipient_id)
      .where('reason', '=', 'not_queued')
      .executeTakeFirstOrThrow();
    if (earlier.count >= uncountedReturns) {
      const result = { disposition: 'failed' as const, detail: 'not_queued', counted: true };
      await settleAttempts(tx, campaignId, [{ attemptId: attempt.attempt_id, result }], now);
      continue;
    }
    const next = { kind: 'requeue' as const, dueAt: now };
    const release = { attemptId: attempt.attempt_id, recipientId: attempt.recipient_id, reason: 'not_queued', next };
    await releaseAttempts(tx, campaignId, batchId, [release], now);
  }
}

/** Whether the service queued fewer calls than it was sent, and all that it queued are known for certain. */
async function isRestNotQueued(tx: Queries, batch: BatchRow): Promise<boolean> {
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
async function resultOfAbsence(tx: Queries, { batch }: OpenBatch, campaign: Campaign): Promise<AttemptResult> {
  if (batch.accepted_by !== 'reply') return unknown('no_record');
  if (!campaign.recordShown) return unknown('no_record_shown');
  const account = await tx
    .selectFrom('accounts')
    .select('stepped_at')
    .where('account_id', '=', campaign.accountId)
    .executeTakeFirst();
  // Across a step of a clock nobody can tell when a record began.
  if ((account?.stepped_at ?? 0) >= (batch.first_posted_at ?? 0)) return unknown('clock_stepped');
  return { disposition: 'unreached', detail: 'no_record', counted: true };
}

/**
 * Whether it is too early to conclude anything in a campaign of which the service has shown no record: as long as it may call somebody
 * else, that one's record may still come.
 */
async function maySoonShowRecord(tx: Queries, campaign: Campaign, now: number): Promise<boolean> {
  if (campaign.recordShown || campaign.state !== 'running') return false;
  if ((await canaryAllowance(tx, campaign)) === 0) return false;
  const keptApart = await readWordsKept(tx, campaign.rules);
  return (await countDue(tx, campaign, now, candidatesPerLook, keptApart)) > 0;
}

async function settleMissing(
  tx: Queries,
  entry: OpenBatch,
  doubts: ReadonlyMap<string, Doubt>,
  now: number,
): Promise<void> {
  const { batch, missing } = entry;
  const campaign = await findCampaign(tx, batch.campaign_id);
  if (campaign === undefined || (await maySoonShowRecord(tx, campaign, now))) return;
  const decided = missing.filter((attempt) => doubts.get(attempt.attempt_id)?.undecided !== true);
  const clear = await settleDoubtful(tx, batch.campaign_id, decided, doubts, now);
  if (clear.length === 0) return;
  if (await isRestNotQueued(tx, batch)) {
    await releaseNotQueued(tx, batch.campaign_id, batch.batch_id, clear, now);
    return;
  }
  const result = await resultOfAbsence(tx, entry, campaign);
  const settlements = clear.map((attempt) => ({ attemptId: attempt.attempt_id, result }));
  await settleAttempts(tx, batch.campaign_id, settlements, now);
}

/** Ends the attempts in doubt that a record may belong to without being told apart from others, and answers the rest. */
export async function settleDoubtful(
  tx: Queries,
  campaignId: string,
  attempts: readonly AttemptRow[],
  doubts: ReadonlyMap<string, Doubt>,
  now: number,
): Promise<AttemptRow[]> {
  const clear: AttemptRow[] = [];
  for (const attempt of attempts) {
    const candidates = doubts.get(attempt.attempt_id)?.candidates ?? [];
    if (candidates.length === 0) clear.push(attempt);
    else {
      await noteCandidates(tx, attempt.attempt_id, candidates);
      const settlement = { attemptId: attempt.attempt_id, result: unknown(notToldApart) };
      await settleAttempts(tx, campaignId, [settlement], now);
    }
  }
  return clear;
}

/** No evidence, and none to come: a person decides, unless the campaign file says to dial these people again. */
async function hold(
  tx: Queries,
  store: Store,
  { batch, missing, rules }: OpenBatch,
  doubts: ReadonlyMap<string, Doubt>,
  now: number,
): Promise<void> {
  if (!(await store.compareAndSetBatch(tx, batch.batch_id, ['unknown'], 'held'))) return;
  await tx
    .updateTable('batches')
    .set({ reason: 'no_evidence', verdict_at: now })
    .where('batch_id', '=', batch.batch_id)
    .execute();
  await appendEvents(tx, [
    { at: now, campaignId: batch.campaign_id, type: 'batch.state', batchId: batch.batch_id, data: { state: 'held' } },
  ]);
  if (rules.retry.delays.unknown !== 'never') {
    await store.compareAndSetBatch(tx, batch.batch_id, ['held'], 'redial');
    const data = { state: 'redial', by: 'campaign' } as const;
    await appendEvents(tx, [
      { at: now, campaignId: batch.campaign_id, type: 'batch.state', batchId: batch.batch_id, data },
    ]);
  }
  const clear = await settleDoubtful(tx, batch.campaign_id, missing, doubts, now);
  await settleAttempts(
    tx,
    batch.campaign_id,
    clear.map((attempt) => ({ attemptId: attempt.attempt_id, result: unknown('held') })),
    now,
  );
}

/** A refusal is a claim: only when no record speaks against it are its people sent again, in halves, or given up. */
async function concludeRefusal(
  tx: Queries,
  store: Store,
  { batch }: OpenBatch,
  doubts: ReadonlyMap<string, Doubt>,
  now: number,
): Promise<void> {
  const isDoubtful = [...doubts.values()].some(({ candidates }) => candidates.length > 0);
  if (isDoubtful) await countAsUnknown(tx, store, batch, ['refused'], now);
  else await applyRefusal(tx, batch, now);
}

/** A sweep that read the list as far as needed, without a fault. Instants are service time of the process that swept. */
export interface CompleteSweep {
  begunAt: number;
  /** Everything that began since then was listed; null: it read no further than to records that had been final before. */
  deepFrom: number | null;
}

/**
 * Ends a complete sweep, in one transaction: the only place where the absence of a record means something. Only deadlines that
 * had passed when the sweep began count.
 */
export async function concludeSweep(
  tx: Queries,
  store: Store,
  agentId: string,
  { begunAt, deepFrom }: CompleteSweep,
  now: number,
): Promise<void> {
  const agent = await readAgent(tx, agentId);
  const open = await findOpenBatches(tx, agentId);
  await skipGap(tx, open, agent?.complete_sweep_at ?? null, begunAt);
  for (const entry of deepFrom === null ? [] : open) {
    const deadline = settleDeadline(entry, agent?.longest_lag_ms ?? 0);
    if (deadline === null || begunAt <= deadline) continue;
    const doubts = await readDoubts(tx, agentId, entry.missing, entry.rules.timing, now, deadline);
    if (entry.batch.state === 'confirmed') {
      await settleMissing(tx, entry, doubts, now);
      continue;
    }
    if ([...doubts.values()].some(({ undecided }) => undecided)) continue;
    if (entry.batch.state === 'unknown') await hold(tx, store, entry, doubts, now);
    else await concludeRefusal(tx, store, entry, doubts, now);
  }
  await tx
    .updateTable('agents')
    .set({ complete_sweep_at: now, complete_begun_at: begunAt })
    .where('agent_id', '=', agentId)
    .execute();
  if (deepFrom === null) return;
  // One that read further back is kept in mind for a while, for those who wait for it.
  await tx
    .updateTable('agents')
    .set({ swept_begun_at: begunAt, swept_from: deepFrom })
    .where('agent_id', '=', agentId)
    .where((eb) =>
      eb.or([
        eb('swept_from', 'is', null),
        eb('swept_from', '>=', deepFrom),
        eb('swept_begun_at', '<=', begunAt - deepSweepPauseMs),
      ]),
    )
    .execute();
  await tx
    .updateTable('campaigns')
    .set({ sweep_back_to: null })
    .where('agent_id', '=', agentId)
    .where('sweep_back_to', '>=', deepFrom)
    .execute();
}
