import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { importCampaign } from '../../../src/ledger/campaign/import-campaign.ts';
import { openRound } from '../../../src/ledger/campaign/rounds.ts';
import { readMarks } from '../../../src/ledger/events.ts';
import { findEntries } from '../../../src/ledger/rows/suppressions.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginProven, noon } from '../../ledger/scenario.ts';
import { buildRows, buildRules } from '../../support/campaign-rules.ts';
import { bothDialects, dialects, emptyDatabase, openAt } from '../../ledger/test-stores.ts';
import { ApiWorld } from './api-world.ts';

const add = 'POST /api/v1/suppressions';
const number = '+12125550100';

test.for(dialects)('the same key does it once, and is answered the same each time: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  await beginProven(store);
  const world = await ApiWorld.over(store);
  const body = { numbers: [number], campaign: 'spring', reason: 'asked by letter' };
  const first = await world.ask(add, { role: 'operate', key: 'k1', body });
  expect(first).toMatchObject({ status: 200, body: { added: 1, known: 0 } });
  expect(first.headers['idempotent-replayed']).toBeUndefined();
  const again = await world.ask(add, { role: 'operate', key: 'k1', body });
  expect(again).toMatchObject({ status: 200, body: { added: 1, known: 0 } });
  expect(again.headers['idempotent-replayed']).toBe('true');
  // A key is its holder's: somebody else's is another one.
  expect(await world.ask(add, { role: 'admin', key: 'k1', body })).toMatchObject({ body: { added: 0, known: 1 } });
  const other = await world.ask(add, { role: 'operate', key: 'k1', body: { ...body, numbers: ['+12125550101'] } });
  expect(other).toMatchObject({ status: 409, body: { code: 'key_reused' } });
  expect(await findEntries(store.db, ['+12125550101'])).toEqual([]);
  const acted = (await readMarks(store.db, 'spring')).filter(({ type }) => type === 'operator.acted');
  expect(acted.map(({ data }) => data)).toEqual([
    { name: 'operate console', action: 'suppressions_added' },
    { name: 'admin console', action: 'suppressions_added' },
  ]);
});

