import { Kysely, Migrator, PostgresDialect, sql } from 'kysely';
import { Pool } from 'pg';
import { expect, test } from 'vitest';
import { findCampaign } from '../../src/ledger/rows/campaigns.ts';
import { createMigrations } from '../../src/ledger/migrations.ts';
import type { StoreLocation } from '../../src/ledger/open-ledger.ts';
import { createSqliteDialect } from '../../src/ledger/sqlite-dialect.ts';
import type { Database } from '../../src/ledger/schema.ts';
import { wordsKey } from '../../src/ledger/words-key.ts';
import { verifyLog } from '../../src/verify/verify-log.ts';
import { closeRound } from '../../src/ledger/campaign/rounds.ts';
import { buildRows, buildRules } from '../support/campaign-rules.ts';
import { beginProven, noon, Scenario } from './scenario.ts';
import { dialects, emptyDatabase, openAt, type TestDialect } from './test-stores.ts';

/** Rules as the first version stored them. */
function formerRules(): object {
  const { callers: _, startsAt: _s, breaker: _b, preDial: _p, onCompletion: _o, ...rules } = buildRules();
  const { dispositions: _d, correlation: _c, ...kept } = rules;
  const { zipColumn: _z, notBeforeColumn: _n, expiresAtColumn: _e, ...list } = rules.list;
  const { maxAttemptsPerNumber: _m, resetAfterMs: _r, jitterMs: _j, ...retry } = rules.retry;
  const { warmUpMs: _w, priority: _y, ...pacing } = rules.pacing;
  return { ...kept, fromPhoneNumberId: 'pn_main', list, retry, pacing };
}

/** A database of the first version with one campaign in this state, whose only row waits. */
async function makeFormer(dialect: TestDialect, location: StoreLocation, state: string): Promise<void> {
  const db = new Kysely<Database>({
    dialect:
      location.databaseUrl === undefined
        ? createSqliteDialect(location.sqlitePath)
        : new PostgresDialect({ pool: new Pool({ connectionString: location.databaseUrl }) }),
  });
  try {
    const migrator = new Migrator({ db, provider: createMigrations(dialect) });
    const { error } = await migrator.migrateTo('001-first-schema');
    if (error !== undefined) throw error;
    const rules = JSON.stringify(formerRules());
    await sql`insert into accounts values ('http://service', 0)`.execute(db);
    await sql`
      insert into campaigns values ('spring', null, 'hash', ${rules}, 'http://service', 'agent_reminders', ${state}, null, ${noon}, 1, 0, 1, 1, 0)`.execute(
      db,
    );
    await sql`insert into rounds values ('spring', 1, 'campaign/spring/1', ${noon}, null, 0, 0, 0)`.execute(db);
    await sql`
      insert into recipients values ('spring/1', 'spring', 1, null, '+12015550142', '["+12015550142","Guest"]', '["America/New_York"]', 'US',
        '["NJ"]', 'waiting', 1, 0, 0, 0, 0, 0, null, null, null)`.execute(db);
    const imported = JSON.stringify({ hash: 'hash', rows: 1, rejected: 0, rules: formerRules() });
    const started = JSON.stringify({ from: 'ready', to: 'running' });
    for (const [type, data] of [
      ['campaign.imported', imported],
      ['campaign.state', started],
      ...(state === 'cancelling' ? [['campaign.state', JSON.stringify({ from: 'running', to: 'cancelling' })]] : []),
    ])
      await sql`insert into events (at, campaign_id, type, data) values (${noon}, 'spring', ${type}, ${data})`.execute(
        db,
      );
  } finally {
    await db.destroy();
  }
}

test.for(dialects)('a campaign of the first version goes on: %s', async (dialect) => {
  const location = await emptyDatabase(dialect);
  await makeFormer(dialect, location, 'running');
  const store = await openAt(location);
  const campaign = await findCampaign(store.db, 'spring');
  expect(campaign).toMatchObject({ state: 'running', rules: buildRules(), draining: null, resumeAt: null });
  const scenario = new Scenario(store, 'spring');
  expect(await scenario.dial(1)).toEqual(['spring/1/1']);
  expect((await scenario.batch(1))?.caller).toBe('pn_main');
  expect((await verifyLog(store.db, 'spring')).ok).toBe(true);
});

test.for(dialects)(
  'states have their new names, and a campaign that was being cancelled ends so: %s',
  async (dialect) => {
    for (const [former, state] of [
      ['ready', 'draft'],
      ['cancelling', 'draining'],
      ['paused', 'paused'],
    ] as const) {
      const location = await emptyDatabase(dialect);
      await makeFormer(dialect, location, former);
      const store = await openAt(location);
      expect((await findCampaign(store.db, 'spring'))?.state).toBe(state);
      if (former !== 'cancelling') continue;
      const scenario = new Scenario(store, 'spring');
      expect(await scenario.plan(1)).toEqual({ kind: 'done' });
      expect(await closeRound(store, 'spring', 1, noon)).toBe(true);
      expect((await scenario.campaign()).state).toBe('cancelled');
      expect(await scenario.recipients()).toMatchObject([{ outcome: 'cancelled', reason: 'cancelled' }]);
      expect((await verifyLog(store.db, 'spring')).ok).toBe(true);
    }
  },
);

test.for(dialects)('rows that were imported before lines were kept apart are kept apart: %s', async (dialect) => {
  const location = await emptyDatabase(dialect);
  await makeFormer(dialect, location, 'running');
  const store = await openAt(location);
  const [row] = await new Scenario(store, 'spring').recipients();
  expect(row?.words_key).toBe(wordsKey('Hello Guest, this is about your appointment.'));
  // Somebody else of another campaign with the same line has to wait while the first is called.
  expect(await new Scenario(store, 'spring').dial(1)).toEqual(['spring/1/1']);
  const rows = buildRows(['+12025550142'], () => 'Guest');
  const autumn = await beginProven(store, { campaignId: 'autumn', rows });
  expect(await autumn.plan(1)).toMatchObject({ kind: 'wait', reason: 'words' });
});

test.for(dialects)('an old database is upgraded, and opened again as it is: %s', async (dialect) => {
  const location = await emptyDatabase(dialect);
  await makeFormer(dialect, location, 'running');
  const key = async () => {
    const store = await openAt(location);
    return store.db.selectFrom('meta').selectAll().where('key', '=', 'row_key').execute();
  };
  const first = await key();
  expect(first).toHaveLength(1);
  expect(await key()).toEqual(first);
});
