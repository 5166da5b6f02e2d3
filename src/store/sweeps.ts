import type { Selectable } from 'kysely';
import { readRules, type CampaignRules } from '../domain/campaign-rules.ts';
import { clockToleranceMs } from '../domain/correlation-evidence.ts';
import { undecidedRecord } from './conversations.ts';
import { appendEvents } from './events.ts';
import type { Queries, Store } from './open-store.ts';
import { releaseAttempts } from './release.ts';
import type { Database } from './schema.ts';
import { settleAttempts } from './settle.ts';

type BatchRow = Selectable<Database['batches']>;
type AttemptRow = Selectable<Database['attempts']>;

/** Sweeps further apart than this (service time) leave a gap in which the settle deadline does not run. */
const longestPauseMs = 120_000;
/** Uncounted returns in a row after which an attempt counts. */
const uncountedReturns = 3;

/** Takes the lease on an agent's list, or answers false while another process sweeps it. Real time. */
export async function leaseAgent(
  store: Store,
  agentId: string,
  owner: string,
  nowReal: number,
  forMs: number,
): Promise<boolean> {
  await store.db
    .insertInto('agents')
    .values({ agent_id: agentId, lease_owner: null, lease_until_real: 0, complete_sweep_at: null, read_ok_at: null })
    .onConflict((conflict) => conflict.column('agent_id').doNothing())
    .execute();
  const result = await store.db
    .updateTable('agents')
    .set({ lease_owner: owner, lease_until_real: nowReal + forMs })
    .where('agent_id', '=', agentId)
    .where((eb) => eb.or([eb('lease_until_real', '<=', nowReal), eb('lease_owner', '=', owner)]))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

export async function releaseLease(store: Store, agentId: string, owner: string): Promise<void> {
  await store.db
    .updateTable('agents')
    .set({ lease_owner: null, lease_until_real: 0 })
    .where('agent_id', '=', agentId)
    .where('lease_owner', '=', owner)
    .execute();
}

/** Renews a lease and answers whether it still was this owner's. In a transaction nobody else gets it before that ends. */
export async function keepLease(
  tx: Queries,
  agentId: string,
  owner: string,
  nowReal: number,
  forMs: number,
): Promise<boolean> {
  const result = await tx
    .updateTable('agents')
    .set({ lease_until_real: nowReal + forMs })
    .where('agent_id', '=', agentId)
    .where('lease_owner', '=', owner)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** A read of the agent's list succeeded: a batch that was unknown before may be followed by another POST after its back-off. */
export async function noteReadSucceeded(tx: Queries, agentId: string, now: number): Promise<void> {
  await tx.updateTable('agents').set({ read_ok_at: now }).where('agent_id', '=', agentId).execute();
}

/** When the agent's list was last read, or null (service time). */
export async function lastReadAt(db: Queries, agentId: string): Promise<number | null> {
  const row = await db.selectFrom('agents').select('read_ok_at').where('agent_id', '=', agentId).executeTakeFirst();
  return row?.read_ok_at ?? null;
}

interface OpenBatch {
  batch: BatchRow;
  rules: CampaignRules;
  /** Open attempts without a conversation. */
  missing: AttemptRow[];
}

async function findOpenBatches(tx: Queries, agentId: string): Promise<OpenBatch[]> {
  const attempts = await tx
    .selectFrom('attempts')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('state', '=', 'open')
    .where('conversation_id', 'is', null)
    .orderBy('position')
    .execute();
  const byBatch = new Map<string, AttemptRow[]>();
  for (const attempt of attempts) byBatch.set(attempt.batch_id, [...(byBatch.get(attempt.batch_id) ?? []), attempt]);
  const open: OpenBatch[] = [];
  for (const [batchId, missing] of byBatch) {
    const batch = await tx.selectFrom('batches').selectAll().where('batch_id', '=', batchId).executeTakeFirstOrThrow();
    const row = await tx
      .selectFrom('campaigns')
      .select('rules')
      .where('campaign_id', '=', batch.campaign_id)
      .executeTakeFirstOrThrow();
    open.push({ batch, rules: readRules(row.rules), missing });
  }
  return open;
}

/** The instant after which a complete sweep may conclude that a batch's missing records will not come. */
function settleDeadline({ batch, rules }: OpenBatch): number | null {
  if (batch.state === 'unknown') return batch.hold_after;
  if (batch.state !== 'confirmed' || batch.progress_at === null) return null;
  const settled = batch.progress_at + rules.timing.settleMs;
  // Without a reply, who has no record becomes `unknown`, which a person may decide about at once: not before the late delivery is over.
  return batch.accepted_by === 'reply' ? settled : Math.max(settled, batch.hold_after ?? 0);
}

/**
 * Since when a sweep begun now must have looked into every record, because it would conclude something negative; null when it
 * would not. A batch that was posted again may have records since its first POST.
 */
export async function conclusionDueSince(db: Queries, agentId: string, now: number): Promise<number | null> {
  const open = await findOpenBatches(db, agentId);
  const due = open.filter((entry) => (settleDeadline(entry) ?? Infinity) < now);
  if (due.length === 0) return null;
  return Math.min(...due.map(({ batch }) => batch.first_posted_at ?? 0)) - clockToleranceMs;
}

/** Time in which nobody looked does not count towards the settle deadline; the time that a sweep takes is time in which somebody does. */
async function skipGap(tx: Queries, open: OpenBatch[], lastCompleteAt: number | null, begunAt: number): Promise<void> {
  for (const entry of open) {
    const { batch, rules } = entry;
    if (batch.state !== 'confirmed' || batch.progress_at === null) continue;
    const gap = begunAt - Math.max(lastCompleteAt ?? 0, batch.progress_at);
    if (gap <= Math.max(longestPauseMs, 5 * rules.timing.pollMs)) continue;
    const progressAt = batch.progress_at + gap;
    await tx.updateTable('batches').set({ progress_at: progressAt }).where('batch_id', '=', batch.batch_id).execute();
    entry.batch = { ...batch, progress_at: progressAt };
  }
}

/** Whether a record that is not finished yet, and that nobody owns, may still turn out to be one of this batch's calls. */
async function hasUndecidedRecord(tx: Queries, agentId: string, batch: BatchRow, deadline: number): Promise<boolean> {
  const row = await tx
    .selectFrom('conversations')
    .select('conversation_id')
    .where('agent_id', '=', agentId)
    .where(undecidedRecord)
    .where((eb) =>
      eb.or([
        eb('started_at', 'is', null),
        eb.and([
          eb('started_at', '>=', (batch.first_posted_at ?? 0) - clockToleranceMs),
          eb('started_at', '<=', deadline),
        ]),
      ]),
    )
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether a record that can no longer be read may have been one of this batch's calls. */
async function hasUnreadableRecord(tx: Queries, agentId: string, batch: BatchRow): Promise<boolean> {
  const row = await tx
    .selectFrom('conversations')
    .select('conversation_id')
    .where('agent_id', '=', agentId)
    .where('gone', '=', 1)
    .where('attempt_id', 'is', null)
    .where((eb) =>
      eb.or([eb('started_at', 'is', null), eb('started_at', '>=', (batch.first_posted_at ?? 0) - clockToleranceMs)]),
    )
    .executeTakeFirst();
  return row !== undefined;
}

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

async function settleMissing(tx: Queries, agentId: string, { batch, missing }: OpenBatch, now: number): Promise<void> {
  const campaignId = batch.campaign_id;
  if (batch.accepted_by === 'reply' && (batch.calls_initiated ?? batch.size) < batch.size) {
    const matched = await tx
      .selectFrom('attempts')
      .select('evidence')
      .where('batch_id', '=', batch.batch_id)
      .where('conversation_id', 'is not', null)
      .execute();
    const certain = matched.every((row) => row.evidence === 'reference' || row.evidence === 'batch_and_number');
    if (certain && matched.length === batch.calls_initiated) {
      await releaseNotQueued(tx, campaignId, batch.batch_id, missing, now);
      return;
    }
  }
  const unknown = batch.accepted_by !== 'reply' || (await hasUnreadableRecord(tx, agentId, batch));
  const result = unknown
    ? { disposition: 'unknown' as const, detail: 'no_record', counted: true }
    : { disposition: 'unreached' as const, detail: 'no_record', counted: true };
  await settleAttempts(
    tx,
    campaignId,
    missing.map((attempt) => ({ attemptId: attempt.attempt_id, result })),
    now,
  );
}

/** No evidence, and none to come: a person decides, unless the campaign file says to dial these people again. */
async function hold(tx: Queries, store: Store, { batch, missing, rules }: OpenBatch, now: number): Promise<void> {
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
    const data = { state: 'redial', by: 'campaign' };
    await appendEvents(tx, [
      { at: now, campaignId: batch.campaign_id, type: 'batch.state', batchId: batch.batch_id, data },
    ]);
  }
  const result = { disposition: 'unknown' as const, detail: 'held', counted: true };
  await settleAttempts(
    tx,
    batch.campaign_id,
    missing.map((attempt) => ({ attemptId: attempt.attempt_id, result })),
    now,
  );
}

/**
 * Ends a complete sweep, in one transaction: the only place where the absence of a record means something. Only deadlines that
 * had passed when the sweep began count.
 */
export async function concludeSweep(
  tx: Queries,
  store: Store,
  agentId: string,
  begunAt: number,
  now: number,
): Promise<void> {
  const agent = await tx
    .selectFrom('agents')
    .select('complete_sweep_at')
    .where('agent_id', '=', agentId)
    .executeTakeFirst();
  const open = await findOpenBatches(tx, agentId);
  await skipGap(tx, open, agent?.complete_sweep_at ?? null, begunAt);
  for (const entry of open) {
    const deadline = settleDeadline(entry);
    if (deadline === null || begunAt <= deadline) continue;
    if (await hasUndecidedRecord(tx, agentId, entry.batch, deadline)) continue;
    if (entry.batch.state === 'unknown') await hold(tx, store, entry, now);
    else await settleMissing(tx, agentId, entry, now);
  }
  await tx.updateTable('agents').set({ complete_sweep_at: now }).where('agent_id', '=', agentId).execute();
}
