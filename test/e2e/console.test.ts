import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { expect, test, onTestFinished } from 'vitest';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWorld, proven, type CampaignWorld } from '../interfaces/cli/campaign-world.ts';
import { rehearsedReport } from '../interfaces/console/rehearsed-report.ts';
import { sweepDrafts } from '../../src/ledger/console/drafts.ts';
import { beginRehearsal, endRehearsal } from '../../src/ledger/console/rehearsals.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { signIn } from '../support/sign-in.ts';
import { until } from '../support/until.ts';
import { createToken } from '../../src/ledger/console/tokens.ts';
import { spawnWorker } from '../support/worker-process.ts';
import { hiddenFields } from '../interfaces/console/console-world.ts';

const list = 'phone,name\n+12125550131,Ana\n+12125550132,Ben\n';

test('a campaign that the page has started is the one that its downloaded file starts', async () => {
  const world = await createWorld();
  const made = await world.run('token', 'create', 'front desk', '--role', 'operate', '--json');
  const { token } = JSON.parse(made.stdout) as { token: string };
  const server = world.begin('serve', '--port', '0', '--json');
  const ready = await until('the page listens', () => /\{.*"ready".*\}/.exec(server.io.written().stdout)?.[0]);
  const { url } = JSON.parse(ready) as { url: string };
  const headers = { cookie: await signIn(url, token), origin: url };
  const post = async (path: string, body: FormData | URLSearchParams) => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body, redirect: 'manual' });
    expect(answer.status, await answer.text()).toBe(303);
    return answer.headers.get('location') ?? '';
  };
  const get = async (path: string) => (await fetch(`${url}${path}`, { headers })).text();

  const form = new FormData();
  form.append('list', new Blob([list]), 'guests.csv');
  const path = await post('/new', form);
  const speaker = { agent_id: 'agent_reminders', from_phone_number_id: 'pn_main' };
  await post(`${path}/words`, new URLSearchParams({ ...speaker, first_message: 'Hello {{ name }}.' }));
  await post(`${path}/calls`, new URLSearchParams({ hours: 'any' }));
  await post(`${path}/name`, new URLSearchParams({ id: world.id }));
  const yaml = await get(`${path}/campaign.yaml`);
  const checked = await until('the list is read', async () => {
    const text = await get(path);
    return text.includes('being read') ? undefined : text;
  });
  expect(checked).toContain('Agent and caller number are ready at the service');
  const store = await openStore({ sqlitePath: world.path('carillon.db') });
  const [draftId = ''] = (await store.db.selectFrom('drafts').select('draft_id').execute()).map((row) => row.draft_id);
  await beginRehearsal(store, draftId, 'as it was');
  const [, key = ''] = /name="key" value="([^"]+)"/.exec(checked) ?? [];
  const start = new URLSearchParams({ key, campaign: world.id });
  expect(await post(`${path}/start`, start)).toBe(`/campaigns/${world.id}`);
  // The button was pressed twice, or the draft was open in a second tab.
  expect(await post(`${path}/start`, start)).toBe(`/campaigns/${world.id}`);
  expect(await get('/new')).toContain('There is none.');
  // It was under way when the campaign was started, and ends afterwards.
  await endRehearsal(store, draftId, JSON.stringify(rehearsedReport));
  await sweepDrafts(store, Date.now());
  await store.close();
  expect(await get(`/campaigns/${world.id}`)).toContain(`href="/campaigns/${world.id}/rehearsal"`);
  expect(await get(`/campaigns/${world.id}/rehearsal`)).toContain('The campaign went as it should.');

  writeFileSync(world.path('campaign.yaml'), yaml);
  writeFileSync(world.path('guests.csv'), list);
  const again = await world.run('start', world.path('campaign.yaml'), '--json');
  expect(again.code, again.stderr).toBe(0);
  expect(JSON.parse(again.stdout)).toMatchObject({ campaignId: world.id, imported: false });
  writeFileSync(world.path('guests.csv'), list.replace('Ben', 'Bert'));
  expect(await world.run('start', world.path('campaign.yaml'))).toMatchObject({ code: 2 });
  server.interrupt();
  await server.ended;
});

const rehearsedList = ['phone,name', ...[1, 2, 3, 4, 5].map((n) => `+1212555013${n},Guest ${n}`)].join('\n');

