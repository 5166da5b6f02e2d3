import { randomUUID } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { openStore, type StoreLocation } from '../../../../src/ledger/open-ledger.ts';
import { bothDialects, emptyDatabase } from '../../../ledger/test-stores.ts';
import { runCommand } from '../terminal.ts';
import type { Store } from '../../../../src/ledger/tx.ts';

async function begin({ databaseUrl, sqlitePath }: StoreLocation) {
  const env = {
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    CARILLON_DB: sqlitePath,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    SVC_BASE_URL: 'http://127.0.0.1:1',
    SVC_API_KEY: 'sk_sandbox_ok',
    PATH: '/nonexistent',
  };
  const doctor = await runCommand(['doctor', '--json'], { env });
  const { findings } = JSON.parse(doctor.stdout) as { findings: { name: string }[] };
  return {
    worker: await runCommand(['worker'], { env }),
    doctor: { code: doctor.code, finding: findings.find(({ name }) => name === 'Database') },
  };
}

async function prepare(location: StoreLocation, work: (store: Store) => Promise<unknown>): Promise<void> {
  const store = await openStore(location);
  await work(store);
  await store.close();
}

test.for(bothDialects)('worker and doctor name a database of a newer version: %s', async (dialect) => {
  const location = await emptyDatabase(dialect);
  const later = sql`insert into kysely_migration (name, timestamp) values ('999-later', '2031-01-01')`;
  await prepare(location, ({ db }) => later.execute(db));
  const { worker, doctor } = await begin(location);
  const says = /a newer Carillon has brought it up to date \(to 999-later; .*Use that version/;
  expect(worker).toMatchObject({ code: 1, stderr: expect.stringMatching(says) });
  expect(doctor).toMatchObject({
    code: 1,
    finding: { status: 'fault', detail: expect.stringMatching(says), advice: expect.stringContaining('that version') },
  });
});

/** The same database as another user of the server. */
async function asUser(location: StoreLocation, grants: readonly string[]): Promise<StoreLocation> {
  const user = `clerk_${randomUUID().replaceAll('-', '')}`;
  await prepare(location, async ({ db }) => {
    for (const statement of [`create role ${user} login password 'planted'`, ...grants])
      await sql.raw(statement.replaceAll('USER', user)).execute(db);
  });
  return {
    ...location,
    databaseUrl: Object.assign(new URL(location.databaseUrl ?? ''), { username: user, password: 'planted' }).href,
  };
}

const onPostgres = test.skipIf(!bothDialects.includes('postgres'));

onPostgres.for([
  {
    what: 'may only read',
    grants: ['grant select on all tables in schema public to USER'],
    says: /its user lacks rights \(insert on campaigns, update on campaigns, .*insert on events\)/,
  },
  { what: 'may do nothing', grants: [], says: /its user lacks rights \(select on campaigns|permission denied/ },
])('worker and doctor name what a user of PostgreSQL lacks: one who $what', async ({ grants, says }) => {
  const { worker, doctor } = await begin(await asUser(await emptyDatabase('postgres'), grants));
  expect(worker).toMatchObject({ code: 1, stderr: expect.stringMatching(says) });
  expect(worker.stderr).toMatch(/GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES/);
  expect(worker.stderr).not.toContain('planted');
  expect(doctor).toMatchObject({
    code: 1,
    finding: { status: 'fault', detail: expect.stringMatching(says), advice: expect.stringContaining('GRANT') },
  });
});

onPostgres('worker and doctor name a user who may not make the tables of a new database', async () => {
  const { databaseUrl } = await emptyDatabase('postgres');
  const location = { sqlitePath: '', databaseUrl };
  const other = await emptyDatabase('postgres');
  const { username, password } = new URL((await asUser(other, [])).databaseUrl ?? '');
  const url = Object.assign(new URL(databaseUrl ?? ''), { username, password }).href;
  const { worker, doctor } = await begin({ ...location, databaseUrl: url });
  expect(worker).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/permission denied for schema public.*GRANT/),
  });
  expect(doctor).toMatchObject({
    code: 1,
    finding: { status: 'fault', detail: expect.stringContaining('may not create tables') },
  });
});

onPostgres('a user who owns nothing, and has the rights, is fit', async () => {
  const grants = ['grant select, insert, update, delete on all tables in schema public to USER'];
  const location = await asUser(await emptyDatabase('postgres'), grants);
  const { worker, doctor } = await begin(location);
  expect(doctor.finding).toMatchObject({ status: 'ok' });
  expect(worker.stderr).toContain('Temporal at 127.0.0.1:1 cannot be used');
});

test('doctor names a file that may only be read', async () => {
  const location = await emptyDatabase('sqlite');
  await prepare(location, async () => {});
  chmodSync(location.sqlitePath, 0o444);
  chmodSync(dirname(location.sqlitePath), 0o777);
  const isSuperuser = process.getuid?.() === 0;
  // The superuser may write anywhere.
  if (isSuperuser) process.seteuid?.(65_534);
  onTestFinished(() => process.seteuid?.(process.getuid?.() ?? 0));
  const { worker, doctor } = await begin(location);
  expect(doctor).toMatchObject({
    code: 1,
    finding: { status: 'fault', detail: expect.stringMatching(/EACCES|permission denied|unable to open|readonly/) },
  });
  expect(worker).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/readonly|read-only|that you may write to it/),
  });
});
