import { connect } from 'node:net';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { kill } from 'node:process';
import { expect, test } from 'vitest';
import { readAllEvents } from '../../../../src/ledger/events.ts';
import { listTokens } from '../../../../src/ledger/console/tokens.ts';
import { openStore } from '../../../../src/ledger/open-ledger.ts';
import { putSchedule } from '../../../../src/ledger/campaign/schedules.ts';
import { beginProven, noon } from '../../../ledger/scenario.ts';
import { createWorld, until, type CampaignWorld } from '../campaign-world.ts';
import { beginCommand } from '../terminal.ts';

const anyPorts = ['--port', '0', '--temporal-port', '0'];

async function createDevWorld(): Promise<CampaignWorld> {
  const world = await createWorld({}, { TEMPORAL_ADDRESS: '' });
  world.env['XDG_STATE_HOME'] = world.path('state');
  for (const name of ['HOME', 'PATH', 'XDG_CACHE_HOME']) world.env[name] = process.env[name] ?? '';
  return world;
}

function isListening(address: string): Promise<boolean> {
  const [host = '', port = ''] = address.replace('http://', '').split(':');
  return new Promise((resolve) => {
    const socket = connect(Number(port), host);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** At a terminal, on a desktop whose browser notes what it opens. */
async function beginBeforePerson(...flags: string[]) {
  const world = await createDevWorld();
  mkdirSync(world.path('bin'));
  const opened = world.path('opened');
  writeFileSync(world.path('bin/xdg-open'), `#!/bin/sh\nprintf '%s' "$1" > '${opened}.part' && mv '${opened}.part' '${opened}'\n`);
  chmodSync(world.path('bin/xdg-open'), 0o755);
  const { io, ended, interrupt } = beginCommand(['dev', ...anyPorts, ...flags], {
    env: { ...world.env, PATH: `${world.path('bin')}:${process.env['PATH'] ?? ''}`, DISPLAY: ':9' },
    isTerminal: true,
    now: Date.now,
  });
  await until(() => io.written().stderr.includes('Ctrl-C stops'));
  return { world, io, opened, ended, interrupt };
}

async function areRevoked(world: CampaignWorld): Promise<boolean[]> {
  const store = await openStore({ sqlitePath: world.path('carillon.db') });
  const tokens = await listTokens(store);
  await store.close();
  return tokens.map(({ revokedReal }) => revokedReal !== null);
}

test('dev brings everything up, says how to use it, opens nothing with --no-open, and ends with the reason when Temporal dies', async () => {
  const { world, io, opened, ended } = await beginBeforePerson('--no-open', '--speed', '600', '--json');
  const ready = JSON.parse(io.written().stdout) as Record<string, unknown>;
  const settings = ready['settings'] as Record<string, string>;
  expect(settings).toEqual({
    TEMPORAL_ADDRESS: ready['temporal'],
    SVC_BASE_URL: ready['sandbox'],
    SVC_API_KEY: 'sk_sandbox_ok',
    CARILLON_DB: world.path('carillon.db'),
  });
  for (const [name, value] of Object.entries(settings)) expect(io.written().stderr).toContain(`  export ${name}=${value}\n`);
  expect(existsSync(world.path('state/carillon/temporal.db'))).toBe(true);
  const page = new URL(String(ready['page']));
  const token = page.hash.replace('#token=', '');
  const api = (path: string) => fetch(`${page.origin}${path}`, { headers: { authorization: `Bearer ${token}` } });
  expect(await (await api('/api/v1/campaigns')).json()).toEqual({ campaigns: [] });
  expect(io.written().stderr).toContain(`  page       ${page.href}\n`);
  const addresses = [settings['TEMPORAL_ADDRESS'] ?? '', settings['SVC_BASE_URL'] ?? '', page.origin];
  expect(await Promise.all(addresses.map(isListening))).toEqual([true, true, true]);

  kill(Number(ready['temporalPid']), 'SIGKILL');
  expect(await ended).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/The Temporal dev server ended \(signal SIGKILL\).*Everything else is stopped/s),
  });
  expect(await Promise.all(addresses.map(isListening))).toEqual([false, false, false]);
  expect([existsSync(opened), ...(await areRevoked(world))]).toEqual([false, true]);
});

test.runIf(process.platform === 'linux')(
  'dev opens its page signed in by a word that holds once; one click there runs the example, and Ctrl-C takes everything down',
  async () => {
    const { world, io, opened, ended, interrupt } = await beginBeforePerson();
    await until(() => existsSync(opened));
    const { origin, hash } = new URL(readFileSync(opened, 'utf8'));
    expect(io.written().stderr).not.toContain(hash);
    const send = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
      fetch(origin + path, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'sec-fetch-site': 'same-origin', ...headers },
        body: new URLSearchParams(fields),
      });
    const signIn = () => send('/sign-in', { token: hash.replace('#token=', ''), to: '/' });
    const first = await signIn();
    expect(first.status).toBe(303);
    const [cookie = ''] = first.headers.getSetCookie().map((each) => each.replace(/;.*/, ''));
    expect((await signIn()).status).toBe(401);

    const look = async (path: string) => (await fetch(origin + path, { headers: { cookie } })).text();
    expect(await look('/')).toContain('Run the example');
    const begun = await send('/example', { key: 'one click' }, { cookie });
    expect([begun.status, begun.headers.get('location')]).toEqual([303, '/campaigns/example']);
    expect((await send('/example', { key: 'one click' }, { cookie })).headers.get('location')).toBe('/campaigns/example');
    await expect.poll(() => look('/'), { interval: 500 }).toContain('60 × real time');
    await expect.poll(() => look('/'), { interval: 500 }).toMatch(/<b>[1-9]\d* of \d+<\/b>/);
    const addresses = [...new Set(io.written().stderr.match(/127\.0\.0\.1:\d+/g))].slice(0, 3);
    expect(await Promise.all(addresses.map(isListening))).toEqual([true, true, true]);
    interrupt();
    expect(await ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/Stopped\. Campaigns/) });
    expect(await Promise.all(addresses.map(isListening))).toEqual([false, false, false]);
    expect(await areRevoked(world)).toEqual([true]);
  },
);

test('dev leaves alone a database whose campaigns or schedules belong to another service', async () => {
  const world = await createDevWorld();
  const store = await openStore({ sqlitePath: world.path('carillon.db') });
  const scenario = await beginProven(store);
  await scenario.dial(1);
  const before = await readAllEvents(store.db, 0, 1_000);
  const refused = await world.run('dev', ...anyPorts, '--json');
  expect(refused).toMatchObject({
    code: 2,
    stdout: expect.stringMatching(/^\{"error":\{"code":"local_world","message":.*"exitCode":2\}\}\n$/),
  });
  expect(refused.stderr).toMatch(
    /The database \(.*carillon\.db\) has a campaign that has not ended, spring, of the service at http:\/\/service, and not of this sandbox at http:\/\/127\.0\.0\.1:\d+\. Nothing was touched\. .*CARILLON_DB to a new file/,
  );
  expect(await readAllEvents(store.db, 0, 1_000)).toEqual(before);

  await store.db.updateTable('campaigns').set({ state: 'completed' }).execute();
  const facts = { filePath: '/srv/campaign.yaml', content: 'id: daily', listSource: 'list.csv', createdAt: noon };
  await putSchedule(store, { scheduleId: 's', campaignId: 'daily', accountId: 'https://voice.example', ...facts });
  await store.close();
  expect(await world.run('dev', ...anyPorts)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/has a schedule, daily, of the service at https:\/\/voice\.example/),
  });
});
