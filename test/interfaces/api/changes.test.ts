import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { importCampaign } from '../../../src/ledger/campaign/import-campaign.ts';
import { openRound } from '../../../src/ledger/campaign/rounds.ts';
import { appendEvents, readMarks } from '../../../src/ledger/events.ts';
import { findEntries } from '../../../src/ledger/rows/suppressions.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { answered, beginProven, noon, numbers, type ScenarioOptions } from '../../ledger/scenario.ts';
import { buildRows, buildRules, dayMs, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { bothDialects, dialects, emptyDatabase, openAt } from '../../ledger/test-stores.ts';
import { actsIn, ApiWorld } from './api-world.ts';
import { createWorld } from '../cli/campaign-world.ts';
import { readConfig } from '../../../src/shared/config.ts';
import { openStore } from '../../../src/ledger/open-ledger.ts';
import { openTemporal } from '../../../src/operations/control/control.ts';
import { listTokens } from '../../../src/ledger/console/tokens.ts';
import { listWebhooks } from '../../../src/ledger/webhooks/registry.ts';
import { operations, type OperationId } from '../../../src/operations/list.ts';
import { filledPath } from '../../../src/operations/operation.ts';
import { until } from '../../support/until.ts';
import { hasEnded } from '../../../src/rules/lifecycle.ts';
import { findCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { problem } from '../../support/answers.ts';

const add = 'POST /suppressions';
const number = '+12125550100';

test.for(dialects)('the same key does it once, and is answered the same each time: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  await beginProven(store);
  const world = await ApiWorld.over(store);
  const body = { numbers: [number], campaign: 'spring', reason: 'asked by letter' };
  expect(await world.ask(add, { key: '', body })).toMatchObject(problem(400, 'invalid'));
  const first = await world.ask(add, { role: 'operate', key: 'k1', body });
  expect(first).toMatchObject({ status: 200, body: { added: 1, known: 0 } });
  expect(first.headers['idempotent-replayed']).toBeUndefined();
  const again = await world.ask(add, { role: 'operate', key: 'k1', body });
  expect(again).toMatchObject({ status: 200, body: { added: 1, known: 0 } });
  expect(again.headers['idempotent-replayed']).toBe('true');
  // A key belongs to its holder: another holder's equal key is separate.
  expect(await world.ask(add, { role: 'admin', key: 'k1', body })).toMatchObject({ body: { added: 0, known: 1 } });
  const acted = (await readMarks(store.db, 'spring')).flatMap((mark) => (mark.type === 'operator.acted' ? [mark.data] : []));
  expect(acted).toEqual(['operate', 'admin'].map((role) => ({ name: `${role} console`, action: 'suppressions_added' })));
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
  const world = await ApiWorld.empty();
  const bad = { numbers: ['12'], region: 'US' };
  const refused = await world.ask(add, { key: 'k1', body: bad });
  expect(refused).toMatchObject(problem(422, 'usage', /^Number 1 of 1 cannot be used/));
  const again = await world.ask(add, { key: 'k1', body: bad });
  expect(again).toMatchObject(problem(422, 'usage'));
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(again.headers['content-type']).toMatch(/^application\/problem\+json/);
  world.fault = new Error('the machine is on fire');
  expect(await world.ask(add, { key: 'k2', body: { numbers: [number] } })).toMatchObject(problem(500, 'unexpected'));
  world.fault = null;
  expect(await world.ask(add, { key: 'k2', body: { numbers: [number] } })).toMatchObject({ status: 200, body: { added: 0, known: 1 } });
});

test('a conflict is not kept: once its reason has passed, the same key does it', async () => {
  const store = await openCleanStore('sqlite');
  const campaign = { campaignId: 'spring', name: null, fileHash: 'hash', rules: buildRules(), accountId: 'http://service' };
  await importCampaign(store, campaign, { chunks: Readable.from([buildRows([number], () => 'Guest')]), now: noon });
  const world = await ApiWorld.over(store);
  const pause = 'POST /campaigns/spring/pause';
  expect(await world.ask(pause, { key: 'k1' })).toMatchObject(problem(409, 'wrong_state'));
  await openRound(store, 'spring', noon);
  const paused = await world.ask(pause, { key: 'k1' });
  expect(paused).toMatchObject({ status: 200, body: { state: 'paused' } });
  expect(paused.headers['idempotent-replayed']).toBeUndefined();
});

test('a change that is cut off before its answer is kept is harmless to repeat, and its line in the log comes with the answer', async () => {
  const world = await createWorld(
    { speed: 1 },
    { CARILLON_HOOK_SECRET: 'sixteen-letters-or-more', CARILLON_URL_CRM: 'https://crm.example' },
  );
  const { env, id } = world;
  const store = await openStore({ sqlitePath: world.path('carillon.db') });
  const settings = { settings: env, connect: (limitMs?: number) => openTemporal(env, readConfig(env), limitMs) };
  const api = await ApiWorld.over(store, settings);
  api.at = Date.now();
  const plain = { firstMessage: 'Hello.', variables: { ...buildRules().variables, values: {} } };
  const list = { ...buildRules().list, columns: ['id', 'phone'], phoneColumn: 'phone', idColumn: 'id' };
  const startsAt = api.at + 30 * dayMs;
  const begin = (name: string, rules: object, rows: ScenarioOptions['rows'] = 3) =>
    beginProven(store, {
      campaignId: `${id}-${name}`,
      rules: { startsAt, ...rules },
      rows,
      accountId: env['SVC_BASE_URL'] ?? '',
      now: api.at - hourMs,
    });
  await begin('open', { ...plain, list, startsAt: null, staysOpen: { expiresAfterMs: 2 * dayMs, newestFirst: false } }, []);
  await begin(
    'listed',
    { ...plain, list },
    buildRows(numbers(1), () => 'Guest').map((each) => ({ ...each, externalId: 'lead-1' })),
  );
  await begin('lost', {});
  await begin('yearly-2026', {});
  const doubtful = await begin(
    'doubt',
    { startsAt: null, sharedWords: 'unresolved' },
    buildRows(numbers(3), () => 'Guest'),
  );
  const dialled = api.at - hourMs;
  await doubtful.dial(1, dialled);
  const talk = { ...answered('conv_a', '', dialled + 5_000), calleeNumber: null, callResult: null, openingLine: 'Hello Guest' };
  await doubtful.sweep(dialled + minuteMs, [talk, { ...talk, conversationId: 'conv_b' }]);
  for (let minutes = 2; minutes <= 30; minutes += 2) await doubtful.sweep(dialled + minutes * minuteMs);
  await store.db.updateTable('campaigns').set({ state: 'completed' }).where('campaign_id', '=', doubtful.campaignId).execute();
  const formOf = (files: Record<string, string>) => {
    const form = new FormData();
    for (const [name, text] of Object.entries(files)) form.append(name, new Blob([text]), 'file.csv');
    return form;
  };
  const yaml = [`starts_at: '${new Date(startsAt).toISOString()}'`];
  const campaign = readFileSync(world.writeCampaign({ lines: [`${numbers(9)[7]},Ann`, '12,Ben'], yaml }), 'utf8');
  const times = { cron: '0 9 1 1 *', timezone: 'UTC' };
  const scheduled = `${id}-yearly`;
  const yearly = { campaign: campaign.replace(/^id: .*$/m, `id: ${scheduled}`), list: 'https://lists.example/a.csv', ...times };
  const webhook = async () => ({ webhook: (await listWebhooks(store.db))[0]?.webhookId });
  const of = (name: string, more = {}) => ({ campaign: `${id}-${name}`, ...more });
  const row = of('open', { row: 1 });
  const recurring = { campaign: scheduled };
  let worker: Awaited<ReturnType<typeof world.work>> | undefined;
  type Named = Record<string, unknown>;
  /** Each in the state that the previous ones leave. */
  const made: readonly [OperationId, (object | undefined)?, (Named | (() => Promise<Named>))?, number?][] = [
    ['createCampaign', formOf({ campaign, list: world.read('list.csv') }), {}, 201],
    ['fixRows', { rows: [{ row: 2, cells: { phone: numbers(9)[6] } }] }],
    ['recoverCampaign', undefined, of('lost'), 409],
    ['pauseCampaign'],
    ['resumeCampaign', undefined, async () => ((worker = await world.work()), {})],
    ['drainCampaign', undefined, {}, 409],
    ['cancelCampaign', undefined, of('lost'), 409],
    [
      'addRows',
      { rows: [1, 2].map((at) => ({ cells: { id: `lead-${at}`, phone: numbers(9)[at] } })) },
      async () => (worker?.signal('SIGKILL'), of('open')),
    ],
    ['updateList', formOf({ list: `id,phone\nlead-1,${numbers(9)[4]}\nlead-3,${numbers(9)[3]}\n` }), of('listed')],
    ['setCallback', { at: new Date(api.at + hourMs).toISOString() }, row],
    ['cancelCallback', undefined, row, 422],
    ['withdrawRows', { ids: ['lead-1'] }, of('open')],
    ['resolveRow', { decision: 'give_up' }, of('doubt', { row: 1 }), 409],
    ['resolveAll', { decision: 'give_up' }, of('doubt')],
    ['adjustCampaign', { maxConcurrentCalls: 7 }, of('open')],
    ['adjustAccountLimits', { maxConcurrentCalls: 5 }],
    ['setHouseRules', { rules: 'caps: [{ calls: 3, within: 7d }]' }],
    ['addSuppressions', { numbers: [number] }],
    ['importSuppressions', formOf({ numbers: `phone\n${numbers(9)[8]}\n` })],
    ['removeSuppressions', { numbers: [number] }],
    ['addWebhook', { url: 'env://CARILLON_URL_CRM' }, {}, 201],
    ['pauseWebhook', undefined, webhook],
    ['resumeWebhook', undefined, webhook],
    ['removeWebhook', undefined, webhook, 404],
    ['createToken', { name: 'crm', role: 'read' }, {}, 201],
    ['revokeToken', undefined, async () => ({ token: (await listTokens(store)).find(({ name }) => name === 'crm')?.tokenId })],
    ['createSchedule', yearly, {}, 409],
    ['editSchedule', { ...times, cron: '0 7 1 1 *' }, recurring],
    ['pauseSchedule', { note: 'no list' }, recurring],
    ['resumeSchedule', undefined, recurring],
    ['triggerSchedule', undefined, recurring, 409],
    [
      'continueSchedule',
      undefined,
      async () => {
        const { schedule_id: scheduleId } = await store.db.selectFrom('schedules').selectAll().executeTakeFirstOrThrow();
        await store.transaction((tx) =>
          appendEvents(tx, [
            { at: api.at, campaignId: scheduled, type: 'schedule.fired', data: { scheduleId, campaignId: `${scheduled}-2026` } },
          ] as never),
        );
        return recurring;
      },
    ],
    ['deleteSchedule', undefined, recurring, 404],
    ['retryRows', { outcomes: ['cancelled'] }, of('lost'), 409],
  ];
  // Each request makes another example.
  const changes = Object.entries(operations).flatMap(([name, { kind }]) => (kind === 'change' && name !== 'startExample' ? [name] : []));
  expect(made.map(([name]) => name).toSorted()).toEqual(changes.toSorted());
  const acted = async () => (await store.db.selectFrom('events').selectAll().where('type', '=', 'operator.acted').execute()).length;
  for (const [name, body, named = {}, status = 200] of made) {
    const params = { campaign: id, ...(typeof named === 'function' ? await named() : named) };
    const { route } = operations[name];
    const asked = `${route.split(' ')[0] as 'POST'} ${filledPath(route, params)}` as const;
    const request = { key: name, ...(body === undefined ? {} : { body }) };
    const [before, lines] = [await stateOf(api), await acted()];
    await sql`create trigger refuse before update on answers begin select raise(abort, 'the disk is full'); end`.execute(store.db);
    expect([name, (await api.ask(asked, request)).status, await acted()]).toEqual([name, 503, lines]);
    await sql`drop trigger refuse`.execute(store.db);
    // The worker ends these by itself.
    if (['drainCampaign', 'cancelCampaign'].includes(name))
      await until('it has ended', async () => hasEnded((await findCampaign(store.db, params.campaign)) ?? { state: 'draft' }));
    const once = await stateOf(api);
    api.at += minuteMs;
    if (!['recoverCampaign', 'continueSchedule'].includes(name)) expect([name, once]).not.toEqual([name, before]);
    expect([name, (await api.ask(asked, request)).status]).toEqual([name, status]);
    expect([name, await stateOf(api)]).toEqual([name, once]);
    expect([name, await acted()]).toEqual([name, lines + (status < 300 ? 1 : 0)]);
  }
  // Without ids a repeated row would be added twice, so none is added.
  const [held, lines] = [await stateOf(api), await acted()];
  const adds = `POST /campaigns/${id}-yearly-2026/rows` as const;
  const request = { key: 'no-ids', body: { rows: [{ cells: { phone: numbers(9)[5] } }] } };
  for (let times = 0; times < 2; times += 1)
    expect(await api.ask(adds, request)).toMatchObject(problem(409, 'edit_refused', 'no id column'));
  expect([await stateOf(api), await acted()]).toEqual([held, lines]);
});

/** Without stored answers, `operator.acted` and counters of reads. */
async function stateOf(api: ApiWorld): Promise<object> {
  const { db } = api.store;
  const { rows } = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(db);
  const tables = rows.filter(({ name }) => !/^(answers|callers|wishes|events|event_.*|sqlite_.*)$/.test(name));
  const read = async ({ name }: { name: string }) => [
    name,
    (await sql<object>`select * from ${sql.table(name)}`.execute(db)).rows.map((each) => ({
      ...each,
      hash: null,
      caller_proven: null,
      used_real: null,
    })),
  ];
  const events = await db.selectFrom('events').select(['type', 'data']).where('type', '!=', 'operator.acted').execute();
  // A repeated pause or resume is a new request, granted like the first.
  const wishes = await db.selectFrom('wishes').select(['campaign_id', 'change', 'granted']).distinct().execute();
  return { ...Object.fromEntries(await Promise.all(tables.map(read))), wishes, events, ...(await api.body('GET /schedules')) } as object;
}

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
    expect(await world.ask(add, { body })).toMatchObject(problem(422, 'usage'));
  // Revoked consent returns only by a newer one.
  const recall = { numbers: numbers(1), purpose: 'recall' };
  expect(await world.ask(add, { body: { ...recall, expiresAt: '2999-01-01T00:00:00Z' } })).toMatchObject({ status: 422 });
  for (const body of [recall, { ...recall, consentedAt: '2020-01-01T00:00:00Z' }])
    expect(await world.ask('POST /suppressions/remove', { body })).toMatchObject({ status: 422 });
  expect(await findEntries(store.db, numbers(1))).toHaveLength(1);
});

