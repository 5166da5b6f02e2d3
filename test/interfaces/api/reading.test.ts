import { expect, test } from 'vitest';
import { createToken, revokeToken } from '../../../src/ledger/console/tokens.ts';
import { readMarks, appendEvents } from '../../../src/ledger/events.ts';
import { buildRows, minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { answered, beginProven, noon, numbers } from '../../ledger/scenario.ts';
import { dialects } from '../../ledger/test-stores.ts';
import { ConsoleWorld } from '../console/console-world.ts';
import { actsIn, ApiWorld } from './api-world.ts';
import { addSuppressions } from '../../../src/ledger/rows/suppressions.ts';
import { withInstants } from '../../../src/shared/input/times.ts';
import { readCampaignReport } from '../../../src/ledger/read/campaign-report.ts';
import { readEventStream } from './event-reader.ts';
import { problem } from '../../support/answers.ts';

async function openWorld(dialect: 'sqlite' | 'postgres' = 'sqlite') {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store);
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [answered('conv_1', numbers(1)[0] ?? '', noon + 5_000)]);
  const world = await ApiWorld.over(store);
  world.at = noon + 2 * minuteMs;
  return { world, scenario };
}

test.for(dialects)('campaigns, waiting rows, funnel and course are read: %s', async (dialect) => {
  const { world } = await openWorld(dialect);
  const [listed] = (await world.body('GET /campaigns', { role: 'read' })).campaigns;
  expect(listed).toMatchObject({ campaignId: 'spring', state: 'running', total: 6, done: 1, open: 5, needs: 0 });
  const one = await world.body('GET /campaigns/spring', { role: 'read' });
  expect(one).toMatchObject({ campaignId: 'spring', createdAt: '2030-01-15T12:00:00.000Z', outcomes: { completed: 1 }, needs: [] });
  const callers = [{ phoneNumberId: 'pn_main', state: 'in', calls: 6 }];
  expect(one).toMatchObject({ dispositions: { answered: 1 }, standstill: { reason: 'collecting' }, callers });
  expect(one.why).toMatch(/^this test has no Temporal, since /);
  expect(listed.why).toBe(one.why);
  const funnel = { listed: 6, usable: 6, called: 6, answered: 1, completed: 1, notCalled: {} };
  expect(await world.body('GET /campaigns/spring/funnel')).toEqual(funnel);
  const { points } = await world.body('GET /campaigns/spring/course');
  expect(points[0]).toMatchObject({ at: '2030-01-15T12:00:00.000Z', starts: 6 });
  expect(await world.body('GET /campaigns/spring/waiting')).toEqual({ waiting: [] });
});

test('a campaign tells through which interface it calls, as the description of the API has it; the page only where it is another', async () => {
  const { world } = await openWorld();
  const page = await ConsoleWorld.over(world.store);
  const shown = async () => {
    const apis = [(await world.body('GET /campaigns')).campaigns[0].api, (await world.body('GET /campaigns/spring')).api];
    return [...apis, /Calls through [\w-]+/.exec(await page.text('/campaigns/spring'))?.[0]];
  };
  expect(await shown()).toEqual(['contract', 'contract', undefined]);
  await world.store.db.updateTable('campaigns').set({ api: 'batch-calling' }).execute();
  expect(await shown()).toEqual(['batch-calling', 'batch-calling', 'Calls through batch-calling']);
  const { CampaignSummary, Campaign } = (await world.body('GET /openapi.json')).components.schemas;
  for (const { properties } of [CampaignSummary, Campaign])
    expect(properties.api).toMatchObject({ enum: ['contract', 'batch-calling', 'campaigns'] });
});

test('numbers are masked until somebody who may asks for them, and the log says who did', async () => {
  const { world } = await openWorld();
  const masked = await world.ask('GET /campaigns/spring/rows?limit=2', { role: 'read' });
  expect(masked.body.rows.map(({ e164 }: { e164: string }) => e164)).toEqual(['+1••••••••42', '+1••••••••42']);
  expect(masked.body.next).toBe(2);
  expect(JSON.stringify(masked.body)).not.toContain(numbers(1)[0]);
  const refused = await world.ask('GET /campaigns/spring/rows?numbers=shown', { role: 'read' });
  expect(refused).toMatchObject(problem(403, 'role'));
  const shown = await world.ask('GET /campaigns/spring/rows?numbers=shown&outcome=completed', { role: 'operate' });
  expect(shown.body.rows).toMatchObject([{ row: 1, e164: numbers(1)[0], attempts: 1, disposition: 'answered' }]);
  const acted = (await readMarks(world.store.db, 'spring')).filter(({ type }) => type === 'operator.acted');
  expect(acted).toMatchObject([{ data: { name: 'operate console', action: 'numbers_shown' } }]);
});

