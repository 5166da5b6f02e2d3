import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import { openSqliteFile } from '../../src/store/sqlite-dialect.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { openInAnotherProcess } from './other-process.ts';
import { beginCampaign } from './scenario.ts';
import { dialects, emptyDatabase, openAt, openTestStore } from './test-stores.ts';

test.for(dialects)('opening twice migrates once and keeps the ledger its id: %s', async (dialect) => {
  const location = await emptyDatabase(dialect);
  const first = await openAt(location);
  const second = await openAt(location);
  expect(second.ledgerId).toBe(first.ledgerId);
  expect(first.ledgerId).toMatch(/^[0-9a-f]{12}$/);
});

test.for(dialects)('several processes may open a new database at the same time: %s', async (dialect) => {
  const location = await emptyDatabase(dialect);
  const ids = await Promise.all(Array.from({ length: 3 }, () => openInAnotherProcess(location)));
  expect(ids[0]).toMatch(/^[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(1);
});

test('a new file that another process is writing to is waited for, and not refused at once', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'carillon-open-')), 'new.db');
  onTestFinished(() => rmSync(dirname(path), { recursive: true, force: true }));
  const other = openSqliteFile(path, { journal: 'delete' });
  other.prepare('begin immediate').run([]);
  const began = performance.now();
  expect(() => openSqliteFile(path, { busyTimeoutMs: 100 })).toThrow(/locked/);
  expect(performance.now() - began).toBeGreaterThanOrEqual(100);
  other.prepare('commit').run([]);
  openSqliteFile(path, { busyTimeoutMs: 100 }).close();
  other.close();
});

test('another database has another ledger id', async () => {
  const [one, other] = [await openTestStore('sqlite'), await openTestStore('sqlite')];
  expect(one.ledgerId).not.toBe(other.ledgerId);
});

test.for(dialects)('what is committed is on disk before it counts as committed: %s', async (dialect) => {
  const store = await openTestStore(dialect);
  if (dialect === 'postgres') {
    const { rows } = await store.transaction((tx) =>
      sql<{ synchronous_commit: string }>`show synchronous_commit`.execute(tx),
    );
    expect(rows).toEqual([{ synchronous_commit: 'on' }]);
  } else {
    // 2 is FULL; WAL with less may lose the last commits when the power fails.
    expect((await sql`pragma synchronous`.execute(store.db)).rows).toEqual([{ synchronous: 2 }]);
    expect((await sql`pragma journal_mode`.execute(store.db)).rows).toEqual([{ journal_mode: 'wal' }]);
  }
});

test.for(dialects)('the event log takes no changes and no deletions: %s', async (dialect) => {
  const store = await openTestStore(dialect);
  await beginCampaign(store);
  const before = await store.db.selectFrom('events').selectAll().execute();
  expect(before.length).toBeGreaterThan(0);
  await expect(store.db.updateTable('events').set({ type: 'nothing' }).execute()).rejects.toThrow('append-only');
  await expect(store.db.deleteFrom('events').execute()).rejects.toThrow('append-only');
  expect(await store.db.selectFrom('events').selectAll().execute()).toEqual(before);
});

test.for(dialects)('a transaction that throws leaves nothing behind: %s', async (dialect) => {
  const store = await openTestStore(dialect);
  const failing = store.transaction(async (tx) => {
    await tx.insertInto('meta').values({ key: 'half', value: 'done' }).execute();
    throw new Error('halfway');
  });
  await expect(failing).rejects.toThrow('halfway');
  expect(await store.db.selectFrom('meta').select('key').where('key', '=', 'half').execute()).toEqual([]);
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-store-'));
  onTestFinished(() => {
    chmodSync(folder, 0o755);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

test('a database that cannot be used is refused with its name and what to do', async () => {
  const folder = temporaryFolder();
  const picture = join(folder, 'picture.db');
  writeFileSync(picture, 'this is no database, however long it is looked at'.repeat(40));
  const missing = join(folder, 'nowhere', 'carillon.db');
  const cases = [
    { location: { sqlitePath: picture }, says: picture },
    { location: { sqlitePath: missing }, says: missing },
    {
      location: { sqlitePath: '', databaseUrl: 'postgres://carillon:secret-word@127.0.0.1:1/none' },
      says: 'PostgreSQL at 127.0.0.1:1/none',
    },
  ];
  for (const { location, says } of cases) {
    const error = await openStore(location).then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(StoreError);
    expect((error as StoreError).message).toContain(says);
    expect((error as StoreError).message).toMatch(/Check /);
    expect((error as StoreError).message).not.toContain('secret-word');
  }
});

test('a database of a newer program is refused', async () => {
  const location = await emptyDatabase('sqlite');
  const store = await openStore(location);
  await store.close();
  const file = openSqliteFile(location.sqlitePath);
  file.prepare(`insert into kysely_migration (name, timestamp) values ('999-later', '2031-01-01')`).run([]);
  file.close();
  await expect(openStore(location)).rejects.toThrow(StoreError);
});