test('a campaign that is being made on the page is rehearsed there, on a world of its own', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-rehearsal-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const sqlitePath = join(folder, 'carillon.db');
  const store = await openStore({ sqlitePath });
  const { text: token } = await createToken(store, {
    name: 'front desk',
    role: 'operate',
    lastsMs: null,
    nowReal: Date.now(),
  });
  await store.close();
  const settings = { CARILLON_DB: sqlitePath, SVC_BASE_URL: 'http://127.0.0.1:9', TEMPORAL_ADDRESS: '127.0.0.1:9' };
  const server = spawnWorker(settings, ['serve', '--port', '0']);
  onTestFinished(() => server.kill());
  const url = await until('the page listens', () => {
    if (server.hasEnded()) throw new Error(server.output());
    return /The console is at (\S+)\/,/.exec(server.output())?.[1];
  });
  const headers = { cookie: await signIn(url, token), origin: url };
  const post = async (path: string, body: FormData | URLSearchParams) => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body, redirect: 'manual' });
    expect(answer.status, await answer.text()).toBe(303);
    return answer.headers.get('location') ?? '';
  };
  const form = new FormData();
  form.append('list', new Blob([rehearsedList]), 'guests.csv');
  const path = await post('/new', form);
  const speaker = { agent_id: 'agent_reminders', from_phone_number_id: 'pn_main' };
  await post(`${path}/words`, new URLSearchParams({ ...speaker, first_message: 'Hello {{ name }}.' }));
  await post(`${path}/calls`, new URLSearchParams({ hours: 'any', 'retry.max_attempts': '1' }));

  await post(`${path}/rehearsal`, new URLSearchParams());
  const ended = await until(
    'the rehearsal has ended',
    async () => {
      const text = await (await fetch(`${url}${path}/rehearsal`, { headers })).text();
      return !text.includes('It is being rehearsed') && text;
    },
    { everyMs: 500 },
  );
  expect(ended).toContain('The campaign went as it should.');
  expect(ended).toContain('5 of 5');
  expect(ended).not.toContain('+121255501');
});

interface Answer {
  status: number;
  text: string;
}

/** A browser in which somebody has signed in. */
async function openBrowser(world: CampaignWorld, origin: string, name: string) {
  const { stdout } = await world.run('token', 'create', name, '--role', 'operate');
  const cookie = await signIn(origin, stdout.trim());
  const path = `${origin}/campaigns/${world.id}`;
  const ask = async (wish: string, fields?: Record<string, string>): Promise<Answer> => {
    const answer = await fetch(`${path}/${wish}`, {
      ...(fields === undefined ? {} : { method: 'POST', body: new URLSearchParams(fields) }),
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
      redirect: 'manual',
    });
    return { status: answer.status, text: await answer.text() };
  };
  return {
    /** Opens the form of a button, which is pressed later. */
    open: async (wish: string) => hiddenFields((await ask(wish)).text),
    press: ask,
  };
}

test('two people who press opposite buttons at once are each told the truth, and twice is once', async () => {
  const world = await createWorld();
  await world.run('start', world.writeCampaign({ rows: 3, yaml: ['starts_at: 2099-01-01T00:00:00Z'] }));
  await world.work();
  const server = world.begin('serve', '--port', '0', '--json');
  await until('the page listens', () => server.io.written().stdout.includes('"ready":true'));
  const { url } = JSON.parse(server.io.written().stdout) as { url: string };
  const [anna, ben] = [await openBrowser(world, url, 'front desk'), await openBrowser(world, url, 'night console')];
  const state = async () => (JSON.parse((await world.run('status', world.id, '--json')).stdout) as { state: string }).state;

  const pauseOfBefore = await anna.open('pause');
  expect((await ben.press('pause', await ben.open('pause'))).status).toBe(303);
  const resume = await ben.open('resume');
  const [paused, resumed] = await Promise.all([anna.press('pause', pauseOfBefore), ben.press('resume', resume)]);
  expect(paused.status).toBe(303);
  // Whoever came later has their way; a resume on sight of an earlier pause does not undo a later one.
  if (resumed.status === 409) expect(resumed.text).toContain('Last changed by');
  else expect(resumed.status).toBe(303);
  expect(['paused', 'scheduled']).toContain(await state());
  if (resumed.status === 409) expect(await state()).toBe('paused');

  const [drain, cancel] = [await anna.open('drain'), await ben.open('cancel')];
  // Each of them presses twice, and the answers to one button are of the same change.
  const ended = await Promise.all([
    anna.press('drain', drain),
    ben.press('cancel', cancel),
    anna.press('drain', drain),
    ben.press('cancel', cancel),
  ]);
  for (const { status, text } of ended) {
    expect([303, 409]).toContain(status);
    if (status === 409) expect(text).toMatch(/role="alert"/);
  }
  await until('it has ended', async () => ['completed', 'cancelled'].includes(await state()));
  const log = (await world.run('events', world.id, '--json')).stdout.trim().split('\n');
  const acts = log.map((line) => JSON.parse(line) as { type: string; text: string });
  const done = acts.flatMap(({ type, text }) => (type === 'operator.acted' ? [text] : []));
  // Whatever the order: each change that was made stands there once, under the name of who made it.
  expect(done.toSorted()).toEqual([...new Set(done)].toSorted());
  expect(done).toEqual(expect.arrayContaining(['front desk: pause', 'night console: pause']));
  expect(done.some((act) => act === 'front desk: drain' || act === 'night console: cancel')).toBe(true);
  const late = await ben.press('cancel', { ...cancel, key: 'much later' });
  expect(late).toMatchObject({ status: 409, text: expect.stringMatching(/has ended.*Last changed by/s) });
  server.interrupt();
  await server.ended;
  expect(await world.run('verify', world.id)).toMatchObject(proven);
});
