import { expect, test } from 'vitest';
import { gatherWrites } from '../../../src/ledger/collect/gathered-writes.ts';
import type { Store } from '../../../src/ledger/open-ledger.ts';
import { updateAgent } from '../../../src/ledger/updates.ts';
import { openCleanStore } from '../clean-store.ts';
import { bothDialects } from '../test-stores.ts';

const agents = Array.from({ length: 30 }, (_, n) => `agent_${String(n).padStart(2, '0')}`);

/** A store with agents, and how many transactions it was asked for. */
async function begin(dialect: (typeof bothDialects)[number]) {
  const store = await openCleanStore(dialect);
  const values = agents.map((agent_id) => ({ agent_id, lease_until_real: 0 }));
  await store.db.insertInto('agents').values(values).execute();
  let transactions = 0;
  const counted: Store['transaction'] = (work) => {
    transactions += 1;
    return store.transaction(work);
  };
  const failed: string[] = [];
  const writes = gatherWrites({ dialect: store.dialect, transaction: counted }, (id) => failed.push(id));
  const read = async () => {
    const rows = await store.db.selectFrom('agents').select(['agent_id', 'read_ok_at']).orderBy('agent_id').execute();
    return rows.filter((row) => row.read_ok_at === 7).map((row) => row.agent_id);
  };
  return { writes, failed, read, transactions: () => transactions };
}

test.runIf(bothDialects.includes('sqlite'))('what is gathered commits together, and the rest when it is asked for', async () => {
  const { writes, failed, read, transactions } = await begin('sqlite');
  for (const id of agents) await writes.add({ id, work: (tx) => updateAgent(tx, id, { read_ok_at: 7 }) });
  expect(await read()).toEqual(agents.slice(0, 25));
  await writes.flush();
  expect(await read()).toEqual(agents);
  expect(transactions()).toBe(2);
  expect(failed).toEqual([]);
});

test.for(bothDialects)('a write that fails takes none of the others with it: %s', async (dialect) => {
  const { writes, failed, read } = await begin(dialect);
  const bad = 'agent_03';
  for (const id of agents) {
    const work: Parameters<typeof writes.add>[0]['work'] = async (tx) => {
      await updateAgent(tx, id, { read_ok_at: 7 });
      if (id === bad) throw new Error('it cannot be written');
    };
    await writes.add({ id, work });
  }
  await writes.flush();
  expect(await read()).toEqual(agents.filter((id) => id !== bad));
  expect(failed).toEqual([bad]);
});