test('a row shows what its list says of where, when and in which order it is called, as the description of the API has it', async () => {
  const store = await openCleanStore('sqlite');
  const own = {
    notBefore: noon,
    expiresAt: noon + minuteMs,
    priority: 7,
    hours: 'Mon-Fri 18:00-20:00',
    personKey: 'p-4711',
    consentedAt: noon - minuteMs,
  };
  const rows = buildRows(numbers(2), (index) => `Guest ${index}`).map((row, index) => (index === 0 ? { ...row, ...own } : row));
  await beginProven(store, { rows });
  const world = await ApiWorld.over(store);
  const { body } = await world.ask('GET /campaigns/spring/rows', { role: 'read' });
  const place = { zones: ['America/New_York'], country: 'US', regions: ['NY'] };
  expect(body.rows.map(({ terms }: { terms: object }) => terms)).toEqual([
    {
      ...place,
      ...own,
      notBefore: '2030-01-15T12:00:00.000Z',
      expiresAt: '2030-01-15T12:01:00.000Z',
      consentedAt: '2030-01-15T11:59:00.000Z',
    },
    { ...place, notBefore: null, expiresAt: null, priority: null, hours: null, personKey: null, consentedAt: null },
  ]);
  const described = (await world.body('GET /openapi.json')).components.schemas.RowTerms.properties;
  expect(Object.keys(described)).toEqual(Object.keys(body.rows[0].terms));
});

test('a request without a token, or with one that does not hold, is refused before anything is read', async () => {
  const { world } = await openWorld();
  const ask = (token: string | null) => world.ask('GET /campaigns', { token });
  const none = await ask(null);
  expect(none).toMatchObject({ status: 401, body: { code: 'token_missing', status: 401, type: 'about:blank' } });
  expect(none.headers).toMatchObject({
    'content-type': expect.stringMatching(/^application\/problem\+json/),
    'www-authenticate': 'Bearer',
  });
  expect(await ask('carillon_000000000000_wrong')).toMatchObject(problem(401, 'token_refused'));
  const { text, token } = await createToken(world.store, { name: 'door', role: 'read', lastsMs: minuteMs, nowReal: world.at });
  expect((await ask(text)).status).toBe(200);
  expect((await ask(`${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}`)).status).toBe(401);
  world.at += minuteMs;
  expect((await ask(text)).status).toBe(401);
  world.at -= minuteMs;
  await revokeToken(world.store, token.tokenId, world.at);
  expect((await ask(text)).status).toBe(401);
});

test('what is not there, and a parameter that is none or cannot be used, are refused with what to send', async () => {
  const { world } = await openWorld();
  for (const [request, status, code, says] of [
    ['GET /campaigns/sprung', 404, 'unknown_campaign', /Did you mean spring/],
    ['GET /campaign', 404, 'not_found', /openapi\.json/],
    ['GET /campaigns/spring/rows?limit=0', 400, 'invalid', /limit/],
    ['GET /campaigns/spring/rows?outcome=won', 400, 'invalid', /outcome/],
    ['GET /campaigns/spring/rows?limt=5', 400, 'invalid', /no parameter "limt" here\. Did you mean "limit"\?/],
    ['GET /campaigns?state=running', 400, 'invalid', /no parameter "state" here/],
    ['POST /campaigns/spring/pause?why=lunch', 400, 'invalid', /no parameter "why" here/],
  ] as const)
    expect([request, await world.ask(request)]).toMatchObject([request, problem(status, code, says)]);
  for (const id of ['-1', '1.5', 'x', '9'.repeat(16)]) {
    const refused = await world.ask('GET /events/stream', { role: 'read', headers: { 'last-event-id': id } });
    expect(refused).toMatchObject(problem(400, 'invalid', /last-event-id: this is the id of no event: send the last one/));
  }
});

test('the story of a row tells each decision in order, and what comes next and why', async () => {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store);
  const [one = ''] = numbers(1);
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [
    { ...answered('conv_1', one, noon + 5_000), callResult: 'busy', userTurns: 0, agentTurns: 0, collected: null },
  ]);
  const world = await ApiWorld.over(store);
  world.at = noon + 2 * minuteMs;
  const story = await world.ask('GET /campaigns/spring/rows/1/story', { role: 'read' });
  expect(story.body.story.map(({ text }: { text: string }) => text)).toEqual([
    'call 1 planned',
    'call 1 requested from the service',
    expect.stringMatching(/^call 1 is conversation conv_1 \(by /),
    expect.stringMatching(/^call 1 ended: busy/),
  ]);
  const calls = [{ number: 1, disposition: 'busy', conversationId: 'conv_1' }];
  expect(story.body.rows).toMatchObject([{ campaignId: 'spring', row: 1, state: 'waiting', calls }]);
  expect(story.body.rows[0].next).toMatch(/^It may be called at .*: /);
  expect(JSON.stringify(story.body)).not.toContain(one);
  const shown = await world.ask('GET /campaigns/spring/rows/1/story?numbers=shown', { role: 'operate' });
  expect(shown.body.e164).toBe(one);

  const entry = { e164: one, scope: 'account', source: 'person', reason: null, expiresAt: null };
  await addSuppressions(store, [entry], world.at);
  const stopped = await world.ask('GET /campaigns/spring/rows/1/story');
  expect(stopped.body).toMatchObject({
    suppressed: true,
    rows: [{ next: 'It will not be called: the number is on the do-not-call list.' }],
  });
  expect(await world.ask('GET /campaigns/spring/rows/99/story')).toMatchObject(problem(404, 'unknown_row'));
});

