import { sql } from 'kysely';
import type { Queries, Store } from './open-ledger.ts';
import { refuseUnlessPinned } from './postgres-dialect.ts';

/** Names the lock; the one of people is 1. */
const doNotCallLock = 2;

/** Transactions that nobody dials beside. */
const writers = new WeakSet<Queries>();

/**
 * Locks the do-not-call list for the rest of the transaction: whoever dials shares the lock, whoever writes has it alone. An entry that
 * is committed was therefore seen by every dial that commits later. It is the first lock of any transaction that takes it, or two
 * could wait for each other. Throws StoreError where the database would not let the dial see what others commit.
 */
export async function lockToDial(tx: Queries, store: Pick<Store, 'dialect'>): Promise<void> {
  if (store.dialect !== 'postgres') return;
  await refuseUnlessPinned(tx);
  await sql`select pg_advisory_xact_lock_shared(${sql.lit(doNotCallLock)})`.execute(tx);
}

/** As `lockToDial`, for whoever writes to the list. */
export async function lockToWrite(tx: Queries, store: Pick<Store, 'dialect'>): Promise<void> {
  if (store.dialect === 'postgres') await sql`select pg_advisory_xact_lock(${sql.lit(doNotCallLock)})`.execute(tx);
  writers.add(tx);
}

/** Rolls back a transaction that has come upon an entry to write; it is run again with the lock. */
export class DoNotCallLockNeeded extends Error {
  override readonly name = 'DoNotCallLockNeeded' as const;
}

/** For entries that few transactions of a kind come upon, such as opt-outs: the others need not keep anybody from dialling. */
export function requireDoNotCallLock(tx: Queries): void {
  if (!writers.has(tx)) throw new DoNotCallLockNeeded('The do-not-call list is written in a transaction of its store.');
}
