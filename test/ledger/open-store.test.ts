import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { expect, expectTypeOf } from 'vitest';
import { describeFailure } from '../../src/interfaces/cli/terminal/failure.ts';
import { compareAndSetBatch } from '../../src/ledger/batch-state.ts';
import { appendEvents, readEvents } from '../../src/ledger/events.ts';
import { StoreError } from '../../src/ledger/ledger-error.ts';
import { lockCampaign } from '../../src/ledger/locks.ts';
import { createMigrations } from '../../src/ledger/migrations.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { refuseInTheClear } from '../../src/ledger/postgres-dialect.ts';
import { prepared } from '../../src/ledger/prepared.ts';
import { notReadable, readSchemaState } from '../../src/ledger/schema-state.ts';
import { openSqliteFile, readSqliteTables } from '../../src/ledger/sqlite-file.ts';
import type { Queries, Store, Tx } from '../../src/ledger/tx.ts';
import { updateAgent } from '../../src/ledger/updates.ts';
import { openInAnotherProcess } from './other-process.ts';
import { beginCampaign } from './scenario.ts';
import { emptyDatabase, openAt, openTestStore } from './test-stores.ts';
import { test, openLedger } from './ledger-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test.both.from(emptyDatabase)('opening twice migrates once and keeps the ledger its id', async (location) => {
  const first = await openAt(location);
  const second = await openAt(location);
  expect(second.ledgerId).toBe(first.ledgerId);
  expect(first.ledgerId).toMatch(/^[0-9a-f]{12}$/);
});

