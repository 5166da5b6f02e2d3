import type { ServiceApi } from '../../rules/service-api.ts';
import type { Queries, Store } from '../tx.ts';

/** What `carillon doctor --prove-lookup` has seen of an account: that a request whose answer is lost is found there, or is not there. */
export interface LookUpProof {
  api: ServiceApi;
  provenAt: number;
  /** How long after its answer a request was listed, at most; null: it is not looked up in a list. */
  listLagMs: number | null;
  /** Of the list; `unclear`: it held too little to show one. Null as above. */
  order: 'newest_first' | 'other' | 'unclear' | null;
  /** What a second request with the same key met; null: requests have no key. */
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