test('an entry of the do-not-call list is added, checked, listed and removed', async () => {
  const world = await ApiWorld.empty();
  const expiresAt = '2030-03-01T00:00:00Z';
  await world.ask(add, { role: 'operate', body: { numbers: ['(212) 555-0100', '+12125550101'], region: 'us', expiresAt } });
  const { body } = await world.ask('POST /suppressions/check', { role: 'read', body: { numbers: [number, '+12125550102'] } });
  expect(body.numbers).toMatchObject([{ e164: number, suppressed: true }, { suppressed: false, entries: [] }]); // prettier-ignore
  const page = await world.ask('GET /suppressions?limit=1', { role: 'operate' });
  expect(page.body).toMatchObject({
    suppressions: [{ e164: number, source: 'person:operate console', expiresAt: '2030-03-01T00:00:00.000Z' }],
  });
  const next = await world.ask(`GET /suppressions?limit=1&after=${encodeURIComponent(page.body.next)}`);
  expect(next.body.suppressions).toMatchObject([{ e164: '+12125550101' }]);
  const remove = 'POST /suppressions/remove';
  expect(await world.ask(remove, { body: { numbers: [number, '+12125550109'] } })).toMatchObject({ body: { removed: 1, unknown: 1 } });
  const late = await world.ask(add, { body: { numbers: [number], expiresAt: '2029-01-01T00:00:00Z' } });
  expect(late).toMatchObject(problem(422, 'usage'));
});

