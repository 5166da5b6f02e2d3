import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { tables } from '../../src/ledger/schema.ts';
import { findSchedule, putSchedule } from '../../src/ledger/campaign/schedules.ts';
import { readRowKey } from '../../src/ledger/campaign/row-hash.ts';
import type { Column } from '../../src/ledger/columns.ts';
import { LedgerOlderError } from '../../src/ledger/ledger-older.ts';
import { RecipientEditor } from '../../src/ledger/people/edit-recipients.ts';
import { termsOf } from '../../src/ledger/rows/row-terms.ts';
import { verifyLog } from '../../src/verify/log.ts';
import { hourMs, minuteMs } from '../support/campaign-rules.ts';
import { listRows, uploadRow } from './edit-world.ts';
import { answered, beginProven, noon, Scenario } from './scenario.ts';
import { emptyDatabase, openAt, type TestDialect } from './test-stores.ts';
import type { Store } from '../../src/ledger/tx.ts';
import { test, beginOn, unjudged } from './ledger-test.ts';

/** What migrations since the version before have added to its tables. */
const addedSince = `recipients.terms recipients.called posts.caller_check callers.answered_at recipients.taken_out_at campaigns.let_queued
  campaigns.api campaigns.file campaigns.goal_round campaigns.pilot_sample campaigns.pilot_state campaigns.pilot_agent campaigns.gates
  recipients.sample attempts.result attempts.asks recipients.promise_id attempts.asks_at recipients.result schedules.list_encoding
  attempts.over_at batches.not_found_at batches.withdraw_asked_at tokens.used_real posts.absent_at agents.naming_run`;

/** Makes the database that the version before made: rows hashed as a list, and terms only as columns. */
async function takeBack(store: Store, dialect: TestDialect): Promise<void> {
  const { db } = store;
  const key = await readRowKey(db);
  const rows = await db.selectFrom('recipients').selectAll().orderBy('row_number').execute();
  const hashes = rows.map((row) => {
    const { e164, externalId, zones, country, regions, notBefore, expiresAt } = termsOf(row);
    const text = JSON.stringify([row.recipient_id, e164, externalId, zones, country, regions, notBefore, expiresAt]);
    return createHmac('sha256', key).update(text).digest().subarray(0, 8);
  });
  const logged = db.selectFrom('events').select('data').where('type', '=', 'campaign.rows');
  const { cells, from } = JSON.parse((await logged.executeTakeFirstOrThrow()).data ?? '') as Record<string, unknown>;
  const data = JSON.stringify({ from, hashes: Buffer.concat(hashes).toString('base64url'), cells });
  const guard = dialect === 'sqlite' ? 'events_no_update' : 'events_append_only on events';
  await sql.raw(`drop trigger ${guard}`).execute(db);
  await db.updateTable('events').set({ data }).where('type', '=', 'campaign.rows').execute();
  await sql`update recipients set rank = case when state = 'waiting' and called = 1 then 0 else 1 end`.execute(db);
  await sql`alter table recipients rename column rank to tier`.execute(db);
  await sql`drop index recipients_result`.execute(db);
  await sql`drop index recipients_sample`.execute(db);
  const later = Object.entries(tables).flatMap(([table, columns]) =>
    Object.entries<Column>(columns).flatMap(([name, { since = 0 }]) => (since >= 8 ? `${table}.${name}` : [])),
  );
  expect(later.sort()).toEqual(addedSince.split(/\s+/).sort());
  for (const column of later) await sql.raw(`alter table ${column.replace('.', ' drop column ')}`).execute(db);
  for (const name of 'promises house_rules list_orders list_cells'.split(' ')) await sql.raw(`drop table ${name}`).execute(db);
  const indexes = 'batches_caller recipients_consent recipients_standing recipients_next attempts_posted';
  for (const name of indexes.split(' ')) await sql.raw(`drop index ${name}`).execute(db);
  await sql`delete from kysely_migration where name >= '008'`.execute(db);
}

test.both('a campaign that the version before began goes on, and all of it is proven', async (dialect) => {
  const place = await emptyDatabase(dialect);
  const earlier = await openAt(place);
  const rows = listRows(4).map((row, at) => (at === 2 ? { ...row, expiresAt: noon + 9 * hourMs } : row));
  const pacing = { maxConcurrentCalls: 2, batchSize: 2, refillThreshold: 1 };
  const begun = await beginProven(earlier, { rows, rules: { pacing } });
  await begun.dial(1);
  const schedule = { scheduleId: 's', campaignId: 'daily', filePath: '/f', content: 'id: daily', listSource: 'l.csv', accountId: 'x' };
  await putSchedule(earlier, { ...schedule, createdAt: noon });
  await takeBack(earlier, dialect);

  const store = await openAt(place);
  // It began before encodings were named.
  expect(await findSchedule(store.db, 's')).toMatchObject({ unnamedEncoding: 'western' });
  const scenario = new Scenario(store, 'spring');
  const talks = (await scenario.attempts()).map(({ e164 }, at) => answered(`conv_${at}`, e164, noon + 5_000));
  await scenario.sweep(noon + minuteMs, talks);
  const editor = new RecipientEditor(store, { campaignId: 'spring', restore: false, dryRun: false });
  const corrected = uploadRow(1, rows[3]?.externalId ?? '', '+12125550177');
  expect(await editor.apply([corrected], noon + minuteMs)).toMatchObject([{ result: 'corrected' }]);
  expect(await scenario.dial(2, noon + 2 * minuteMs)).toHaveLength(2);
  expect(await scenario.broken()).toEqual([]);
  expect(await verifyLog(store.db, null)).toMatchObject({ calls: 4 });
  // Old and new hashes guard rows against change alike.
  for (const row of [1, 4]) {
    const change = (country: string) => store.db.updateTable('recipients').set({ country }).where('row_number', '=', row);
    await change('GB').execute();
    expect(await scenario.broken()).toEqual(['rows_differ']);
    await change('US').execute();
  }
});

