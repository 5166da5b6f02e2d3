import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { openCleanStore } from '../ledger/clean-store.ts';
import { beginProven } from '../ledger/scenario.ts';
import { bothDialects } from '../ledger/test-stores.ts';
import { submittingWorker } from '../support/submitting-worker.ts';
import { until } from '../support/until.ts';
import type { Store } from '../../src/ledger/tx.ts';

const broken = () => Object.assign(new Error('the connection to the database broke'), { code: 'ECONNRESET' });

/** Its nth transactions, from 1, run through these functions. */
function disturbed(store: Store, ways: Record<number, Store['transaction']>): Store {
  let nth = 0;
  return {
    ...store,
    transaction: (work) => {
      nth += 1;
      return ways[nth]?.(work) ?? store.transaction(work);
    },
  };
}

async function begin(dialect: (typeof bothDialects)[number]) {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store);
  await scenario.plan(1);
  const unheard: Store['transaction'] = async (work) => {
    await store.transaction(work);
    throw broken();
  };
  const refused: Store['transaction'] = async (work) => {
    await store.transaction(async (tx) => {
      await work(tx);
      throw broken();
    });
    throw new Error('never comes here');
  };
  return { store, scenario, unheard, refused, batchId: scenario.batchId(1) };
}

test.for(bothDialects)('nobody waits for a person because the answer to the commit of posting was lost: %s', async (dialect) => {
  const { store, scenario, unheard, batchId } = await begin(dialect);
  const worker = submittingWorker(disturbed(store, { 1: unheard }));
  await expect(worker.submit({ batchId })).rejects.toMatchObject({ type: 'Database' });
  expect(await scenario.batch(1)).toMatchObject({ state: 'not_sent', posts: 1 });
  expect(worker.posts).toEqual([]);
  expect(await worker.submit({ batchId })).toEqual({ kind: 'verdict', batchId, state: 'confirmed' });
  expect(worker.posts).toEqual([`${batchId}/2`]);
});

test.for(bothDialects)('a commit of posting that failed leaves the batch as it was: %s', async (dialect) => {
  const { store, scenario, refused, batchId } = await begin(dialect);
  const worker = submittingWorker(disturbed(store, { 1: refused }));
  await expect(worker.submit({ batchId })).rejects.toMatchObject({ type: 'Database' });
  expect(await scenario.batch(1)).toMatchObject({ state: 'intent', posts: 0 });
  expect(await worker.submit({ batchId })).toEqual({ kind: 'verdict', batchId, state: 'confirmed' });
  expect(worker.posts).toEqual([`${batchId}/1`]);
});

test.runIf(bothDialects.includes('sqlite'))('nothing is sent where the commit itself of posting fails', async () => {
  const { store, scenario, batchId } = await begin('sqlite');
  // A dangling reference, which SQLite checks at commit.
  for (const text of [
    'pragma foreign_keys = on',
    'create table wards (guardian text references guardians (name) deferrable initially deferred)',
    'create table guardians (name text primary key)',
    `create trigger failing after insert on posts begin insert into wards values ('nobody'); end`,
  ])
    await sql.raw(text).execute(store.db);
  const worker = submittingWorker(store);
  await expect(worker.submit({ batchId })).rejects.toMatchObject({ type: 'Database' });
  expect(worker.posts).toEqual([]);
  expect(await scenario.batch(1)).toMatchObject({ state: 'intent', posts: 0 });
  await sql.raw('drop trigger failing').execute(store.db);
  expect(await worker.submit({ batchId })).toEqual({ kind: 'verdict', batchId, state: 'confirmed' });
  expect(worker.posts).toEqual([`${batchId}/1`]);
});

test.for(bothDialects)('the word that nothing was sent waits until the database is back: %s', async (dialect) => {
  const { store, scenario, unheard, batchId } = await begin(dialect);
  const away = () => Promise.reject(broken());
  const worker = submittingWorker(disturbed(store, { 1: unheard, 2: away, 3: away, 4: away }));
  const said = await worker.submit({ batchId });
  if (said.kind !== 'unrecorded') throw new Error('it was written');
  expect(await scenario.batch(1)).toMatchObject({ state: 'posting' });
  expect(await worker.recordPostVerdict(said.verdict)).toEqual({ state: 'not_sent' });
  expect(await worker.submit({ batchId })).toEqual({ kind: 'verdict', batchId, state: 'confirmed' });
});

test.for(bothDialects)('it says nothing about the request of another process with the same number: %s', async (dialect) => {
  const { store, scenario, refused, batchId } = await begin(dialect);
  const away = () => Promise.reject(broken());
  const worker = submittingWorker(disturbed(store, { 1: refused, 2: away, 3: away, 4: away }));
  const said = await worker.submit({ batchId });
  if (said.kind !== 'unrecorded') throw new Error('it was written');
  expect(await scenario.post(1)).toMatchObject({ kind: 'post', k: 1 });
  expect(await worker.recordPostVerdict(said.verdict)).toEqual({ state: 'posting' });
  expect(await scenario.batch(1)).toMatchObject({ state: 'posting' });
});

test.runIf(bothDialects.includes('postgres'))('a commit of posting that is still under way is waited for', async () => {
  const { store, scenario, batchId } = await begin('postgres');
  let commit = () => {};
  const word = new Promise<void>((resolve) => (commit = resolve));
  let entered = () => {};
  const inside = new Promise<void>((resolve) => (entered = resolve));
  const cut: Store['transaction'] = async (work) => {
    const slow = store.transaction(async (tx) => {
      const result = await work(tx);
      entered();
      await word;
      return result;
    });
    await inside;
    void slow;
    throw broken();
  };
  const worker = submittingWorker(disturbed(store, { 1: cut }));
  const submitted = expect(worker.submit({ batchId })).rejects.toMatchObject({ type: 'Database' });
  await until('somebody waits for a lock', async () => {
    const { rows } = await sql`select 1 from pg_locks where not granted`.execute(store.db);
    return rows.length > 0;
  });
  commit();
  await submitted;
  expect(await scenario.batch(1)).toMatchObject({ state: 'not_sent', posts: 1 });
  expect(await worker.submit({ batchId })).toEqual({ kind: 'verdict', batchId, state: 'confirmed' });
});