const spring = 'POST /campaigns/spring';

async function openWorld(options: ScenarioOptions = {}, settings: NodeJS.ProcessEnv = {}) {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store, { rules: { pacing: { batchSize: 2 } }, ...options });
  return { scenario, store, world: await ApiWorld.over(store, { settings }) };
}

test('a pause holds at once, without Temporal; what was decided about another round is refused with who changed the campaign last', async () => {
  const { world, store } = await openWorld();
  await world.ask(`${spring}/adjust`, { role: 'operate', body: { maxConcurrentCalls: 7 } });
  await store.db.updateTable('campaigns').set({ round: 2 }).where('campaign_id', '=', 'spring').execute();
  const detail = expect.stringMatching(/^Campaign spring is in round 2 now\. This was meant for round 1/) as string;
  const lastChange = { name: 'operate console', action: 'adjust', at: '2030-01-15T12:00:00.000Z' };
  for (const wish of ['pause', 'resume', 'drain', 'cancel']) {
    const refused = await world.ask(`${spring}/${wish}`, { body: { round: 1 } });
    expect(refused).toMatchObject({ status: 409, body: { code: 'wrong_state', detail, lastChange } });
  }
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ state: 'running' });
  const paused = await world.ask(`${spring}/pause`, { role: 'operate', body: { round: 2 } });
  expect(paused).toMatchObject({ status: 200, body: { state: 'paused', notice: expect.stringMatching(/no Temporal/) } });
  // A request that needs Temporal fails here, and may be repeated under its key.
  expect(await world.ask(`${spring}/resume`, { key: 'r1' })).toMatchObject({ status: 500 });
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ state: 'paused' });
  expect(await world.ask(`${spring}/retry`, { body: { outcomes: ['exhausted'] } })).toMatchObject({ status: 409 });
  expect(await world.ask(`${spring}/retry`, { body: { outcomes: ['completed'] } })).toMatchObject({ status: 400 });
  expect(await world.ask('POST /campaigns/sprung/pause')).toMatchObject(problem(404, 'unknown_campaign'));
});

