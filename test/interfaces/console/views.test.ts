import { expect, test, onTestFinished } from 'vitest';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { pauseCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { buildRows } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginProven, noon } from '../../ledger/scenario.ts';
import { until } from '../../support/until.ts';
import { openTestStore } from '../../ledger/test-stores.ts';
import { apiKey, startPageSandbox } from '../../sandbox/page/window.ts';
import { ServiceClock } from '../../../src/sandbox/core/clock/clock.ts';
import type { Store } from '../../../src/ledger/tx.ts';
import { actsIn } from '../api/api-world.ts';
import { DraftWorld } from './draft-world.ts';
import { ConsoleWorld } from './console-world.ts';
import { readConfig } from '../../../src/shared/config.ts';
import { openTemporal } from '../../../src/operations/control/control.ts';
import { serve } from '../api/call-service.ts';
import { sharedTemporal } from '../../support/temporal-for-tests.ts';
import { putSchedule } from '../../../src/ledger/campaign/schedules.ts';
import { scheduleIdOf } from '../../../src/temporal/schedules.ts';
import { holds, told, locationOf } from '../../support/answers.ts';

async function openWorld({ going = 1, ended = 0 }) {
  const store = await openCleanStore('sqlite');
  for (let n = 1; n <= going + ended; n += 1) {
    const rows = buildRows([`+1202555${String(n).padStart(4, '0')}`], () => `Guest ${n}`);
    const campaignId = `list-${String(n).padStart(3, '0')}`;
    await beginProven(store, { campaignId, rows, now: noon + n, rules: { endsAt: noon + 90_000_000 } });
    if (n <= ended) await store.db.updateTable('campaigns').set({ state: 'completed' }).where('campaign_id', '=', campaignId).execute();
  }
  return { store, console: await ConsoleWorld.over(store) };
}

function listed(text: string): string[] {
  return [...text.matchAll(/id="campaign-(list-\d+)"/g)].map(([, id = '']) => id);
}

test('a campaign is listed with its progress, why it waits, its limit and what needs a person', async () => {
  const { store, console } = await openWorld({ going: 2 });
  await pauseCampaign(store, { campaignId: 'list-001', now: noon + 10 }, { reason: 'the key is refused' });
  const text = await until('its end is forecast', async () => {
    const answer = await console.get('/');
    return answer.text.includes('latest <time') && answer.text;
  });
  // Recipients wanted next come first.
  expect(listed(text)).toEqual(['list-001', 'list-002']);
  holds(
    text,
    [
      /id="campaign-list-001"[\s\S]* Stopped by itself<[\s\S]*Paused: the key is refused<[\s\S]*0 of 1 people done, 0 being called, 1 waiting/,
      /href="\/campaigns\/list-001">[\s\S]{0,200} 1 problem</,
      /When resumed<[\s\S]*limit <time[^>]*>2030-01-16 13:00 UTC/,
    ],
    ['style='],
  );
});

test('where there are many, those that have ended are a click away, and no page has more than 25', async () => {
  const { console } = await openWorld({ going: 3, ended: 30 });
  const first = await console.get('/');
  expect(listed(first.text)).toEqual(['list-033', 'list-032', 'list-031']);
  expect(first.text).toMatch(/Ended\s*<span class="n">30</);
  const ended = await console.get('/?show=ended');
  expect(listed(ended.text)).toHaveLength(25);
  expect(ended.text).toContain('Page 1 of 2');
  const last = await console.get('/?show=ended&page=2');
  expect(listed(last.text)).toEqual(['list-005', 'list-004', 'list-003', 'list-002', 'list-001']);
  for (const query of ['page=99', 'page=-1', 'page=x', 'show=nothing'])
    expect(await console.get(`/?${query}`)).toMatchObject({ status: 200 });
});

