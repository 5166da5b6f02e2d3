import { expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openTemporal } from '../../src/control/temporal.ts';
import { readMarks } from '../../src/ledger/events.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { createWorld } from '../cli/campaign-world.ts';
import { DeskWorld } from '../desk/desk-world.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { ApiWorld } from './api-world.ts';

/** Far enough away that nothing fires by itself while a test runs. */
const yearly = ['--cron', '0 9 1 1 *', '--timezone', 'America/New_York'];

/** A schedule in Temporal, and the page and API over its database. */
async function openWorld() {
  const world = await createWorld();
  expect(await world.run('schedule', 'create', world.writeCampaign({}), ...yearly)).toMatchObject({ code: 0 });
  const store = await openStore({ sqlitePath: world.path('carillon.db') });
  const config = readConfig(world.env);
  const desk = await DeskWorld.over(store, world.env, (limitMs) => openTemporal(world.env, config, limitMs));
  return { id: world.id, api: desk.api, desk, store };
}

test('a schedule is read, paused, resumed and deleted, each change once and in the log', async () => {
  const { id, api, store } = await openWorld();
  const path = `/api/v1/schedules/${id}`;
  const { body } = await api.ask('GET /api/v1/schedules', { role: 'read' });
  expect(body.schedules).toMatchObject([
    {
      campaignId: id,
      state: 'active',
      when: '0 9 1 1 *',
      timeZone: 'America/New_York',
      list: 'list.csv',
      note: null,
      last: null,
    },
  ]);
  expect(body.schedules[0].nextAt[0]).toMatch(/-01-01T14:00:00\.000Z$/);
  expect(await api.ask(`POST ${path}/pause`, { role: 'read' })).toMatchObject({ status: 403 });
  const pause = { role: 'operate', key: 'p1', body: { note: 'no list this week' } } as const;
  const paused = { status: 200, body: { state: 'paused', note: 'no list this week', nextAt: [], wasPaused: false } };
  expect(await api.ask(`POST ${path}/pause`, pause)).toMatchObject(paused);
  // The key answers again, also after the schedule has moved on.
  expect(await api.ask(`POST ${path}/resume`)).toMatchObject({ body: { state: 'active', wasPaused: true } });
  expect(await api.ask(`POST ${path}/pause`, pause)).toMatchObject(paused);
  expect(await api.ask(`GET ${path}`)).toMatchObject({ body: { state: 'active' } });
  expect(await api.ask(`DELETE ${path}`, { role: 'operate' })).toMatchObject({ status: 200, body: { campaignId: id } });
  expect(await api.ask(`GET ${path}`)).toMatchObject({ status: 404, body: { code: 'unknown_schedule' } });
  expect(await api.ask(`DELETE ${path}`)).toMatchObject({ status: 404 });
  const acted = (await readMarks(store.db, id)).filter(({ type }) => type === 'operator.acted');
  const actions = acted.map(({ data }) => (data as { action: string }).action);
  expect(actions).toEqual(['schedule_paused', 'schedule_resumed', 'schedule_deleted']);
});

test('the page pauses, resumes and deletes a schedule, and shows each at once', async () => {
  const { id, desk } = await openWorld();
  const own = `/schedules/${id}`;
  const { text } = await desk.get('/schedules');
  expect(text).toContain('0 9 1 1 *');
  expect(text.match(/-01-01 14:00:00 UTC/g)).toHaveLength(3);
  expect((await desk.get('/schedules', 'read')).text).not.toContain(`${own}/pause`);
  expect(await desk.post(`${own}/delete`, { key: 'k1' }, 'read')).toMatchObject({ status: 403 });
  expect(await desk.submit(`${own}/pause`, { note: '<b>no list' })).toMatchObject({ status: 303 });
  expect((await desk.get('/schedules')).text).toContain('&lt;b&gt;no list');
  expect(await desk.get(`${own}/pause`)).toMatchObject({ status: 409, text: expect.stringContaining('it is paused') });
  expect(await desk.submit(`${own}/resume`)).toMatchObject({ status: 303 });
  expect((await desk.get('/schedules')).text).toContain(`${own}/pause`);
  expect(await desk.submit(`${own}/delete`)).toMatchObject({ status: 303, headers: { location: '/schedules' } });
  expect((await desk.get('/schedules')).text).toContain('No campaign recurs');
});

test('while Temporal cannot be reached, reading and changing schedules are refused with its address', async () => {
  const api = await ApiWorld.over(await openCleanStore('sqlite'), {
    connect: (limitMs) =>
      openTemporal({}, readConfig({ TEMPORAL_ADDRESS: '127.0.0.1:9' }), Math.min(limitMs ?? 300, 300)),
  });
  const detail = expect.stringContaining('127.0.0.1:9') as string;
  const refused = { status: 503, body: { code: 'temporal_unreachable', detail } };
  expect(await api.ask('GET /api/v1/schedules')).toMatchObject(refused);
  expect(await api.ask('POST /api/v1/schedules/spring/pause')).toMatchObject(refused);
});