test('limits, hours and retries are changed, after a look at what it does, and restored; what cannot be read is refused', async () => {
  const { world, store } = await openWorld();
  const adjust = (body: object) => world.ask(`${spring}/adjust`, { body });
  const faster = (await adjust({ maxConcurrentCalls: 7, startsPerMinute: 30 })).body;
  // Omitted settings stay as they are, unlike in a campaign file.
  expect(faster.limits).toEqual({ ...faster.file, maxConcurrentCalls: 7, startsPerMinute: 30 });
  const dry = await adjust({ hours: 'mon-fri 09:00-17:00', maxAttempts: '1', dryRun: true });
  expect(dry).toMatchObject({ status: 200, body: { effect: { openNow: { after: 0 }, neverOpen: 0, usedUp: 0 }, terms: { hours: 'any' } } });
  expect(dry.body.effect.openNow.before).toBe(dry.body.effect.waiting);
  expect(dry.body.effect.waiting).toBeGreaterThan(0);
  expect(await actsIn(store)).toEqual(['adjust']);
  const wish = { hours: 'sat 10:00-12:00, sat 14:00-16:00', maxAttempts: '2', no_answer: '2h, next_day', busy: 'never' };
  const changed = await adjust(wish);
  expect(changed).toMatchObject({ status: 200, body: { effect: null, terms: wish, fileTerms: { hours: 'any', maxAttempts: '3' } } });
  expect((await adjust(changed.body.terms)).body.terms).toEqual(changed.body.terms);
  for (const [name, text] of Object.entries({ hours: 'at night', maxAttempts: '0', busy: 'soon', maxConcurrentCalls: 0 }))
    expect(await adjust({ [name]: text })).toMatchObject(problem(400, 'invalid', name));
  expect(await adjust({})).toMatchObject(problem(400, 'invalid'));
  const { body } = await adjust({ reset: true });
  expect(body).toMatchObject({ limits: body.file, terms: { hours: 'any', maxAttempts: '3' } });
});

