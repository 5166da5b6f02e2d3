import { sql } from 'kysely';
import { olderWhileSubmitting } from './ledger-older.ts';
import { refuseUnlessPinned } from './postgres-dialect.ts';
import { findBatch } from './reads.ts';
import { isPostgres, type Tx, type Store } from './tx.ts';
import type { BatchRow } from './schema.ts';

/** Locks a campaign's row for the rest of the transaction, so that planning, dialling and state changes of it take turns. */
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

/** As `lockCampaign`, for all campaigns of an agent, always in the same order. */
export async function lockCampaignsOf(tx: Tx, agentId: string): Promise<void> {
  if (isPostgres(tx)) await sql`select 1 from campaigns where agent_id = ${agentId} order by campaign_id for update`.execute(tx);
}

/** Locks a batch's campaign, then reads the batch: it stays true until the transaction ends. Throws `LedgerOlderError` without it. */
export async function lockBatch(tx: Tx, batchId: string): Promise<BatchRow> {
  const found = await findBatch(tx, batchId);
  if (found === undefined) throw olderWhileSubmitting(batchId);
  await lockCampaign(tx, found.campaign_id);
  return tx.selectFrom('batches').selectAll().where('batch_id', '=', batchId).executeTakeFirstOrThrow();
}

/** Names the lock; the one of people is 1. */
const doNotCallLock = 2;

/** Transactions that nobody dials beside. */
const writers = new WeakSet<Tx>();

/**
 * Locks the do-not-call list: dialling shares it, writing has it alone, so that every later dial sees a committed entry. Always the first
 * lock of a transaction. Throws StoreError where a dial would not see what others commit.
 */
export async function lockToDial(tx: Tx): Promise<void> {
  if (!isPostgres(tx)) return;
  await refuseUnlessPinned(tx);
  await sql`select pg_advisory_xact_lock_shared(${sql.lit(doNotCallLock)})`.execute(tx);
}

/** As `lockToDial`, for whoever writes to the list. */
export async function lockToWrite(tx: Tx): Promise<void> {
  if (isPostgres(tx)) await sql`select pg_advisory_xact_lock(${sql.lit(doNotCallLock)})`.execute(tx);
  writers.add(tx);
}

/** Rolls back a transaction that has come upon an entry to write; it is run again with the lock. */
export class DoNotCallLockNeeded extends Error {
  override readonly name = 'DoNotCallLockNeeded' as const;
}

/** For entries that few transactions of a kind come upon, such as opt-outs: the others need not keep anybody from dialling. */
export function requireDoNotCallLock(tx: Tx): void {
  if (!writers.has(tx)) throw new DoNotCallLockNeeded('The do-not-call list is written in a transaction of its store.');
}
