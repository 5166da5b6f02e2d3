import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { sql } from 'kysely';
import { expect, onTestFinished } from 'vitest';
import { openStore, type StoreLocation } from '../../src/ledger/open-ledger.ts';
import { StoreError } from '../../src/ledger/ledger-error.ts';
import type { Queries } from '../../src/ledger/tx.ts';
import { until } from '../support/until.ts';
import { buildRows, minuteMs } from '../support/campaign-rules.ts';
import { startWay } from '../world/way.ts';
import { beginProven, answered, noon, numbers } from './scenario.ts';
import { emptyDatabase, openAt } from './test-stores.ts';
import { test, openLedger, unjudged } from './ledger-test.ts';

const pinned = {
  level: 'read committed',
  commit: 'on',
  lock: '1min',
  statement: '5min',
  idle: '10s',
  readonly: 'off',
};

async function settingsOf(location: StoreLocation) {
  const store = await openAt(location);
  const { rows } = await store.transaction((tx) =>
    sql<typeof pinned>`select current_setting('transaction_isolation') as level, current_setting('synchronous_commit') as commit,
      current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement,
      current_setting('idle_in_transaction_session_timeout') as idle, current_setting('transaction_read_only') as readonly`.execute(tx),
  );
  return rows[0];
}

const loose = {
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  synchronous_commit: 'off',
  lock_timeout: '0',
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
};

test.postgres('?options= in DATABASE_URL changes nothing that a dial relies on', async () => {
  const location = await emptyDatabase('postgres');
  await (await openStore(location)).close();
  const options = Object.entries(loose).map(([name, value]) => `-c ${name}=${value}`);
  const databaseUrl = `${location.databaseUrl}?options=${encodeURIComponent(options.join(' '))}`;
  expect(await settingsOf({ ...location, databaseUrl })).toEqual(pinned);
});

test.postgres.for(['role', 'database'])('defaults of the %s change nothing that a dial relies on', async (_, owner) => {
  const location = await emptyDatabase('postgres');
  const admin = await openAt(location);
  const name = new URL(location.databaseUrl ?? '').pathname.slice(1);
  const whose = owner === 'role' ? `role carillon in database ${name}` : `database ${name}`;
  for (const [setting, value] of Object.entries(loose)) await sql.raw(`alter ${whose} set ${setting} = '${value}'`).execute(admin.db);
  expect(await settingsOf(location)).toEqual(pinned);
});

test.postgres('a default that waits for more than the disk stays', async () => {
  const location = await emptyDatabase('postgres');
  const databaseUrl = `${location.databaseUrl}?options=${encodeURIComponent('-c synchronous_commit=remote_apply')}`;
  expect(await settingsOf({ ...location, databaseUrl })).toEqual({ ...pinned, commit: 'remote_apply' });
});

