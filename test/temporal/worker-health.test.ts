import type { Context } from '@temporalio/activity';
import { expect, onTestFinished, test, vi } from 'vitest';
import { beatWhileRunning } from '../../src/temporal/worker.ts';
import { createLogger } from '../../src/shared/logger.ts';
import { createSdkLogger } from '../../src/temporal/runtime-logger.ts';
import { readConfig, type ListenAddress } from '../../src/shared/config.ts';
import { connectTemporalNative } from '../../src/temporal/connection.ts';
import { startHealthServer } from '../../src/temporal/health-server.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { freePort } from '../support/free-port.ts';
import { sharedTemporal } from '../support/temporal-for-tests.ts';

/** Runs an activity that takes so long, and counts its heartbeats within twice that time. */
async function countBeats(takesMs: number, heartbeatTimeoutMs?: number): Promise<number> {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const heartbeat = vi.fn<() => void>();
  const { inbound } = beatWhileRunning({ info: { heartbeatTimeoutMs }, heartbeat } as unknown as Context);
  const work = () => new Promise((resolve) => setTimeout(resolve, takesMs));
  const done = inbound?.execute?.({ args: [], headers: {} }, work) ?? work();
  await vi.advanceTimersByTimeAsync(2 * takesMs);
  await done;
  return heartbeat.mock.calls.length;
}

test('an activity beats four times within its heartbeat timeout for as long as it runs, and not for a moment', async () => {
  expect(await countBeats(60_001, 10_000)).toBe(24);
  expect(await countBeats(2_000, 10_000)).toBe(0);
});

test('an activity without a heartbeat timeout does not beat', async () => {
  expect(await countBeats(60_000)).toBe(0);
});

function collect(level: string, monotonicMs = () => 0) {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger(level, { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  return {
    lines,
    sdk: createSdkLogger(
      () => logger,
      () => '127.0.0.1:7233',
      monotonicMs,
    ),
  };
}

test("the SDK's lines become ours: ids and the error's sentence, no inputs, at our level", () => {
  const { lines, sdk } = collect('warn');
  sdk.info('started', { workflowId: 'campaign/a/1' });
  sdk.log('WARN', 'activity failed', {
    workflowId: 'campaign/a/1',
    attempt: 2,
    input: { e164: '+12125550101' },
    error: Object.assign(new Error('no answer\n at somewhere'), { type: 'RateLimited' }),
  });
  expect(lines).toEqual([
    {
      level: 40,
      time: expect.any(String),
      workflowId: 'campaign/a/1',
      attempt: 2,
      error: 'Error RateLimited: no answer',
      msg: 'activity failed',
    },
  ]);
});

test('while Temporal is down there is one line with address and cause, and not 257', () => {
  let now = 0;
  const { lines, sdk } = collect('info', () => now);
  const error = `Status { code: Unavailable, message: "tcp connect error", source: Some(ConnectError("tcp connect error", 127.0.0.1:7233, Os { code: 111, kind: ConnectionRefused, message: "Connection refused" })) }`;
  const goDown = () => {
    for (let tries = 0; tries < 257; tries += 1) {
      now += 9_000;
      sdk.warn(`gRPC call poll_activity_task_queue retried ${tries} times`, { sdkComponent: 'core', error });
    }
  };
  goDown();
  expect(lines).toEqual([
    {
      level: 40,
      time: expect.any(String),
      temporal: '127.0.0.1:7233',
      error: 'Unavailable: Connection refused',
      msg: expect.stringMatching(/^Temporal gives no answer/),
    },
  ]);
  now += 61_000;
  goDown();
  expect(lines).toHaveLength(2);
});

test('a worker that begins as it should warns of nothing', () => {
  const { lines, sdk } = collect('info');
  sdk.warn('No workflows registered, not polling for workflow tasks', { sdkComponent: 'worker' });
  sdk.info('Worker state changed', { sdkComponent: 'worker', state: 'RUNNING' });
  expect(lines).toEqual([]);
});

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

  const store = await openCleanStore('sqlite');
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
