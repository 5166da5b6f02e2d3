import { expect, onTestFinished, test } from 'vitest';
import { readConfig, type ListenAddress } from '../../src/config.ts';
import { connectTemporalNative } from '../../src/temporal/connection.ts';
import { startHealthServer } from '../../src/temporal/health-server.ts';
import { openTestStore } from '../ledger/test-stores.ts';
import { freePort } from '../support/free-port.ts';
import { sharedTemporal } from '../support/temporal-for-tests.ts';

async function start() {
  const address: ListenAddress = { host: '127.0.0.1', port: await freePort() };
  const server = await startHealthServer(address);
  onTestFinished(() => server.close());
  const ask = async (path: string, method = 'GET') => {
    const answer = await fetch(`http://127.0.0.1:${address.port}${path}`, { method });
    const text = await answer.text();
    return {
      status: answer.status,
      body: text === '' ? null : (JSON.parse(text) as unknown),
      allow: answer.headers.get('allow'),
    };
  };
  return { server, ask };
}

test('a process is healthy at once, and ready only when everything it needs answers', async () => {
  const { server, ask } = await start();
  expect(await ask('/healthz')).toMatchObject({ status: 200, body: { healthy: true } });
  expect(await ask('/readyz')).toMatchObject({ status: 503, body: { ready: false, worker: 'starting' } });

  const store = await openTestStore('sqlite');
  const { connection } = await connectTemporalNative(readConfig({}), { target: await sharedTemporal() });
  let running = true;
  server.watch({ connection, store, isRunning: () => running });
  const all = { temporal: 'reachable', database: 'reachable', worker: 'running' };
  expect(await ask('/readyz?verbose=1')).toMatchObject({ status: 200, body: { ready: true, ...all } });
  running = false;
  expect(await ask('/readyz')).toMatchObject({ status: 503, body: { ready: false, ...all, worker: 'not running' } });
  running = true;
  await store.db.schema.alterTable('meta').renameTo('gone').execute();
  expect(await ask('/readyz')).toMatchObject({
    status: 503,
    body: { ready: false, ...all, database: 'not reachable' },
  });
  await connection.close();
  expect(await ask('/readyz')).toMatchObject({ status: 503, body: { temporal: 'not reachable' } });
  expect(await ask('/healthz')).toMatchObject({ status: 200 });
});

test('other paths and methods are refused', async () => {
  const { ask } = await start();
  expect(await ask('/')).toMatchObject({ status: 404 });
  expect(await ask('/metrics')).toMatchObject({ status: 404 });
  expect(await ask('/readyz/', 'POST')).toMatchObject({ status: 404 });
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    expect(await ask('/readyz', method)).toMatchObject({ status: 405, allow: 'GET, HEAD' });
  expect(await ask('/healthz', 'HEAD')).toEqual({ status: 200, body: null, allow: null });
});
