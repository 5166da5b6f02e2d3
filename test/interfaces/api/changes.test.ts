import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { importCampaign } from '../../../src/ledger/campaign/import-campaign.ts';
import { openRound } from '../../../src/ledger/campaign/rounds.ts';
import { readMarks } from '../../../src/ledger/events.ts';
import { findEntries } from '../../../src/ledger/rows/suppressions.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginProven, noon, numbers } from '../../ledger/scenario.ts';
import { buildRows, buildRules } from '../../support/campaign-rules.ts';
import { bothDialects, dialects, emptyDatabase, openAt } from '../../ledger/test-stores.ts';
import { ApiWorld } from './api-world.ts';
import { findCampaign } from '../../../src/ledger/rows/campaigns.ts';

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

test('consent is taken back for a purpose, and lifted by a newer one alone', async () => {
  const world = await ApiWorld.over(await openCleanStore('sqlite'));
  const remove = 'POST /api/v1/suppressions/remove';
  const body = { numbers: [number], purpose: 'recall' };
  expect(await world.ask(add, { body })).toMatchObject({ body: { added: 1, known: 0 } });
  expect(await findEntries(world.store.db, [number])).toMatchObject([{ scope: 'purpose:recall', expiresAt: null }]);
  for (const wrong of [body, { ...body, consentedAt: '2020-01-01T00:00:00Z' }, { numbers: [number], consentedAt: '2020-01-01T00:00:00Z' }])
    expect(await world.ask(remove, { body: wrong })).toMatchObject({ status: 422 });
  expect(await world.ask(add, { body: { ...body, expiresAt: '2999-01-01T00:00:00Z' } })).toMatchObject({ status: 422 });
  expect(await world.ask(add, { body: { ...body, purpose: 'New offers' } })).toMatchObject({ status: 400 });
  expect(await findEntries(world.store.db, [number])).toHaveLength(1);
});

test('whoever is known by an id of ours is put on the list with every number that any list has of them', async () => {
  const store = await openCleanStore('sqlite');
  const rows = buildRows(numbers(3), (index) => `Guest ${index}`).map((row, at) => ({
    ...row,
    externalId: at === 2 ? 'ben' : `row-${at}`,
    ...(at < 2 && { personKey: 'ana' }),
  }));
  await beginProven(store, { rows });
  const world = await ApiWorld.over(store);
  expect(await world.ask(add, { body: { person: 'ana', purpose: 'recall' } })).toMatchObject({ status: 200, body: { added: 2, known: 0 } });
  expect(await world.ask(add, { body: { person: 'ben' } })).toMatchObject({ body: { added: 1 } });
  expect((await findEntries(store.db, numbers(3))).map(({ e164, scope }) => [e164, scope])).toEqual([
    [numbers(3)[0], 'purpose:recall'],
    [numbers(3)[1], 'purpose:recall'],
    [numbers(3)[2], 'account'],
  ]);
  for (const body of [{ person: 'nobody' }, {}, { person: 'ana', numbers: [number] }])
    expect(await world.ask(add, { body })).toMatchObject({ status: 422, body: { code: 'usage' } });
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

const spring = 'POST /api/v1/campaigns/spring';

async function openWorld() {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store, { rules: { pacing: { batchSize: 2 } } });
  return { scenario, store, world: await ApiWorld.over(store) };
}

test('a pause holds at once, without Temporal, and says that the workflow was not told', async () => {
  const { world, store } = await openWorld();
  const paused = await world.ask(`${spring}/pause`, { role: 'operate' });
  expect(paused).toMatchObject({
    status: 200,
    body: { state: 'paused', notice: expect.stringMatching(/no Temporal/) },
  });
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ state: 'paused' });
  // What takes Temporal fails outside, and may be asked for again under its key.
  expect(await world.ask(`${spring}/resume`, { key: 'r1' })).toMatchObject({ status: 500 });
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ state: 'paused' });
});

test('what was decided about another round is refused with who changed the campaign last, and the round goes on', async () => {
  const { world, store } = await openWorld();
  await world.ask(`${spring}/adjust`, { role: 'operate', body: { maxConcurrentCalls: 7 } });
  await store.db.updateTable('campaigns').set({ round: 2 }).where('campaign_id', '=', 'spring').execute();
  for (const wish of ['pause', 'resume', 'drain', 'cancel']) {
    const refused = await world.ask(`${spring}/${wish}`, { body: { round: 1 } });
    expect(refused).toMatchObject({
      status: 409,
      body: {
        code: 'wrong_state',
        detail: expect.stringMatching(/^Campaign spring is in round 2 now\. This was meant for round 1/),
        lastChange: { name: 'operate console', action: 'adjust', at: '2030-01-15T12:00:00.000Z' },
      },
    });
  }
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ state: 'running' });
  expect(await world.ask(`${spring}/pause`, { body: { round: 2 } })).toMatchObject({ status: 200 });
});

test('limits are changed within the bounds of the campaign file, and restored', async () => {
  const { world } = await openWorld();
  const changed = await world.ask(`${spring}/adjust`, { body: { maxConcurrentCalls: 7, startsPerMinute: 30 } });
  // What was not named stays as it was, whatever a campaign file that leaves it out would mean.
  expect(changed.body.limits).toEqual({ ...changed.body.file, maxConcurrentCalls: 7, startsPerMinute: 30 });
  const restored = await world.ask(`${spring}/adjust`, { body: { reset: true } });
  expect(restored.body.limits).toEqual(restored.body.file);
  expect(await world.ask(`${spring}/adjust`, { body: {} })).toMatchObject({ status: 400, body: { code: 'invalid' } });
  expect(await world.ask(`${spring}/adjust`, { body: { maxConcurrentCalls: 0 } })).toMatchObject({ status: 400 });
  expect(await world.ask(`${spring}/adjust`, { role: 'read', body: { reset: true } })).toMatchObject({ status: 403 });
});