test('a console without a campaign says what to do next, and tells who may only look who can', async () => {
  const console = await ConsoleWorld.empty();
  const { text } = await console.get('/');
  expect(text).toMatch(/No campaigns yet[\s\S]*carillon demo[\s\S]*href="\/new"/);
  expect(text).not.toContain('Run the example');
  expect(await console.post('/example', { key: 'k1' })).toMatchObject(told(409, 'has no sandbox'));
  const reader = await console.text('/', 'read');
  holds(reader, [], ['href="/new"', '/example']);
});

test('an address at which nothing is answers a page to a browser, and JSON to a program', async () => {
  const console = await ConsoleWorld.empty();
  const accept = 'text/html';
  expect(await console.get('/nonexistent', 'read', { accept })).toMatchObject(told(404, 'There is no page at this address.'));
  for (const [path, headers] of [
    ['/nonexistent', {}],
    ['/api/v1/nonexistent', { accept }],
  ] as const) {
    const answer = await console.get(path, 'read', headers);
    expect(answer).toMatchObject(told(404, '"code":"not_found"'));
    expect(answer.headers['content-type']).toMatch(/problem\+json/);
  }
});

async function openDev(): Promise<ConsoleWorld> {
  const sandbox = await startPageSandbox({ clock: new ServiceClock({ speed: 1, epochMs: noon }) });
  const store = await openTestStore('sqlite');
  const service = { SVC_BASE_URL: sandbox.url, SVC_API_KEY: apiKey, CARILLON_QUEUE_PREFIX: `dev-${store.ledgerId}` };
  const console = await openConnected(store, service);
  console.api.context.quickenSandbox = () => {};
  return console;
}

test('the example runs beside a draft, and beside a second database that has it at the same Temporal', async () => {
  expect(locationOf(await (await openDev()).submit('/example'))).toBe('/campaigns/example');
  const console = await openDev();
  const draft = await new DraftWorld(console).begin();
  holds(await console.text('/'), [`href="${draft}"`, /href="\/example"[^>]*>[^<]*Try the example/]);
  const begun = await console.submit('/example');
  expect(locationOf(begun)).toBe('/campaigns/example-2');
  expect(decodeURIComponent(String(begun.headers['set-cookie']))).toContain('The example runs in the sandbox');
  expect(await console.text('/new')).toContain('Try the example');
});

const path = 'recover';

/** Temporal does not know it; calls are open, and the service has these conversations. */
async function openLost(conversations: () => object[]) {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store, { rules: { pacing: { batchSize: 2 } } });
  await scenario.dial(1);
  const service = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ conversations: conversations() }));
  });
  await store.db.updateTable('campaigns').set({ account_id: service.url }).execute();
  return openConnected(store, { SVC_BASE_URL: service.url, SVC_API_KEY: 'sk_of_this_test' });
}

async function openConnected(store: Store, service: NodeJS.ProcessEnv): Promise<ConsoleWorld> {
  const { address, namespace } = await sharedTemporal();
  const settings = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, ...service };
  return ConsoleWorld.over(store, settings, (limitMs) => openTemporal({}, readConfig(settings), limitMs));
}

test('a campaign that Temporal has lost is recovered from the page, which says before in numbers what goes on', async () => {
  // Two may belong to the open calls; the third is foreign.
  let conversations: object[] = ['conv_1', 'conv_2', 'conv_of_nobody'].map((id, index) => ({
    conversation_id: id,
    metadata: { start_time: new Date(noon + (30 + index) * 1_000).toISOString() },
  }));
  const console = await openLost(() => conversations);
  const form = await console.get(path);
  expect(form.status).toBe(200);
  holds(form.text, [/Waiting rows<\/dt>\s*<dd><span class="num">4</, /Open calls<\/dt>\s*<dd><span class="num">2</]);
  const unknown = await console.submit(path);
  expect(unknown).toMatchObject(told(409, 'conv_of_nobody'));
  expect(unknown.text).toContain('class="act"');
  conversations = [];
  expect(locationOf(await console.submit(path))).toBe('/campaigns/spring');
  expect(await actsIn(console.store)).toEqual(['recover']);
  const again = await console.get(path);
  expect(again).toMatchObject(told(409, 'Temporal runs this campaign'));
  expect(again.text).not.toContain('class="act"');
});