test('results are files in three formats, and the report is that of the command line', async () => {
  const { world, scenario } = await openWorld();
  const csv = await world.ask('GET /campaigns/spring/results.csv', { role: 'operate' });
  expect(csv.headers['content-disposition']).toBe('attachment; filename="spring-results.csv"');
  expect(String(csv.body).split(/\r?\n/)[1]).toContain('completed');
  const done = await world.ask('GET /campaigns/spring/results.jsonl?outcome=completed', { role: 'operate' });
  expect(String(done.body).trim().split('\n')).toHaveLength(1);
  const sheet = await world.ask('GET /campaigns/spring/results.xlsx', { role: 'operate' });
  expect(String(sheet.body).slice(0, 2)).toBe('PK');
  expect(await world.ask('GET /campaigns/spring/results.pdf', { role: 'operate' })).toMatchObject({ status: 400 });
  expect(await world.ask('GET /campaigns/spring/results.csv', { role: 'read' })).toMatchObject({ status: 403 });
  // Result files contain unmasked numbers.
  expect(new Set(await actsIn(world.store))).toEqual(new Set(['numbers_shown']));
  const report = await world.ask('GET /campaigns/spring/report', { role: 'read' });
  expect(report.body).toEqual(withInstants(await readCampaignReport(scenario.store, await scenario.campaign(), world.at)));
  expect(report.body).toMatchObject({ funnel: { called: 6 }, firstCallAt: '2030-01-15T12:00:00.000Z', cost: null });
});

test('the cells of a list are as they were read for programs, and run in no spreadsheet where that is asked for', async () => {
  const { world } = await openWorld();
  const cells = JSON.stringify(['=HYPERLINK("http://attacker.example")', '+12125550131', 'Zoë']);
  await world.store.db.updateTable('recipients').set({ cells }).where('row_number', '=', 1).execute();
  const results = async (query: string) => world.ask(`GET /campaigns/spring/results${query}`);
  const firstRow = async (query: string) => String((await results(query)).body).split('\n')[1] ?? '';
  expect(await firstRow('.csv')).toMatch(/^"=HYPERLINK/);
  expect(await firstRow('.csv?safe_cells=true')).toMatch(/^"'=HYPERLINK/);
  expect(String((await results('.csv?bom=true')).body)).toMatch(/^\uFEFF/);
  for (const query of ['.xlsx?safe_cells=true', '.jsonl?bom=true'])
    expect(await results(query)).toMatchObject(problem(422, 'csv_only'));

  const { app } = world;
  const cookie = await world.cookie('operate');
  const page = async (path: string) => (await app.inject({ url: `/campaigns/spring/${path}`, headers: { cookie } })).body;
  for (const path of ['results.csv', 'results.csv?outcome=completed'])
    expect(await page(path)).toMatch(/^\uFEFF.*\n"'=HYPERLINK/);
  expect(await page('results.csv?safe_cells=false')).toMatch(/^[^\uFEFF].*\n"=HYPERLINK/);
  expect((await page('results.xlsx?safe_cells=false')).slice(0, 2)).toBe('PK');
  expect(await page('results')).toContain('name="safe_cells" value="false"');
}); // prettier-ignore

test('events are read from a cursor on, and followed as they are added', async () => {
  const { world } = await openWorld();
  const { body } = await world.ask('GET /events?campaign=spring', { role: 'read' });
  expect(body.events[0]).toMatchObject({ type: 'campaign.imported', campaignId: 'spring', at: '2030-01-15T12:00:00.000Z' });
  expect(body.events[0]).not.toHaveProperty('data');
  expect(JSON.stringify(body)).not.toContain(numbers(1)[0]);
  const after = await world.ask(`GET /events?after=${body.cursor}`);
  expect(after.body).toEqual({ events: [], cursor: body.cursor });

  const address = await world.app.listen({ port: 0, host: '127.0.0.1' });
  const authorization = `Bearer ${world.tokenText('read')}`;
  const follow = (more: object) => readEventStream(`${address}/api/v1/events/stream`, { authorization, ...more });
  const live = await follow({});
  expect(live.response.headers['content-type']).toBe('text/event-stream');
  await expect.poll(() => live.text()).toMatch(/^id: \d+\n\n/);
  await world.store.transaction((tx) => appendEvents(tx, [{ at: noon, campaignId: 'spring', type: 'round.ended', data: { round: 1 } }]));
  await expect.poll(() => live.text()).toMatch(/id: \d+\nevent: round\.ended\ndata: {/);
  live.end();
  const again = await follow({ 'last-event-id': String(body.cursor) });
  await expect.poll(() => again.text()).toContain('event: round.ended');
  expect(again.text().match(/^event:/gm)).toHaveLength(1);
  // Open streams do not keep it from closing.
  await world.app.close();
});