test('hours and retries are changed after a look at what it does, and what cannot be read is refused', async () => {
  const { world, store } = await openWorld();
  const adjust = (body: object) => world.ask(`${spring}/adjust`, { body });
  const dry = await adjust({ hours: 'mon-fri 09:00-17:00', maxAttempts: '1', dryRun: true });
  expect(dry).toMatchObject({ status: 200, body: { effect: { openNow: { after: 0 }, neverOpen: 0, usedUp: 0 }, terms: { hours: 'any' } } });
  expect(dry.body.effect.openNow.before).toBe(dry.body.effect.waiting);
  expect(dry.body.effect.waiting).toBeGreaterThan(0);
  const acts = async () => (await readMarks(store.db, 'spring')).filter(({ type }) => type === 'operator.acted').length;
  expect(await acts()).toBe(0);
  const wish = { hours: 'sat 10:00-12:00, sat 14:00-16:00', maxAttempts: '2', no_answer: '2h, next_day', busy: 'never' };
  const changed = await adjust(wish);
  expect(changed).toMatchObject({ status: 200, body: { effect: null, terms: wish, fileTerms: { hours: 'any', maxAttempts: '3' } } });
  // What an answer tells may be sent again.
  expect((await adjust(changed.body.terms)).body.terms).toEqual(changed.body.terms);
  for (const [name, text] of Object.entries({ hours: 'at night', maxAttempts: '0', busy: 'soon' }))
    expect(await adjust({ [name]: text })).toMatchObject({ status: 400, body: { detail: expect.stringContaining(name) } });
  expect((await adjust({ reset: true })).body).toMatchObject({ terms: { hours: 'any', maxAttempts: '3' } });
});

test('hours that the law never allows are refused, and nothing is changed', async () => {
  const store = await openCleanStore('sqlite');
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
  const hours = Object.fromEntries(days.map((day) => [day, [{ from: 480, to: 1260 }]]));
  const law = [{ id: 'night', country: 'US', region: null, from: null, until: null, caps: [], hours, closedOn: [], source: 'here' }];
  await beginProven(store, { rules: { law } });
  const world = await ApiWorld.over(store);
  const refused = await world.ask(`${spring}/adjust`, { body: { hours: '22:00-23:00' } });
  expect(refused).toMatchObject({ status: 422, body: { code: 'never_open', detail: expect.stringMatching(/could never be called/) } });
  expect((await findCampaign(store.db, 'spring'))?.rules.calendar.hours).toBeNull();
});

test('where the service gives calls back, a pause says what becomes of them, and rows are withdrawn with their open call', async () => {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store, { api: 'campaigns' });
  const world = await ApiWorld.over(store, { settings: { SVC_API: 'campaigns' } });
  await scenario.dial(1);
  const withdrawn = await world.ask(`${spring}/withdraw`, { body: { rows: [1, 99] } });
  expect(withdrawn.body).toMatchObject({
    withdrawn: 0,
    left: [{ key: 1, row: 1, why: 'withdrawing' }, { key: 99, row: null, why: 'not_found' }],
  }); // prettier-ignore
  const pause = async (body: object) => (await world.ask(`${spring}/pause`, { body })).body.queued;
  expect(await pause({ letQueued: true })).toBe('left_to_ring');
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ state: 'paused', letQueued: true });
  expect(await pause({})).toBe('taken_back');
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ state: 'paused', letQueued: false });
});

test('waiting rows are withdrawn, open ones stay, and a dry run changes nothing', async () => {
  const { world, scenario, store } = await openWorld();
  await scenario.dial(1);
  const rows = { rows: [1, 3, 99] };
  const dry = await world.ask(`${spring}/withdraw`, { body: { ...rows, dryRun: true } });
  expect(dry.body).toMatchObject({ dryRun: true, withdrawn: 1 });
  expect((await scenario.recipients()).filter(({ outcome }) => outcome === 'cancelled')).toHaveLength(0);
  const acted = async () => (await readMarks(store.db, 'spring')).filter(({ type }) => type === 'operator.acted');
  expect(await acted()).toEqual([]);
  const done = await world.ask(`${spring}/withdraw`, { body: { ...rows, reason: 'moved away' } });
  expect(done.body).toMatchObject({
    withdrawn: 1,
    left: [{ key: 1, row: 1, why: 'call_open' }, { key: 99, row: null, why: 'not_found' }],
  }); // prettier-ignore
  expect(await acted()).toMatchObject([{ data: { action: 'withdraw' } }]);
  expect((await scenario.recipients()).flatMap(({ outcome, row_number: row }) => (outcome === null ? [] : [row]))).toEqual([3]);
  expect(await world.ask(`${spring}/withdraw`, { body: { ids: ['A1'] } })).toMatchObject({
    status: 409,
    body: { code: 'edit_refused' },
  });
  expect(await world.ask(`${spring}/withdraw`, { body: { ids: ['A1'], rows: [1] } })).toMatchObject({ status: 400 });
});

test('rows of a campaign that runs are not retried, and what is said of it is a conflict', async () => {
  const { world } = await openWorld();
  const answer = await world.ask(`${spring}/retry`, { body: { outcomes: ['exhausted'] } });
  expect(answer.status).toBe(409);
  expect(await world.ask(`${spring}/retry`, { body: { outcomes: ['completed'] } })).toMatchObject({ status: 400 });
  expect(await world.ask('POST /api/v1/campaigns/sprung/pause')).toMatchObject({
    status: 404,
    body: { code: 'unknown_campaign' },
  });
});