test.both.from(emptyDatabase)('several processes may open a new database at the same time', async (location) => {
  const ids = await Promise.all(Array.from({ length: 3 }, () => openInAnotherProcess(location)));
  expect(ids[0]).toMatch(/^[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(1);
});

test('a new file that another process is writing to is waited for, and not refused at once', () => {
  const path = join(temporaryFolder(), 'new.db');
  const other = openSqliteFile(path, { journal: 'delete' });
  other.prepare('begin immediate').run([]);
  const began = performance.now();
  expect(() => openSqliteFile(path, { busyTimeoutMs: 100 })).toThrow(/locked/);
  expect(performance.now() - began).toBeGreaterThanOrEqual(100);
  other.prepare('commit').run([]);
  openSqliteFile(path, { busyTimeoutMs: 100 }).close();
  other.close();
});

test('another database has another ledger id', async (dialect) => {
  const [one, other] = [await openTestStore(dialect), await openTestStore(dialect)];
  expect(one.ledgerId).not.toBe(other.ledgerId);
});

test.both('what is committed is on disk before it counts as committed', async (dialect) => {
  const store = await openLedger(dialect);
  if (dialect === 'postgres') {
    const { rows } = await store.transaction((tx) => sql<{ synchronous_commit: string }>`show synchronous_commit`.execute(tx));
    expect(rows).toEqual([{ synchronous_commit: 'on' }]);
  } else {
    // 2 is FULL; WAL with less may lose the last commits when the power fails.
    expect((await sql`pragma synchronous`.execute(store.db)).rows).toEqual([{ synchronous: 2 }]);
    expect((await sql`pragma journal_mode`.execute(store.db)).rows).toEqual([{ journal_mode: 'wal' }]);
  }
});

test.both.from(openLedger)('the event log takes no changes and no deletions', async (store) => {
  await beginCampaign(store);
  const before = await store.db.selectFrom('events').selectAll().execute();
  expect(before.length).toBeGreaterThan(0);
  await expect(store.db.updateTable('events').set({ type: 'nothing' }).execute()).rejects.toThrow('append-only');
  await expect(store.db.deleteFrom('events').execute()).rejects.toThrow('append-only');
  expect(await store.db.selectFrom('events').selectAll().execute()).toEqual(before);
});

test.both.from(openLedger)('a transaction that throws leaves nothing behind', async (store) => {
  const failing = store.transaction(async (tx) => {
    await tx.insertInto('meta').values({ key: 'half', value: 'done' }).execute();
    throw new Error('halfway');
  });
  await expect(failing).rejects.toThrow('halfway');
  expect(await store.db.selectFrom('meta').select('key').where('key', '=', 'half').execute()).toEqual([]);
});

test('a database that cannot be used is refused with its name and what to do', async () => {
  const folder = temporaryFolder();
  const picture = join(folder, 'picture.db');
  writeFileSync(picture, 'this is no database, however long it is looked at'.repeat(40));
  const missing = join(folder, 'nowhere', 'carillon.db');
  const databaseUrl = 'postgres://carillon:secret-word@127.0.0.1:1/none';
  for (const { says, ...location } of [
    { sqlitePath: picture, says: picture },
    { sqlitePath: missing, says: missing },
    { sqlitePath: '', databaseUrl, says: 'PostgreSQL at 127.0.0.1:1/none' },
  ]) {
    const error: unknown = await openStore(location).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StoreError);
    expect((error as StoreError).message).toContain(says);
    expect((error as StoreError).message).toMatch(/Check /);
    expect((error as StoreError).message).not.toContain('secret-word');
  }
});

test.both.from(emptyDatabase)('a newer database is called newer, and not corrupted', async (location) => {
  const store = await openStore(location);
  await sql`insert into kysely_migration (name, timestamp) values ('999-later', '2031-01-01')`.execute(store.db);
  await store.close();
  for (const schema of ['upgrade', 'as-is'] as const) {
    const opening = openStore(location, schema);
    await expect(opening).rejects.toThrow(StoreError);
    await expect(opening).rejects.toThrow(/a newer Carillon has brought it up to date \(to 999-later; .*Use that version/);
  }
});

function makeForeign(path: string, statements: string[]): Buffer {
  const file = openSqliteFile(path, { journal: 'delete' });
  for (const statement of statements) file.prepare(statement).run([]);
  file.close();
  return readFileSync(path);
}

test.for([
  { kind: 'of its own', statements: ['create table orders (id integer)'], says: /its tables: orders\)/ },
  {
    kind: 'with migrations',
    statements: [
      'create table kysely_migration (name text, timestamp text)',
      `insert into kysely_migration values ('2020-orders', 'then')`,
      'create table orders (id integer)',
    ],
    says: /its tables: orders\)/,
  },
  {
    kind: 'with other migrations',
    statements: ['create table kysely_migration (version integer)', 'create table meta (id integer)'],
    says: /meta/,
  },
])('18 tables are not written into the SQLite file of another program: $kind', async (_, { statements, says }) => {
  const path = join(temporaryFolder(), 'other.db');
  const before = makeForeign(path, statements);
  for (const schema of ['upgrade', 'as-is'] as const) {
    const opening = openStore({ sqlitePath: path }, schema);
    await expect(opening).rejects.toThrow(says);
    await expect(opening).rejects.toThrow(/database of another program.*Nothing was changed\. Set CARILLON_DB/);
  }
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(readdirSync(dirname(path))).toEqual(['other.db']);
});

test('reading makes no schema', async () => {
  const path = join(temporaryFolder(), 'carillon.db');
  writeFileSync(path, '');
  await expect(openStore({ sqlitePath: path }, 'as-is')).rejects.toThrow(/it has no campaigns yet\.$/);
  expect(readFileSync(path)).toHaveLength(0);
  await (await openStore({ sqlitePath: path })).close();
  const migrations =
    '001-first-schema 002-drafts 003-webhooks 004-log-reading 005-sessions 006-cut-lines 007-rehearsals 008-row-terms 009-row-rank ' +
    '010-service-apis 011-certain-absence 012-taken-out 013-people-lists 014-token-use 015-campaign-files 016-talk-results ' +
    '017-asked-calls 018-promises 019-pilot-and-goal 020-house-rules 021-consent-counts 022-list-encoding 023-last-talks';
  expect(readSqliteTables(path).migrations).toEqual(migrations.split(' '));
  await (await openStore({ sqlitePath: path }, 'as-is')).close();
});

test.both('a database that lacks a later migration is older, and reading does not bring it up to date', async (dialect) => {
  const store = await openLedger(dialect);
  const migrations = await createMigrations(dialect).getMigrations();
  const later = { getMigrations: async () => ({ ...migrations, '999-later': { up: async () => {} } }) };
  expect(await readSchemaState(store.db, dialect, later)).toBe('older');
  expect(await readSchemaState(store.db, dialect, createMigrations(dialect))).toBe('current');
  expect(notReadable('older').message).toMatch(
    /an earlier Carillon made it, and this command changes no schema\. .*start one of this version/,
  );
});

