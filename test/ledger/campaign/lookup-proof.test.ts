import { expect } from 'vitest';
import { readLookUpProof, storeLookUpProof, type LookUpProof } from '../../../src/ledger/campaign/lookup-proof.ts';
import { test, openLedger } from '../ledger-test.ts';

const accountId = 'https://service.example/prefix';
const proof: LookUpProof = { api: 'batch-calling', provenAt: 1_000, listLagMs: 20, order: 'newest_first', keyBehaviour: null };

test.both.from(openLedger)('a proof is of one account at one interface, and the newest counts', async (store) => {
  const read = (account = accountId, api: LookUpProof['api'] = 'batch-calling') => readLookUpProof(store.db, { accountId: account, api });
  expect(await read()).toBeNull();
  await storeLookUpProof(store, accountId, proof);
  await storeLookUpProof(store, accountId, { ...proof, provenAt: 2_000 });
  expect(await read()).toEqual({ ...proof, provenAt: 2_000 });
  expect(await read(accountId, 'campaigns')).toBeNull();
  expect(await read('https://other.example')).toBeNull();
});
