import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readConfig } from '../../../src/shared/config.ts';
import { openTemporal } from '../../../src/operations/control/control.ts';
import { verifyLog } from '../../../src/verify/log.ts';
import { openStore } from '../../../src/ledger/open-ledger.ts';
import { createWorld } from '../cli/campaign-world.ts';
import { ConsoleWorld, hiddenFields } from '../console/console-world.ts';
import { actsIn, ApiWorld } from './api-world.ts';
import { holds, problem, told, locationOf } from '../../support/answers.ts';

/** Never fires during a test. */
const yearly = ['--cron', '0 9 1 1 *', '--timezone', 'America/New_York'];

async function openWorld() {
  const world = await createWorld();
  expect(await world.run('schedule', 'create', world.writeCampaign({}), ...yearly)).toMatchObject({ code: 0 });
  return openOver(world);
}

async function openUnscheduled() {
  const world = await createWorld();
  const campaign = readFileSync(world.writeCampaign({}), 'utf8');
  const list = 'https://lists.example/{{ date }}.csv?key=secret';
  const wish = { campaign, list, cron: '0 9 1 1 *', timezone: 'America/New_York' };
  return { ...(await openOver(world)), wish };
}

async function openOver(world: Awaited<ReturnType<typeof createWorld>>) {
  const store = await openStore({ sqlitePath: world.path('carillon.db') });
  const config = readConfig(world.env);
  const console = await ConsoleWorld.over(store, world.env, (limitMs) => openTemporal(world.env, config, limitMs));
  const get = console.get.bind(console);
  // On a busy machine Temporal may answer later than a page waits.
  console.get = async (...asked) => {
    for (;;) {
      const page = await get(...asked);
      if (!/Temporal (?:has not answered within|does not answer|at \S+ cannot be reached)/.test(page.text)) return page;
    }
  };
  return { id: world.id, api: console.api, console, store };
}

test('a schedule is read, paused, resumed and deleted by the API and on the page, each change once and in the log', async () => {
  const { id, api, console, store } = await openWorld();
  const [path, own] = [`/api/v1/schedules/${id}`, `/schedules/${id}`] as const;
  const { schedules } = await api.body('GET /schedules', { role: 'read' });
  const made = {
    campaignId: id,
    state: 'active',
    when: '0 9 1 1 *',
    timeZone: 'America/New_York',
    list: 'list.csv',
    note: null,
    last: null,
  };
  expect(schedules).toMatchObject([made]);
  expect(schedules[0].nextAt[0]).toMatch(/-01-01T14:00:00\.000Z$/);
  const first = await console.text('/schedules');
  expect(first).toContain('0 9 1 1 *');
  expect(first.match(/-01-01 14:00 UTC/g)).toHaveLength(3);
  const pause = { role: 'operate', key: 'p1', body: { note: '<b>no list' } } as const;
  const paused = { status: 200, body: { state: 'paused', note: '<b>no list', nextAt: [], wasPaused: false } };
  expect(await api.ask(`POST ${path}/pause`, pause)).toMatchObject(paused);
  expect(await console.text('/schedules')).toContain('&lt;b&gt;no list');
  expect(await console.get(`${own}/pause`)).toMatchObject(told(409, 'it is paused'));
  // The key repeats its answer, even after the schedule has moved on.
  expect(await console.submit(`${own}/resume`)).toMatchObject({ status: 303 });
  expect(await api.ask(`POST ${path}/pause`, pause)).toMatchObject(paused);
  expect(await api.body(`GET ${path}`)).toMatchObject({ state: 'active' });
  expect(await console.submit(`${own}/pause`, { note: 'no list' })).toMatchObject({ status: 303 });
  expect(await api.body(`POST ${path}/resume`)).toMatchObject({ state: 'active', wasPaused: true });
  expect(await console.text('/schedules')).toContain(`${own}/pause`);
  expect(locationOf(await console.submit(`${own}/delete`))).toBe('/schedules');
  expect(await console.text('/schedules')).toContain('No campaign recurs');
  expect(await api.ask(`GET ${path}`)).toMatchObject(problem(404, 'unknown_schedule'));
  expect(await api.ask(`DELETE ${path}`)).toMatchObject({ status: 404 });
  const acts = ['created', 'paused', 'resumed', 'paused', 'resumed', 'deleted'].map((act) => `schedule_${act}`);
  expect(await actsIn(store, id)).toEqual(acts);
});

