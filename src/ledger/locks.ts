import { sql } from 'kysely';
import { olderWhileSubmitting } from './ledger-older.ts';
import { refuseUnlessPinned } from './postgres-dialect.ts';
import { findBatch } from './reads.ts';
import { isPostgres, type Tx, type Store } from './tx.ts';
import type { BatchRow } from './schema.ts';

/** Until the transaction ends: planning, dialling and state changes take turns. */
export async function lockCampaign(tx: Tx, campaignId: string): Promise<void> {
  if (isPostgres(tx)) await sql`select 1 from campaigns where campaign_id = ${campaignId} for update`.execute(tx);
}

export async function lockedTransaction<Result>(
  store: Pick<Store, 'transaction'>,
  campaignId: string,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  return store.transaction(async (tx) => {
    await lockCampaign(tx, campaignId);
    return work(tx);
  });
}

/** `lockCampaign` for all campaigns of an agent, in a fixed order. */
export async function lockCampaignsOf(tx: Tx, agentId: string): Promise<void> {
  if (isPostgres(tx)) await sql`select 1 from campaigns where agent_id = ${agentId} order by campaign_id for update`.execute(tx);
}

/** Locks the batch's campaign until the transaction ends. Throws `LedgerOlderError` without the batch. */
export async function lockBatch(tx: Tx, batchId: string): Promise<BatchRow> {
  const found = await findBatch(tx, batchId);
  if (found === undefined) throw olderWhileSubmitting(batchId);
  await lockCampaign(tx, found.campaign_id);
  return tx.selectFrom('batches').selectAll().where('batch_id', '=', batchId).executeTakeFirstOrThrow();
}

/** Advisory lock id; 1 is for recipients. */
const doNotCallLock = 2;

/** Transactions that exclude dialling. */
const writers = new WeakSet<Tx>();

/**
 * Dialling shares the lock on the do-not-call list, writing excludes: every later dial sees a committed entry. Always a transaction's first
 * lock. Throws StoreError where a dial would miss others' commits.
 */
export async function lockToDial(tx: Tx): Promise<void> {
  if (!isPostgres(tx)) return;
  await refuseUnlessPinned(tx);
  await sql`select pg_advisory_xact_lock_shared(${sql.lit(doNotCallLock)})`.execute(tx);
}

/** As `lockToDial`, for writers of the list. */
export async function lockToWrite(tx: Tx): Promise<void> {
  if (isPostgres(tx)) await sql`select pg_advisory_xact_lock(${sql.lit(doNotCallLock)})`.execute(tx);
  writers.add(tx);
}

/** Rolls back a transaction that must write an entry; it reruns with the lock. */
export class DoNotCallLockNeeded extends Error {
  override readonly name = 'DoNotCallLockNeeded' as const;
}

/** For rare entries, such as opt-outs: similar transactions need not block dialling. */
export function requireDoNotCallLock(tx: Tx): void {
  if (!writers.has(tx)) throw new DoNotCallLockNeeded('The do-not-call list is written in a transaction of its store.');
}
