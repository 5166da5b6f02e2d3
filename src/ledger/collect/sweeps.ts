import type { Queries, Tx, Store } from '../tx.ts';
import { updateAgent } from '../updates.ts';

interface Lease {
  agentId: string;
  owner: string;
  forMs: number;
}

/** Takes the lease on an agent's list; false: another process has it. Real time, on the database's clock. */
export async function leaseAgent(store: Store, { agentId, owner, forMs }: Lease): Promise<boolean> {
  await store.db
    .insertInto('agents')
    .values({ agent_id: agentId, lease_until_real: 0 })
    .onConflict((conflict) => conflict.column('agent_id').doNothing())
    .execute();
  const now = await store.now(store.db);
  const result = await store.db
    .updateTable('agents')
    .set({ lease_owner: owner, lease_until_real: now + forMs })
    .where('agent_id', '=', agentId)
    .where((eb) => eb.or([eb('lease_until_real', '<=', now), eb('lease_owner', '=', owner)]))
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

/** Renews a lease; false: lost. In a transaction it is kept until the end. */
export async function keepLease(tx: Tx, store: Pick<Store, 'now'>, { agentId, owner, forMs }: Lease): Promise<boolean> {
  const result = await tx
    .updateTable('agents')
    .set({ lease_until_real: (await store.now(tx)) + forMs })
    .where('agent_id', '=', agentId)
    .where('lease_owner', '=', owner)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** After a successful read another POST may follow an earlier unknown batch, once its back-off is over. */
export async function noteReadSucceeded(tx: Tx, agentId: string, now: number): Promise<void> {
  await updateAgent(tx, agentId, { read_ok_at: now });
}

export async function lastReadAt(db: Queries, agentId: string): Promise<number | null> {
  const row = await db.selectFrom('agents').select('read_ok_at').where('agent_id', '=', agentId).executeTakeFirst();
  return row?.read_ok_at ?? null;
}