test('a schedule is shown before it is made, made once, and starts a run at once that no other is started beside', async () => {
  const { id, api, store, wish } = await openUnscheduled();
  const preview = await api.ask('POST /schedules/preview', { body: wish });
  expect(preview).toMatchObject({
    status: 200,
    body: { campaignId: id, when: '0 9 1 1 *', timeZone: 'America/New_York', list: 'https://lists.example/{{ date }}.csv?…' },
  });
  expect(preview.body.nextAt[0]).toMatch(/-01-01T14:00:00\.000Z$/);
  expect((await api.body('GET /schedules')).schedules).toEqual([]);
  const made = await api.ask('POST /schedules', { body: wish, key: 'make' });
  expect(made).toMatchObject({ status: 201, body: { campaignId: id, state: 'active', nextAt: preview.body.nextAt } });
  expect(JSON.stringify(made.body)).not.toContain('secret');
  expect(preview.body).toMatchObject({ clockChanges: [], untouchedCron: null });
  expect(await api.ask('POST /schedules', { body: wish, key: 'make' })).toMatchObject({ status: 201 });
  for (const route of ['POST /schedules', 'POST /schedules/preview'] as const)
    expect(await api.ask(route, { body: wish })).toMatchObject(problem(409, 'schedule_exists'));

  const path = `/api/v1/schedules/${id}` as const;
  expect(await api.ask(`POST ${path}/continue`)).toMatchObject(problem(409, 'schedule_message'));
  const fired = await api.ask(`POST ${path}/trigger`, { role: 'operate', key: 'now' });
  expect(fired).toMatchObject({ status: 200, body: { campaignId: expect.stringContaining(`${id}-`) } });
  expect(await api.body(`POST ${path}/trigger`, { role: 'operate', key: 'now' })).toEqual(fired.body);
  const beside = await api.ask(`POST ${path}/trigger`);
  expect(beside).toMatchObject({ status: 409, body: { detail: expect.stringContaining('has not ended') } });
  expect(await api.body(`GET ${path}`)).toMatchObject({ fired: 1, isRunning: true });
  expect((await verifyLog(store.db, null)).ok).toBe(true);
});

test('a schedule runs at other times from now on; its pause, its beat and what is left out stay', async () => {
  const { id, api, store, console, wish } = await openUnscheduled();
  await api.ask('POST /schedules', { body: wish });
  const path = `/api/v1/schedules/${id}` as const;
  const edit = (body: object) => api.ask(`POST ${path}/edit`, { body });
  const times = { every: '12h', timezone: 'UTC', endAt: '2040-01-01T00:00' };
  const changed = await edit(times);
  expect(changed).toMatchObject({ status: 200, body: { when: 'every 12h', timeZone: 'UTC', endAt: '2040-01-01T00:00:00.000Z' } });
  // Unchanged times move no run.
  expect((await edit({ ...times, catchUp: '1h', list: 'https://lists.example/new.csv' })).body).toMatchObject({
    when: 'every 12h',
    nextAt: changed.body.nextAt,
    catchUpSeconds: 3600,
    list: 'https://lists.example/new.csv',
  });
  await api.ask(`POST ${path}/pause`, { body: { note: 'no list' } });
  const refused = async (body: object) => (await edit({ ...times, ...body })).body.code;
  expect(await refused({ list: '/etc/passwd' })).toBe('list_source');
  expect(await refused({ campaign: wish.campaign.replace(/^id: .*$/m, 'id: another') })).toBe('usage');
  expect(await refused({ every: undefined, cron: '0 9 30 2 *' })).toBe('schedule_never_fires');
  const night = { cron: '30 2 * * *', timezone: 'America/New_York' };
  const changes = (effect: string) => [
    { effect, local: expect.stringMatching(/-03-\d\dT02:30$/), at: expect.stringContaining('T07:00:00') },
  ];
  expect((await edit(night)).body).toMatchObject({ clockChanges: changes('skipped'), untouchedCron: '30 3 * * *', keepSkipped: false });
  expect(await console.text(`/schedules/${id}/edit`, 'admin')).toMatch(/there is no 02:30: no run/);
  expect((await edit({ ...night, keepSkipped: true })).body).toMatchObject({ clockChanges: changes('moved'), keepSkipped: true });
  expect(await console.text(`/schedules/${id}/edit`, 'admin')).toMatch(/name="keepSkipped" value="yes" checked/);
  expect((await edit({ cron: '30 8 * * *', timezone: 'Europe/London' })).body).toMatchObject({
    state: 'paused',
    note: 'no list',
    endAt: null,
  });
  expect(await store.db.selectFrom('schedules').select('list_source').execute()).toEqual([
    { list_source: 'https://lists.example/new.csv' },
  ]);

  const form = await console.get(`/schedules/${id}/edit`, 'admin');
  for (const value of ['30 8 * * *', 'Europe/London', '600s']) expect(form.text).toContain(`value="${value}"`);
  const sent = { cron: '0 7 * * mon', timezone: 'Europe/London', catchUp: '10m', every: '', list: '', campaign: '' };
  expect(await console.submit(`/schedules/${id}/edit`, sent, 'admin')).toMatchObject({ status: 303 });
  expect(await console.text('/schedules', 'admin')).toContain('Mondays at 7:00');
});