/** Stands before the server, as a pooler does, and swaps words of equal length on their way. */
async function startMeddler(databaseUrl: string) {
  const url = new URL(databaseUrl);
  const port = Number(url.port);
  let change: [from: string, to: string] | null = null;
  const meddle = (chunk: Buffer): Buffer =>
    change === null ? chunk : Buffer.from(chunk.toString('latin1').replaceAll(...change), 'latin1');
  const server = createServer((client) => {
    const upstream = connect(port, url.hostname);
    client.on('data', (chunk) => upstream.write(meddle(chunk)));
    upstream.on('data', (chunk) => client.write(chunk));
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => {});
      one.on('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  url.port = String(address !== null && typeof address === 'object' ? address.port : 0);
  return {
    databaseUrl: url.href,
    replace: (from: string, to: string) => {
      expect(to).toHaveLength(from.length);
      change = [from, to];
    },
  };
}

const serializable = ['read committed read write', 'serializable   read write'] as const;

test.postgres('nobody is dialled when something between here and the database takes the settings away', async () => {
  const location = await emptyDatabase('postgres');
  const meddler = await startMeddler(location.databaseUrl ?? '');
  const store = await openAt({ ...location, databaseUrl: meddler.databaseUrl });
  const scenario = await beginProven(store);
  await scenario.plan(1);
  meddler.replace(...serializable);
  const refused = await scenario.post(1).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(StoreError);
  expect((refused as StoreError).message).toMatch(/transaction_isolation is serializable .* Nobody is called/);
  expect(await scenario.batch(1)).toMatchObject({ state: 'intent', posts: 0 });
  meddler.replace("'on' end, true", "'off'end, true");
  expect(((await scenario.post(1).catch((error: unknown) => error)) as StoreError).message).toContain('synchronous_commit is off');
  expect(await scenario.batch(1)).toMatchObject({ state: 'intent', posts: 0 });
});

test.postgres('a database that refuses a setting is refused when it is opened, with the name of the setting', async () => {
  const location = await emptyDatabase('postgres');
  await (await openStore(location)).close();
  const meddler = await startMeddler(location.databaseUrl ?? '');
  const open = async (): Promise<unknown> => openStore({ ...location, databaseUrl: meddler.databaseUrl }).catch((error: unknown) => error);
  meddler.replace("'statement_timeout'", "'statement_timeoot'");
  const refused = (await open()) as StoreError;
  expect(refused).toBeInstanceOf(StoreError);
  expect(refused.message).toMatch(
    /^The database cannot be used: PostgreSQL at 127\.0\.0\.1:\d+\/\w+: .*statement_timeoot.*\(GRANT SET ON PARAMETER/,
  );
  meddler.replace(...serializable);
  expect(((await open()) as StoreError).message).toContain('transaction_isolation is serializable');
});

const [first = '', second = ''] = numbers(2);

test.both('an open attempt whose record is final is settled by the next sweep, or read first if it never was', async (dialect) => {
  unjudged();
  const store = await openLedger(dialect);
  const rows = buildRows([first, second], (index) => `Guest ${index}`);
  const scenario = await beginProven(store, { rows });
  const ids = await scenario.dial(1);
  const records = [first, second].map((e164, index) => answered(`conversation_${index}`, e164, noon + 5_000));
  await scenario.sweep(noon + minuteMs, records, false);
  // As left by processes that took turns between each other's statements.
  await store.db.updateTable('attempts').set({ state: 'open', disposition: null, settled_at: null }).execute();
  const unread = { reads: 0, finished: 0 };
  await store.db
    .updateTable('conversations')
    .set(unread)
    .where('attempt_id', '=', ids[1] ?? '')
    .execute();
  await scenario.sweep(noon + 2 * minuteMs, []);
  const [read, other] = await scenario.attempts();
  expect(read).toMatchObject({ state: 'settled', disposition: 'answered' });
  expect(other).toMatchObject({ state: 'open' });
  const due = store.db.selectFrom('conversations').select('conversation_id').where('final', '=', 0);
  expect(await due.execute()).toEqual([{ conversation_id: 'conversation_1' }]);
  await scenario.sweep(noon + 3 * minuteMs, records.slice(1));
  expect((await scenario.attempts())[1]).toMatchObject({ state: 'settled', disposition: 'answered' });
});

test.postgres('a connection that falls silent is given up, and the next transaction has another one', async () => {
  const location = await emptyDatabase('postgres');
  const url = new URL(location.databaseUrl ?? '');
  const way = await startWay(Number(url.port));
  onTestFinished(() => way.close());
  url.port = String(way.port);
  await (await openStore(location)).close();
  const store = await openStore({ ...location, databaseUrl: url.href, longestSilenceMs: 400 });
  onTestFinished(() => store.close());
  const count = () => store.transaction((tx) => tx.selectFrom('campaigns').select('campaign_id').execute());
  expect(await count()).toEqual([]);

  way.forget();
  await expect(count()).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  expect(await count()).toEqual([]);
  way.forget();
  await expect(store.db.selectFrom('campaigns').select('campaign_id').execute()).rejects.toThrow(/silent for 0.4 s/);
  expect(await count()).toEqual([]);
});

/** The server's process behind the connection. */
async function processOf(queries: Queries): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(queries);
  return rows[0]?.pid ?? 0;
}

test.postgres('a connection lives no longer than its age, and is not the next one when it turns out to lead astray', async () => {
  const location = await emptyDatabase('postgres');
  const store = await openAt(location);
  const kept = await processOf(store.db);
  const work = async (statement: string, seen: number[]) =>
    store.transaction(async (tx) => {
      seen.push(await processOf(tx));
      await sql.raw(statement).execute(tx);
    });
  const ordinary: number[] = [];
  await expect(work('select 1 / 0', ordinary)).rejects.toMatchObject({ code: '22012' });
  expect(ordinary).toEqual([kept]);

  // As a standby refuses a statement within a transaction: 25006. The rest of the transaction keeps its connection.
  const astray = await store.transaction(async (tx) => {
    const before = await processOf(tx);
    await sql`savepoint here`.execute(tx);
    await sql`set local transaction_read_only = on`.execute(tx);
    await expect(sql`create table there (way int)`.execute(tx)).rejects.toMatchObject({ code: '25006' });
    await sql`rollback to savepoint here`.execute(tx);
    expect(await processOf(tx)).toBe(before);
    return before;
  });
  expect(astray).toBe(kept);
  expect(await processOf(store.db)).not.toBe(kept);

  const aging = await openStore({ ...location, connectionAgeMs: 200 });
  onTestFinished(() => aging.close());
  const first = await processOf(aging.db);
  await until('it has another connection', async () => (await processOf(aging.db)) !== first);
});
