import { connect } from 'node:net';
import { existsSync } from 'node:fs';
import { kill } from 'node:process';
import { expect, test } from 'vitest';
import { readAllEvents } from '../../../../src/ledger/events.ts';
import { listTokens } from '../../../../src/ledger/console/tokens.ts';
import { openStore } from '../../../../src/ledger/open-ledger.ts';
import { putSchedule } from '../../../../src/ledger/campaign/schedules.ts';
import { beginProven, noon } from '../../../ledger/scenario.ts';
import { createWorld, until, type CampaignWorld, type RunningCommand } from '../campaign-world.ts';

const anyPorts = ['--port', '0', '--temporal-port', '0'];

async function createDevWorld(): Promise<CampaignWorld> {
  const world = await createWorld({}, { TEMPORAL_ADDRESS: '' });
  world.env['XDG_STATE_HOME'] = world.path('state');
  for (const name of ['HOME', 'PATH', 'XDG_CACHE_HOME']) world.env[name] = process.env[name] ?? '';
  return world;
}

/** `carillon dev` in a folder of its own, on any ports. */
async function beginDev(): Promise<{ world: CampaignWorld; dev: RunningCommand; ready: Record<string, unknown> }> {
  const world = await createDevWorld();
  const dev = world.begin('dev', ...anyPorts, '--speed', '600', '--json');
  await until(() => dev.io.written().stdout.includes('\n'), 60_000);
  return { world, dev, ready: JSON.parse(dev.io.written().stdout) as Record<string, unknown> };
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

test('dev brings everything up, says how to use it, and Ctrl-C takes everything down', async () => {
  const { world, dev, ready } = await beginDev();
  const settings = ready['settings'] as Record<string, string>;
  expect(settings).toEqual({
    TEMPORAL_ADDRESS: ready['temporal'],
    SVC_BASE_URL: ready['sandbox'],
    SVC_API_KEY: 'sk_sandbox_ok',
    CARILLON_DB: world.path('carillon.db'),
  });
  for (const [name, value] of Object.entries(settings)) expect(dev.io.written().stderr).toContain(`  export ${name}=${value}\n`);
  expect(existsSync(world.path('state/carillon/temporal.db'))).toBe(true);
  const page = new URL(String(ready['page']));
  const token = page.hash.replace('#token=', '');
  const api = (path: string) => fetch(`${page.origin}${path}`, { headers: { authorization: `Bearer ${token}` } });
  expect(await (await api('/api/v1/campaigns')).json()).toEqual({ campaigns: [] });
  expect(dev.io.written().stderr).toContain(`  page       ${page.href}\n`);
  const addresses = [settings['TEMPORAL_ADDRESS'] ?? '', settings['SVC_BASE_URL'] ?? '', page.origin];
  expect(await Promise.all(addresses.map(isListening))).toEqual([true, true, true]);

  dev.interrupt();
  expect(await dev.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/Stopped\. Campaigns/) });
  expect(await Promise.all(addresses.map(isListening))).toEqual([false, false, false]);
  const store = await openStore({ sqlitePath: world.path('carillon.db') });
  expect((await listTokens(store)).map(({ revokedReal }) => revokedReal)).toEqual([expect.any(Number)]);
  await store.close();
});

test('dev ends with the reason when Temporal dies', async () => {
  const { dev, ready } = await beginDev();
  kill(ready['temporalPid'] as number, 'SIGKILL');
  const { code, stderr } = await dev.ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(/The Temporal dev server ended \(signal SIGKILL\).*Everything else is stopped/s);
});

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
