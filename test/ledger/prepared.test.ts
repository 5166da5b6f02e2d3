import { expect, test } from 'vitest';
import { sql } from 'kysely';
import { prepared } from '../../src/ledger/prepared.ts';
import type { Queries, Tx } from '../../src/ledger/tx.ts';
import { updateAgent } from '../../src/ledger/updates.ts';
import { openCleanStore } from './clean-store.ts';
import { bothDialects } from './test-stores.ts';

test.for(bothDialects)('a prepared query is built once and runs with the values of each run: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  let built = 0;
  const add = prepared((tx: Tx, { id }: { id: string }) => {
    built += 1;
    return tx.insertInto('agents').values({ agent_id: id, lease_until_real: 0 }).returning('agent_id');
  });
  const find = prepared((db: Queries, { id }: { id: string }) =>
    db.selectFrom('agents').select(['agent_id', 'read_ok_at']).where('agent_id', '=', id),
  );
  await store.transaction(async (tx) => {
    for (const id of ['agent_a', 'agent_b']) expect((await add(tx, { id })).rows).toEqual([{ agent_id: id }]);
    await updateAgent(tx, 'agent_b', { read_ok_at: 7 });
    await updateAgent(tx, 'agent_b', { read_ok_at: undefined, longest_lag_ms: 5 });
    expect((await find(tx, { id: 'agent_b' })).rows).toEqual([{ agent_id: 'agent_b', read_ok_at: 7 }]);
  });
  expect(built).toBe(1);
  // Beside a transaction as well, where others may hold the connection.
  expect((await find(store.db, { id: 'agent_a' })).rows).toEqual([{ agent_id: 'agent_a', read_ok_at: null }]);
});

test.for(bothDialects)('a prepared write is rolled back with its transaction, and tells how many rows it changed: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  await store.db.insertInto('agents').values({ agent_id: 'agent_a', lease_until_real: 0 }).execute();
  const note = prepared((tx: Tx, { id, at }: { id: string; at: number }) =>
    tx.updateTable('agents').set({ read_ok_at: at }).where('agent_id', '=', id),
  );
  const undone = store.transaction(async (tx) => {
    expect((await note(tx, { id: 'agent_a', at: 7 })).numAffectedRows).toBe(1n);
    expect((await note(tx, { id: 'nobody', at: 7 })).numAffectedRows).toBe(0n);
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  const row = await store.db.selectFrom('agents').select('read_ok_at').executeTakeFirstOrThrow();
  expect(row.read_ok_at).toBeNull();
});

// Only SQLite's rows are named by us.
test.runIf(bothDialects.includes('sqlite'))('rows have the columns that the table has now', async () => {
  const store = await openCleanStore('sqlite');
  await store.db.insertInto('agents').values({ agent_id: 'agent_a', lease_until_real: 0 }).execute();
  const read = async () => sql<Record<string, unknown>>`select * from agents`.execute(store.db);
  const before = Object.keys((await read()).rows[0] ?? {});
  await sql`alter table agents add column later text default 'new'`.execute(store.db);
  const after = (await read()).rows[0] ?? {};
  expect(Object.keys(after)).toEqual([...before, 'later']);
  expect(after).toMatchObject({ agent_id: 'agent_a', later: 'new' });
});