test('a campaign that has ended or was not started is not offered to be recovered, nor while Temporal is silent', async () => {
  const store = await openCleanStore('sqlite');
  await beginProven(store);
  const console = await ConsoleWorld.over(store);
  const silent = await console.get(path);
  expect(silent).toMatchObject(told(503, 'this test has no Temporal'));
  expect(silent.text).not.toContain('class="act"');
  await store.db.updateTable('campaigns').set({ state: 'completed' }).execute();
  expect(await console.get(path)).toMatchObject(told(409, 'It is completed'));
  await store.db.updateTable('campaigns').set({ state: 'draft', round: 0 }).execute();
  expect(await console.get(path)).toMatchObject(told(409, 'It was not started yet'));
});

async function openScheduled() {
  const store = await openCleanStore('sqlite');
  await putSchedule(store, {
    scheduleId: scheduleIdOf(readConfig({}).CARILLON_QUEUE_PREFIX, 'reminders'),
    campaignId: 'reminders',
    filePath: '/srv/reminders.yaml',
    content: '',
    listSource: 'lists/{{ date }}.csv',
    accountId: 'http://127.0.0.1:9',
    createdAt: noon,
  });
  return store;
}

async function startMuteServer(): Promise<string> {
  const server = createServer();
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('without Temporal the page names the schedules, says that it does not answer, and offers no change', async () => {
  const console = await ConsoleWorld.over(await openScheduled());
  const { status, text } = await console.get('/schedules');
  expect(status).toBe(200);
  holds(text, ['Temporal does not answer.', 'reminders'], ['/schedules/reminders/']);
  const form = await console.get('/schedules/reminders/pause');
  expect(form).toMatchObject(told(503, 'Temporal does not answer.'));
  expect(form.text).not.toContain('class="act"');
  expect(await console.get('/schedules/reminder/pause')).toMatchObject({ status: 404 });
});

test('a Temporal that takes connections and says nothing is waited for no longer than 3 s', async () => {
  const address = await startMuteServer();
  const config = readConfig({ TEMPORAL_ADDRESS: address });
  const limits: (number | undefined)[] = [];
  const console = await ConsoleWorld.over(await openScheduled(), {}, (limitMs) => {
    limits.push(limitMs);
    return openTemporal({}, config, limitMs);
  });
  const { status, text } = await console.get('/schedules');
  for (const limitMs of limits) expect(limitMs).toBeLessThanOrEqual(3_000);
  expect(limits).not.toEqual([]);
  expect(status).toBe(200);
  expect(text).toContain(`Temporal at ${address} cannot be used`);
});

test('a database without schedules says how one is made, and asks no Temporal', async () => {
  const console = await ConsoleWorld.empty();
  holds(
    await console.text('/schedules', 'read'),
    ['carillon schedule create', /<a href="\/schedules" aria-current="page">[\s\S]{0,90} Schedules/],
    ['role="alert"'],
  );
});

test('whoever leaves a download in the middle ends the reading of it', async () => {
  const { console } = await openWorld({ going: 1 });
  const { app, context } = console.api;
  let [pieces, ended] = [0, false];
  context.aside.stream = async function* endless() {
    try {
      for (;;) {
        pieces += 1;
        yield 'x'.repeat(16_384);
      }
    } finally {
      ended = true;
    }
  } as typeof context.aside.stream;
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  const asked = { agent: false, headers: { cookie: await console.api.cookie('operate') } };
  const answer = await new Promise<IncomingMessage>((answered) => get(`${origin}/campaigns/list-001/results.csv`, asked, answered));
  expect(answer).toMatchObject({ statusCode: 200, headers: { 'content-type': expect.stringContaining('text/csv') } });
  await once(answer, 'data');
  answer.destroy();
  await until('the file is read no further', () => ended);
  expect(pieces).toBeLessThan(1_000);
});