test.both('the order of calls goes on after an upgrade, and with it who was called before', async (dialect) => {
  const place = await emptyDatabase(dialect);
  const earlier = await openAt(place);
  const pacing = { maxConcurrentCalls: 3, batchSize: 3, refillThreshold: 1 };
  const begun = await beginProven(earlier, { rows: listRows(6), rules: { pacing, retry: { maxAttempts: 2 } } });
  const [first = '', second = ''] = await begun.dial(1);
  await begun.settle(first, 'busy', noon);
  await begun.settle(second, 'invalid_number', noon);
  await takeBack(earlier, dialect);

  const store = await openAt(place);
  const scenario = new Scenario(store, 'spring');
  const standing = async () => (await scenario.recipients()).map(({ called, rank }) => [called, rank]);
  // A retry, one that is over, one that is on the line, and three whom nobody has called.
  expect(await standing()).toEqual([[1, 0], [1, 0], [0, 50], [0, 50], [0, 50], [0, 50]]); // prettier-ignore
  await scenario.settle('spring/3/1', 'busy', noon);
  expect((await standing())[2]).toEqual([1, 0]);
  expect(await scenario.dial(2, noon + hourMs)).toEqual(['spring/1/2', 'spring/3/2', 'spring/4/1']);
});

const pacing = { batchSize: 2, refillThreshold: 1 };

async function begin(dialect: TestDialect): Promise<Scenario> {
  return beginOn(dialect, { rules: { pacing } });
}

async function forget(store: Store, batchId: string): Promise<void> {
  unjudged();
  for (const table of ['posts', 'attempts', 'batches'] as const) await store.db.deleteFrom(table).where('batch_id', '=', batchId).execute();
}

async function unsend(store: Store, batchId: string, state: 'intent' | 'not_sent' | 'posting'): Promise<void> {
  unjudged();
  await store.db.deleteFrom('posts').where('batch_id', '=', batchId).execute();
  await store.db.updateTable('attempts').set({ state: 'planned' }).where('batch_id', '=', batchId).execute();
  await store.db.updateTable('batches').set({ state, posts: 0 }).where('batch_id', '=', batchId).execute();
}

const caught = (work: Promise<unknown>) => work.then(String, (error: unknown) => error);

test.both.from(begin)('a batch that is missing when it is to be sent is not looked for again', async (scenario) => {
  await scenario.plan(1);
  await forget(scenario.store, scenario.batchId(1));
  const error = await caught(scenario.post(1));
  expect(error).toBeInstanceOf(LedgerOlderError);
  expect(error).toMatchObject({
    message: "The ledger is older than the campaign's progress: batch spring/1/1 is missing.",
    lost: { missing: 1, submitted: false },
  });
});

test.both.from(begin)('nor is one whose verdict is to be written, or whose request is unknown', async (scenario) => {
  await scenario.submit(1);
  await unsend(scenario.store, scenario.batchId(1), 'intent');
  expect(await caught(scenario.verdict(1, 'confirmed'))).toMatchObject({
    name: 'LedgerOlderError',
    message: "The ledger is older than the campaign's progress: request 1 of batch spring/1/1 is missing.",
    lost: { missing: 1, submitted: true },
  });
  await forget(scenario.store, scenario.batchId(1));
  expect(await caught(scenario.verdict(1, 'confirmed'))).toBeInstanceOf(LedgerOlderError);
});

test.both.for(['intent', 'not_sent', 'posting'] as const)(
  'nobody asks for a batch while the one before it is %s',
  async (dialect, state) => {
    const scenario = await begin(dialect);
    await scenario.dial(1);
    await unsend(scenario.store, scenario.batchId(1), state);
    expect(await caught(scenario.plan(2))).toMatchObject({
      name: 'LedgerOlderError',
      message: "The ledger is older than the campaign's progress: batch 1 of spring has no verdict.",
      lost: { missing: 1, submitted: true },
    });
    expect(await scenario.attempts()).toHaveLength(2);
  },
);

test.both.from(begin)('whoever finds that another caller sent nothing is told to come again', async (scenario) => {
  await scenario.submit(1);
  const { store } = scenario;
  // Between the second caller's two transactions the first learns that nothing was sent.
  let transactions = 0;
  const between: Store = {
    ...store,
    transaction: async (work) => {
      transactions += 1;
      if (transactions === 2) await scenario.verdict(1, 'not_sent');
      return store.transaction(work);
    },
  };
  expect(await scenario.post(1, noon + 1, between)).toEqual({ kind: 'blocked', until: noon + 1 });
  expect(await scenario.post(1, noon + 2)).toMatchObject({ kind: 'post', k: 2 });
});

test.postgres('keys have the names that they have in every database', async (dialect) => {
  const { db } = await openAt(await emptyDatabase(dialect));
  const { rows } = await sql<{ name: string }>`select conname as name from pg_constraint
    where contype = 'p' and conrelid in ('promises'::regclass, 'house_rules'::regclass, 'rehearsals'::regclass) order by 1`.execute(db);
  expect(rows.map(({ name }) => name)).toEqual(['house_rules_pkey', 'promises_pkey', 'rehearsals_pk']);
});