test.sqlite.from(openLedger)('a full disk is called full, whatever becomes of the rollback', async (store) => {
  const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(store.db);
  await sql`pragma max_page_count = ${sql.raw(String(rows[0]?.page_count))}`.execute(store.db);
  const value = 'x'.repeat(1_000_000);
  const filling = store.transaction((tx) => tx.insertInto('meta').values({ key: 'long', value }).execute());
  const error: unknown = await filling.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'SQLITE_FULL' });
  expect(describeFailure(error, false)).toEqual({
    code: 'database',
    exitCode: 1,
    message: expect.stringMatching(
      /the disk is full, or no file may grow any further \(ulimit -f\)\. Make room and run the command again/,
    ) as string,
  });
  await sql`pragma max_page_count = 1000000`.execute(store.db);
  await store.transaction((tx) => tx.insertInto('meta').values({ key: 'long', value }).execute());
});

test('PostgreSQL on another host without TLS is refused, unless the address says so', async () => {
  for (const host of ['db.example.com', '192.0.2.7', '[2001:db8::7]']) {
    const address = `postgres://carillon:planted@${host}/carillon`;
    for (const query of ['', '?ssl=0']) await expect(refuseInTheClear(address + query)).rejects.toThrow(/without TLS/);
    for (const mode of ['verify-full', 'no-verify', 'disable']) await refuseInTheClear(`${address}?x=y&sslmode=${mode}`);
  }
  for (const host of ['localhost', '127.0.0.1', '[::1]', '%2Fvar%2Frun%2Fpostgresql'])
    await refuseInTheClear(`postgres://carillon:planted@${host}/carillon`);
  const opening = openStore({ sqlitePath: '', databaseUrl: 'postgres://carillon:planted@192.0.2.7/carillon' });
  await expect(opening).rejects.toThrow(
    /PostgreSQL at 192\.0\.2\.7\/carillon: without TLS, .* on the way to 192\.0\.2\.7\. Add sslmode=verify-full .* or sslmode=disable/,
  );
  await expect(opening).rejects.not.toThrow('planted');
});

test('what must run in a transaction refuses the database, and what reads takes either', () => {
  expectTypeOf<Store['db']>().not.toExtend<Tx>();
  expectTypeOf<Queries>().not.toExtend<Tx>();
  expectTypeOf<Store['db']>().toExtend<Queries>();
  expectTypeOf<Tx>().toExtend<Queries>();
  expectTypeOf<Queries>().not.toHaveProperty('updateTable');

  // The type checker alone reads it.
  const misuse = async ({ db }: Store, tx: Tx) => {
    // @ts-expect-error The database is no transaction.
    await lockCampaign(db, 'spring');
    // @ts-expect-error The database is no transaction.
    await compareAndSetBatch(db, 'spring/1/1', { from: ['intent'], to: 'posting' });
    // @ts-expect-error The database is no transaction.
    await appendEvents(db, []);
    await appendEvents(tx, []);
    return [await readEvents(db, 'spring'), await readEvents(tx, 'spring')];
  };
  expectTypeOf(misuse).toBeFunction();
});

test.both.from(openLedger)('a prepared query is built once and runs with the values of each run', async (store) => {
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
  // Beside a transaction too, where others may hold the connection.
  expect((await find(store.db, { id: 'agent_a' })).rows).toEqual([{ agent_id: 'agent_a', read_ok_at: null }]);
});

test.both.from(openLedger)('a prepared write is rolled back with its transaction, and tells how many rows it changed', async (store) => {
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
test.sqlite.from(openLedger)('rows have the columns that the table has now', async (store) => {
  await store.db.insertInto('agents').values({ agent_id: 'agent_a', lease_until_real: 0 }).execute();
  const read = async () => sql<Record<string, unknown>>`select * from agents`.execute(store.db);
  const before = Object.keys((await read()).rows[0] ?? {});
  await sql`alter table agents add column later text default 'new'`.execute(store.db);
  const after = (await read()).rows[0] ?? {};
  expect(Object.keys(after)).toEqual([...before, 'later']);
  expect(after).toMatchObject({ agent_id: 'agent_a', later: 'new' });
});