test.for(bothDialects)('of ten requests with one key at once, one does the work: %s', async (dialect) => {
  const location = await emptyDatabase(dialect);
  // Two handles of one SQLite file in one process would wait for each other.
  const first = await openAt(location);
  const stores = [first, dialect === 'sqlite' ? first : await openAt(location)];
  const worlds = await Promise.all(stores.map((store) => ApiWorld.over(store)));
  const body = { numbers: [number] };
  const token = worlds[0]?.tokenText('operate');
  const askFive = (world: ApiWorld) => Array.from({ length: 5 }, () => world.ask(add, { token: token ?? '', key: 'once', body }));
  const answers = await Promise.all(worlds.flatMap(askFive));
  const done = answers.filter(({ status }) => status === 200);
  expect(done.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
  for (const { status } of answers) expect([200, 409]).toContain(status);
  const events = await worlds[0]?.store.db.selectFrom('events').selectAll().where('type', '=', 'suppression.added').execute();
  expect(events).toHaveLength(1);
});

test('a refusal of what was sent is kept as well, and what failed outside frees the key', async () => {
  const store = await openCleanStore('sqlite');
  const world = await ApiWorld.over(store);
  const bad = { numbers: ['12'], region: 'US' };
  const refused = await world.ask(add, { key: 'k1', body: bad });
  expect(refused).toMatchObject({
    status: 422,
    body: { code: 'usage', detail: expect.stringMatching(/^Number 1 of 1 cannot be used/) },
  });
  const again = await world.ask(add, { key: 'k1', body: bad });
  expect(again).toMatchObject({ status: 422, body: { code: 'usage' } });
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(again.headers['content-type']).toMatch(/^application\/problem\+json/);
  world.fault = new Error('the machine is on fire');
  expect(await world.ask(add, { key: 'k2', body: { numbers: [number] } })).toMatchObject({
    status: 500,
    body: { code: 'unexpected' },
  });
  world.fault = null;
  expect(await world.ask(add, { key: 'k2', body: { numbers: [number] } })).toMatchObject({
    status: 200,
    body: { added: 0, known: 1 },
  });
});

test('a conflict is not kept: once its reason has passed, the same key does it', async () => {
  const store = await openCleanStore('sqlite');
  const campaign = {
    campaignId: 'spring',
    name: null,
    fileHash: 'hash',
    rules: buildRules(),
    accountId: 'http://service',
  };
  await importCampaign(store, campaign, { chunks: Readable.from([buildRows([number], () => 'Guest')]), now: noon });
  const world = await ApiWorld.over(store);
  const pause = 'POST /api/v1/campaigns/spring/pause';
  expect(await world.ask(pause, { key: 'k1' })).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
  await openRound(store, 'spring', noon);
  const paused = await world.ask(pause, { key: 'k1' });
  expect(paused).toMatchObject({ status: 200, body: { state: 'paused' } });
  expect(paused.headers['idempotent-replayed']).toBeUndefined();
});

test('the answer is kept together with its line in the log, or neither', async () => {
  const store = await openCleanStore('sqlite');
  const world = await ApiWorld.over(store);
  await sql`create trigger refuse before update on answers begin select raise(abort, 'the disk is full'); end`.execute(store.db);
  expect((await world.ask(add, { key: 'k1', body: { numbers: [number] } })).status).toBe(503);
  const acted = store.db.selectFrom('events').selectAll().where('type', '=', 'operator.acted');
  expect(await acted.execute()).toEqual([]);
  await sql`drop trigger refuse`.execute(store.db);
  expect(await world.ask(add, { key: 'k1', body: { numbers: [number] } })).toMatchObject({ status: 200 });
  expect(await acted.execute()).toHaveLength(1);
});

test.each([
  ['without a key', { key: '' }, 400, 'invalid'],
  ['by one who may only look', { role: 'read' as const }, 403, 'role'],
  ['without a token', { token: null }, 401, 'token_missing'],
])('a change %s is refused', async (_, how, status, code) => {
  const world = await ApiWorld.over(await openCleanStore('sqlite'));
  expect(await world.ask(add, { body: { numbers: [number] }, ...how })).toMatchObject({ status, body: { code } });
  expect(await findEntries(world.store.db, [number])).toEqual([]);
});

test('an entry of the do-not-call list is added, checked, listed and removed, by whoever may', async () => {
  const world = await ApiWorld.over(await openCleanStore('sqlite'));
  await world.ask(add, {
    role: 'operate',
    body: { numbers: ['(212) 555-0100', '+12125550101'], region: 'us', expiresAt: '2030-03-01T00:00:00Z' },
  });
  const checked = await world.ask('POST /api/v1/suppressions/check', {
    role: 'read',
    body: { numbers: [number, '+12125550102'] },
  });
  expect(checked.body.numbers).toMatchObject([
    { e164: number, suppressed: true },
    { suppressed: false, entries: [] },
  ]);
  const page = await world.ask('GET /api/v1/suppressions?limit=1', { role: 'operate' });
  expect(page.body).toMatchObject({
    suppressions: [{ e164: number, source: 'person:operate console', expiresAt: '2030-03-01T00:00:00.000Z' }],
  });
  const next = await world.ask(`GET /api/v1/suppressions?limit=1&after=${encodeURIComponent(page.body.next)}`);
  expect(next.body.suppressions).toMatchObject([{ e164: '+12125550101' }]);
  expect(await world.ask('GET /api/v1/suppressions', { role: 'read' })).toMatchObject({ status: 403 });
  const remove = 'POST /api/v1/suppressions/remove';
  expect(await world.ask(remove, { role: 'operate', body: { numbers: [number] } })).toMatchObject({ status: 403 });
  expect(await world.ask(remove, { body: { numbers: [number, '+12125550109'] } })).toMatchObject({
    body: { removed: 1, unknown: 1 },
  });
  const late = await world.ask(add, { body: { numbers: [number], expiresAt: '2029-01-01T00:00:00Z' } });
  expect(late).toMatchObject({ status: 422, body: { code: 'usage' } });
});