test('a schedule that would read files of the workers, or start no run, is refused', async () => {
  const { api, store, wish } = await openUnscheduled();
  const refused = async (changes: object) => {
    const { status, body } = await api.ask('POST /schedules', { body: { ...wish, ...changes } });
    return `${status} ${body.code}: ${body.detail}`;
  };
  for (const list of ['/etc/passwd', 'lists/{{ date }}.csv', 'file:///etc/passwd', 'url-file:///run/secrets/url'])
    expect(await refused({ list })).toMatch(/^422 list_source: /);
  expect(await refused({ list: 'http://lists.example/a.csv' })).toMatch(/^422 list_source: /);
  const campaign = wish.campaign.replace(/^law:.*$/m, 'law: { rules: /etc/passwd }');
  expect(await refused({ campaign })).toMatch(/^422 campaign_file: law\.rules names a file/);
  const open = `${wish.campaign.replace('phone: phone', 'phone: phone, id: name')}stays_open: { expires_after: 2h }\n`;
  expect(await refused({ campaign: open })).toMatch(/^422 campaign_file: campaign\.yaml:\d+: stays_open: keeps a campaign open/);
  expect(await refused({ campaign: 'version: 1\n' })).toMatch(/^422 campaign_file: campaign\.yaml/);
  expect(await refused({ cron: '0 9 30 2 *' })).toMatch(/^422 schedule_never_fires: /);
  expect(await refused({ every: '1d' })).toMatch(/^422 usage: /);
  expect(await refused({ timezone: 'Mars/Base' })).toMatch(/^422 usage: timezone/);
  expect(await store.db.selectFrom('schedules').selectAll().execute()).toEqual([]);
});

test('the page shows the first runs of a schedule, shows them again where anything was changed, and makes just that', async () => {
  const { id, console, wish } = await openUnscheduled();
  expect(await console.text('/schedules', 'admin')).toContain('href="/schedules/new"');
  const bad = await console.submit('/schedules/new', { ...wish, cron: '<b>0 9', note: '"><script>' }, 'admin');
  expect(bad.status).toBe(422);
  holds(bad.text, ['cron'], [/<b>0 9|"><script>/]);
  const first = await console.submit('/schedules/new', wish, 'admin');
  holds(first.text, [/id="first-runs"[\s\S]*-01-01 09:00/, 'Nothing is made yet']);
  const changed = await console.post('/schedules/new', { ...hiddenFields(first.text), ...wish, cron: '0 10 1 1 *' }, 'admin');
  expect(changed.text).toMatch(/id="first-runs"[\s\S]*-01-01 10:00/);
  expect(await console.text('/schedules')).toContain('No campaign recurs');
  const fields = { ...hiddenFields(changed.text), ...wish, cron: '0 10 1 1 *' };
  for (let times = 0; times < 2; times += 1) expect(locationOf(await console.post('/schedules/new', fields, 'admin'))).toBe('/schedules');
  const { text } = await console.get('/schedules');
  holds(text, ['0 10 1 1 *'], ['secret']);
  const own = `/schedules/${id}`;
  expect(text).toContain(`${own}/trigger`);
  expect(await console.get(`${own}/continue`)).toMatchObject({ text: expect.stringContaining('No run has left a campaign') });
  const fired = await console.submit(`${own}/trigger`);
  expect(fired.status, fired.text.replace(/^[\s\S]*<main/, '')).toBe(303);
  holds(await console.text(`${own}/trigger`), ['The last run has not ended'], ['class="act"']);
});

test('while Temporal cannot be reached, reading and changing schedules are refused with its address', async () => {
  const api = await ApiWorld.empty({
    connect: (limitMs) => openTemporal({}, readConfig({ TEMPORAL_ADDRESS: '127.0.0.1:9' }), Math.min(limitMs ?? 300, 300)),
  });
  const detail = expect.stringContaining('127.0.0.1:9') as string;
  const refused = { status: 503, body: { code: 'temporal_unreachable', detail } };
  expect(await api.ask('GET /schedules')).toMatchObject(refused);
  expect(await api.ask('POST /schedules/spring/pause')).toMatchObject(refused);
});
