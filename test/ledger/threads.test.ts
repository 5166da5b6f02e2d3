import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect } from 'vitest';
import { isBusy, openSqliteFile } from '../../src/ledger/sqlite-file.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { listCampaigns } from '../../src/ledger/rows/campaigns.ts';
import { createThreadedSqliteDialect } from '../../src/ledger/threads/sqlite-threads.ts';
import { answered, beginProven, noon } from './scenario.ts';
import type { Store } from '../../src/ledger/tx.ts';
import { test } from './ledger-test.ts';

let path: string;
let store: Store;
/** The first one writes. */
let threads: Worker[];
const noteThread = (thread: Worker) => void threads.push(thread);
beforeEach(async () => {
  threads = [];
  process.on('worker', noteThread);
  path = join(tmpdir(), `carillon-threads-${randomUUID()}.db`);
  store = await openStore({ sqlitePath: path }, 'upgrade', createThreadedSqliteDialect);
});
afterEach(async () => {
  await store.close();
  process.off('worker', noteThread);
});

const write = (key: string) => store.db.insertInto('meta').values({ key, value: 'x' }).execute();
const keys = async () => (await store.db.selectFrom('meta').select('key').execute()).map(({ key }) => key);
/** As long as it counts, a thread of SQLite answers nothing else. */
const countTo = (most: number) =>
  sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${most}) select count(*) as count from n`.execute(store.db);

test('a campaign is dialled and settled in threads as in one', async () => {
  const scenario = await beginProven(store);
  const [first = ''] = await scenario.dial(1, noon);
  const [call] = await scenario.attempts();
  await scenario.sweep(noon + 600_000, [answered('conv_1', call?.e164 ?? '', noon + 5_000)]);
  expect((await scenario.attempts()).find(({ attempt_id: id }) => id === first)?.disposition).toBe('answered');
  expect((await listCampaigns(store.db)).map(({ campaignId }) => campaignId)).toEqual(['spring']);
});

test('what a costly statement takes keeps neither the process nor another statement waiting', async () => {
  await keys();
  let isOver = false;
  const costly = countTo(8_000_000).then(() => {
    isOver = true;
  });
  for (let look = 0; look < 5; look += 1) {
    await pause(1);
    await keys();
  }
  expect(isOver).toBe(false);
  await costly;
});

test('who reads outside of a transaction sees nothing of it before its commit, and all of it after', async () => {
  await store.transaction(async (tx) => {
    await tx.insertInto('meta').values({ key: 'inside', value: 'x' }).execute();
    expect(await keys()).not.toContain('inside');
    expect(await tx.selectFrom('meta').select('key').where('key', '=', 'inside').execute()).toHaveLength(1);
  });
  expect(await keys()).toContain('inside');
});

test('transactions and single statements that write take turns; one that fails leaves nothing behind and lets the next one in', async () => {
  const failing = store.transaction(async (tx) => {
    await tx.insertInto('meta').values({ key: 'lost', value: 'x' }).execute();
    await pause(20);
    throw new Error('changed its mind');
  });
  const [failed] = await Promise.allSettled([failing, write('beside'), store.transaction((tx) => tx.deleteFrom('tokens').execute())]);
  expect(failed).toMatchObject({ status: 'rejected', reason: { message: 'changed its mind' } });
  expect(await keys()).toEqual(expect.arrayContaining(['beside']));
  expect(await keys()).not.toContain('lost');
});

test('what SQLite refuses is known by its code, as without threads', async () => {
  await write('once');
  await expect(write('once')).rejects.toMatchObject({ code: expect.stringMatching(/^SQLITE_CONSTRAINT/) as string });
  const other = openSqliteFile(path);
  other.exec('begin immediate');
  const waiting = store
    .transaction(async () => {})
    .then(
      () => null,
      (error: unknown) => error,
    );
  // Others read meanwhile.
  expect(await keys()).toContain('once');
  expect(isBusy(await waiting)).toBe(true);
  other.exec('rollback');
  other.close();
});

test('a store that is closed answers what was asked before, ends all threads, and refuses what is asked later', async () => {
  await keys();
  const asked = [write('last'), ...Array.from({ length: 5 }, () => countTo(400_000))];
  await pause(20);
  await store.close();
  expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(asked.map(() => 'fulfilled'));
  await expect(keys()).rejects.toThrow(/closed|destroyed/);
  expect(threads.map(({ threadId }) => threadId)).toEqual([-1, -1, -1, -1]);
  store = await openStore({ sqlitePath: path }, 'as-is', createThreadedSqliteDialect);
  expect(await keys()).toContain('last');
});

test('nothing of a transaction is kept whose thread has ended, also of what waited for its turn', async () => {
  const put = (tx: Pick<Store['db'], 'insertInto'>, key: string) => tx.insertInto('meta').values({ key, value: 'x' }).execute();
  const ending = store.transaction(async (tx) => {
    await put(tx, 'before');
    await threads[0]?.terminate();
    const later = await Promise.allSettled([put(tx, 'after'), put(tx, 'waited')]);
    expect(later.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
  await expect(ending).rejects.toThrow(/thread .*has ended/);
  await write('next');
  const kept = await keys();
  expect(kept).toContain('next');
  for (const lost of ['before', 'after', 'waited']) expect(kept).not.toContain(lost);
});
