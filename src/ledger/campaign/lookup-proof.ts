import type { ServiceApi } from '../../rules/service-api.ts';
import type { Queries, Store } from '../tx.ts';

/** What `carillon doctor --prove-lookup` observed: a look-up shows whether the service has a request whose answer was lost. */
export interface LookUpProof {
  api: ServiceApi;
  provenAt: number;
  /** Longest time from answer to listing; null: look-ups use no list. */
  listLagMs: number | null;
  /** `unclear`: too few entries. Null as above. */
  order: 'newest_first' | 'other' | 'unclear' | null;
  /** Answer to a second request with the same key; null: no keys. */
  keyBehaviour: 'first_answer' | 'conflict' | null;
}

export interface ProvenAccount {
  accountId: string;
  api: ServiceApi;
}

const keyOf = ({ accountId, api }: ProvenAccount) => `lookup_proof:${accountId}:${api}`;

export async function readLookUpProof(db: Queries, account: ProvenAccount): Promise<LookUpProof | null> {
  const row = await db.selectFrom('meta').select('value').where('key', '=', keyOf(account)).executeTakeFirst();
  return row === undefined ? null : (JSON.parse(row.value) as LookUpProof);
}

export async function storeLookUpProof(store: Store, accountId: string, proof: LookUpProof): Promise<void> {
  const [key, value] = [keyOf({ accountId, api: proof.api }), JSON.stringify(proof)];
  await store.transaction((tx) =>
    tx
      .insertInto('meta')
      .values({ key, value })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
      .execute(),
  );
}