test('hours that the law never allows are refused, and nothing is changed', async () => {
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
  const hours = Object.fromEntries(days.map((day) => [day, [{ from: 480, to: 1260 }]]));
  const law = [{ id: 'night', country: 'US', region: null, from: null, until: null, caps: [], hours, closedOn: [], source: 'here' }];
  const { world, store } = await openWorld({ rules: { law } });
  const refused = await world.ask(`${spring}/adjust`, { body: { hours: '22:00-23:00' } });
  expect(refused).toMatchObject(problem(422, 'never_open', /could never be called/));
  expect((await findCampaign(store.db, 'spring'))?.rules.calendar.hours).toBeNull();
});

test('where the service gives calls back, a pause says what becomes of them, and rows are withdrawn with their open call', async () => {
  const { world, scenario, store } = await openWorld({ api: 'campaigns' }, { SVC_API: 'campaigns' });
  await scenario.dial(1);
  const withdrawn = await world.ask(`${spring}/withdraw`, { body: { rows: [1, 99] } });
  expect(withdrawn.body).toMatchObject({
    withdrawn: 0,
    left: [{ key: 1, row: 1, why: 'withdrawing' }, { key: 99, row: null, why: 'not_found' }],
  }); // prettier-ignore
  const pause = async (body: object) => (await world.body(`${spring}/pause`, { body })).queued;
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
  expect(await actsIn(store)).toEqual([]);
  const done = await world.ask(`${spring}/withdraw`, { body: { ...rows, reason: 'moved away' } });
  expect(done.body).toMatchObject({
    withdrawn: 1,
    left: [{ key: 1, row: 1, why: 'call_open' }, { key: 99, row: null, why: 'not_found' }],
  }); // prettier-ignore
  expect(await actsIn(store)).toEqual(['withdraw']);
  expect((await scenario.recipients()).flatMap(({ outcome, row_number: row }) => (outcome === null ? [] : [row]))).toEqual([3]);
  expect(await world.ask(`${spring}/withdraw`, { body: { ids: ['A1'] } })).toMatchObject(problem(409, 'edit_refused'));
  expect(await world.ask(`${spring}/withdraw`, { body: { ids: ['A1'], rows: [1] } })).toMatchObject({ status: 400 });
});
