import { createServer, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../../src/shared/config.ts';
import { openTemporal } from '../../../src/operations/control/control.ts';
import { putSchedule } from '../../../src/ledger/campaign/schedules.ts';
import { scheduleIdOf } from '../../../src/temporal/schedules.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { noon } from '../../ledger/scenario.ts';
import { ConsoleWorld } from './console-world.ts';

/** A database with one schedule. */
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

/** Takes connections and never says a word. */
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
  expect(text).toContain('Temporal does not answer.');
  expect(text).toContain('reminders');
  expect(text).not.toContain('/schedules/reminders/');
  const form = await console.get('/schedules/reminders/pause');
  expect(form).toMatchObject({ status: 503, text: expect.stringContaining('Temporal does not answer.') });
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
  const console = await ConsoleWorld.over(await openCleanStore('sqlite'));
  const { text } = await console.get('/schedules', 'read');
  expect(text).toContain('carillon schedule create');
  expect(text).not.toContain('role="alert"');
  expect(text).toMatch(/<a href="\/schedules" aria-current="page">Schedules/);
});
