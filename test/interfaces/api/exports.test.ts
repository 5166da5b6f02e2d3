import { expect, test } from 'vitest';
import { appendEvents } from '../../../src/ledger/events.ts';
import { withInstants } from '../../../src/shared/input/times.ts';
import { readCampaignReport } from '../../../src/ledger/read/campaign-report.ts';
import { minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { answered, beginProven, noon, numbers } from '../../ledger/scenario.ts';
import { ApiWorld } from './api-world.ts';
import { readEventStream } from './event-reader.ts';

async function openWorld() {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store);
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [answered('conv_1', numbers(1)[0] ?? '', noon + 5_000)]);
  return { world: await ApiWorld.over(store), scenario };
}

test('results are files in three formats, and the report is that of the command line', async () => {
  const { world, scenario } = await openWorld();
  const csv = await world.ask('GET /api/v1/campaigns/spring/results.csv', { role: 'operate' });
  expect(csv.headers['content-disposition']).toBe('attachment; filename="spring-results.csv"');
  expect(String(csv.body).split(/\r?\n/)[1]).toContain('completed');
  const done = await world.ask('GET /api/v1/campaigns/spring/results.jsonl?outcome=completed', { role: 'operate' });
  expect(String(done.body).trim().split('\n')).toHaveLength(1);
  const sheet = await world.ask('GET /api/v1/campaigns/spring/results.xlsx', { role: 'operate' });
  expect(String(sheet.body).slice(0, 2)).toBe('PK');
  expect(await world.ask('GET /api/v1/campaigns/spring/results.pdf', { role: 'operate' })).toMatchObject({
    status: 400,
  });
  expect(await world.ask('GET /api/v1/campaigns/spring/results.csv', { role: 'read' })).toMatchObject({ status: 403 });
  const report = await world.ask('GET /api/v1/campaigns/spring/report', { role: 'read' });
  expect(report.body).toEqual(withInstants(await readCampaignReport(scenario.store, await scenario.campaign(), world.at)));
  expect(report.body).toMatchObject({ funnel: { called: 6 }, firstCallAt: '2030-01-15T12:00:00.000Z', cost: null });
});

test('the cells of a list are as they were read for programs, and run in no spreadsheet where that is asked for', async () => {
  const { world } = await openWorld();
  const cells = JSON.stringify(['=HYPERLINK("http://attacker.example")', '+12125550131', 'Zoë']);
  await world.store.db.updateTable('recipients').set({ cells }).where('row_number', '=', 1).execute();
  const results = async (query: string) => world.ask(`GET /api/v1/campaigns/spring/results${query}`);
  const firstRow = async (query: string) => String((await results(query)).body).split('\n')[1] ?? '';
  expect(await firstRow('.csv')).toMatch(/^"=HYPERLINK/);
  expect(await firstRow('.csv?safe_cells=true')).toMatch(/^"'=HYPERLINK/);
  expect(String((await results('.csv?bom=true')).body)).toMatch(/^\uFEFF/);
  for (const query of ['.xlsx?safe_cells=true', '.jsonl?bom=true'])
    expect(await results(query)).toMatchObject({ status: 422, body: { code: 'csv_only' } });

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
  const { body } = await world.ask('GET /api/v1/events?campaign=spring', { role: 'read' });
  expect(body.events[0]).toMatchObject({
    type: 'campaign.imported',
    campaignId: 'spring',
    at: '2030-01-15T12:00:00.000Z',
  });
  expect(body.events[0]).not.toHaveProperty('data');
  expect(JSON.stringify(body)).not.toContain(numbers(1)[0]);
  const after = await world.ask(`GET /api/v1/events?after=${body.cursor}`);
  expect(after.body).toEqual({ events: [], cursor: body.cursor });

  const address = await world.app.listen({ port: 0, host: '127.0.0.1' });
  const follow = (headers: Record<string, string>) =>
    readEventStream(`${address}/api/v1/events/stream`, {
      authorization: `Bearer ${world.tokenText('read')}`,
      ...headers,
    });
  const live = await follow({});
  expect(live.response.headers['content-type']).toBe('text/event-stream');
  await expect.poll(() => live.text()).toMatch(/^id: \d+\n\n/);
  await world.store.transaction((tx) => appendEvents(tx, [{ at: noon, campaignId: 'spring', type: 'round.ended', data: { round: 1 } }]));
  await expect.poll(() => live.text()).toMatch(/id: \d+\nevent: round\.ended\ndata: {/);
  live.end();
  const again = await follow({ 'last-event-id': String(body.cursor) });
  await expect.poll(() => again.text()).toContain('event: round.ended');
  expect(again.text().match(/^event:/gm)).toHaveLength(1);
  const whole = await follow({ 'last-event-id': '0' });
  await expect.poll(() => whole.text()).toContain('event: round.ended');
  expect(whole.text()).toContain('event: campaign.imported');
  // Streams that are open do not keep it from closing.
  await world.app.close();
});
