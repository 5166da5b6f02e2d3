import type { AddressInfo } from 'node:net';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { lastEventSeq } from '../../src/ledger/events.ts';
import { findEntries } from '../../src/ledger/rows/suppressions.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { pickFreePorts } from '../../src/temporal/server-process.ts';
import { ApiWorld } from '../interfaces/api/api-world.ts';
import { readEventStream } from '../interfaces/api/event-reader.ts';
import { emptyDatabase } from '../ledger/test-stores.ts';
import { sendJson, startHookServer } from '../shared/hooks/hook-server.ts';
import { addTestWebhook, secret } from '../shared/hooks/webhook-world.ts';
import { patient, withRun } from '../support/campaign-run.ts';
import { hasDatabases } from '../support/depth.ts';
import { judgeRun } from '../support/judge-run.ts';
import { startPostgresServer, type PostgresServer } from '../support/postgres-server.ts';
import { startWay, type Way } from '../world/way.ts';
import { connectSharedTemporal, type TestTemporal } from '../support/temporal-for-tests.ts';
import { until } from '../support/until.ts';

let temporal: TestTemporal;
/** This file's own, since it is stopped, restored and replaced. */
let postgres: PostgresServer;

beforeAll(async () => {
  if (!hasDatabases) return;
  [temporal, postgres] = await Promise.all([connectSharedTemporal(), startPostgresServer({ hasArchive: true })]);
  return async () => {
    await temporal.stop();
    await postgres.stop();
  };
});

const databasesTest = test.runIf(hasDatabases);

databasesTest('PostgreSQL may restart under a campaign, and a base backup with its archived log may take its place', async () => {
  const databaseUrl = await postgres.createDatabase('campaign');
  await withRun({ id: 'postgres', seed: 1011, temporal, databaseUrl, recipients: 48, settings: patient }, async (run) => {
    const { gates } = run.sandbox;
    const first = gates.set('batch_work_done', 2);
    const worker = run.startWorker();
    await run.start();
    const { n: restarted } = await run.met(first);
    const { posts: sent } = await run.untilBatch(restarted, ['posting']);
    const second = gates.set('batch_received');
    await postgres.restart(async () => {
      gates.release(first);
      await until('the worker has tried to write it', () => worker.output().includes('could not be written'));
    });
    expect(await run.untilBatch(restarted, ['confirmed'])).toMatchObject({ posts: sent });

    const { n: backedUp } = await run.met(second);
    const restore = await postgres.backUp();
    gates.release(second);
    await run.untilBatch(backedUp, ['confirmed']);
    expect(worker.hasEnded()).toBe(false);
    await worker.terminate();
    const calls = run.sandbox.calls().length;
    await restore();
    expect(await run.batch(backedUp)).toMatchObject({ state: 'confirmed' });
    run.startWorker();
    await run.untilEnd();
    expect(run.sandbox.calls().length).toBeGreaterThan(calls);
    const { posts } = await judgeRun(run);
    expect(posts.filter(({ verdict }) => verdict === null || verdict === 'unknown')).toEqual([]);
  });
});

async function openEndpoint(url: string): Promise<{ endpoint: Way; primaryPort: number }> {
  const primaryPort = Number(new URL(url).port);
  const endpoint = await startWay(primaryPort);
  onTestFinished(() => endpoint.close());
  return { endpoint, primaryPort };
}

const hostsOf = (url: string, ...ports: number[]): string =>
  url.replace(/@[^/]+/, `@${ports.map((port) => `127.0.0.1:${port}`).join(',')}`);
const standbyWords = 'the database answers as a read-only standby';
const add = 'POST /api/v1/suppressions';
const body = { numbers: ['+12125550177'] };

test('a COMMIT whose answer is lost, whichever of a request, is 503, and its key can be used at once', async () => {
  const { databaseUrl: url = '' } = await emptyDatabase('postgres');
  await (await openStore({ databaseUrl: url, sqlitePath: '' })).close();
  const { endpoint } = await openEndpoint(url);
  const store = await openStore({ databaseUrl: hostsOf(url, endpoint.port), sqlitePath: '' });
  onTestFinished(() => store.close());
  const world = await ApiWorld.over(store);
  // The token's use is noted too, beside the first request.
  expect((await world.ask(add, { body: { numbers: ['+12125550178'] } })).status).toBe(200);
  for (const n of [1, 2, 3]) {
    const one = { key: `k${n}`, body: { numbers: [`+1212555018${n}`] } };
    const lost = endpoint.loseAnswer('commit\0', n);
    const first = await world.ask(add, one);
    await lost;
    expect(first).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(first.headers['retry-after']).toBe('5');
    expect(await world.ask(add, one)).toMatchObject({ status: 200 });
    expect(await findEntries(store.db, one.body.numbers)).toHaveLength(1);
  }
});

databasesTest('a failover to a standby and back stops nothing for good, and one that lags is refused when it is promoted', async () => {
  const url = await postgres.createDatabase('failover');
  const { endpoint, primaryPort } = await openEndpoint(url);
  const databaseUrl = hostsOf(url, endpoint.port);
  const [health = 0, metrics = 0] = await pickFreePorts(2);
  const settings = {
    ...patient,
    CARILLON_HOOK_SECRET: secret,
    CARILLON_HOOK_NETWORKS: '127.0.0.1',
    CARILLON_HEALTH_LISTEN: String(health),
    CARILLON_METRICS_LISTEN: String(metrics),
  };
  const standby = await postgres.startStandby();
  const hook = await startHookServer((response) => sendJson(response, {}));
  await withRun({ id: 'failover', seed: 1041, temporal, databaseUrl, recipients: 40, settings }, async (run) => {
    // It polls the log each second, which keeps a worker's connection in use.
    await addTestWebhook(run.store, hook.url, { webhookId: 'webhook-failover' });
    const store = await openStore({ databaseUrl, sqlitePath: '' });
    onTestFinished(() => store.close());
    const world = await ApiWorld.over(store);
    await world.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = world.app.server.address() as AddressInfo;
    const authorization = `Bearer ${world.tokenText('admin')}`;
    const stream = await readEventStream(`http://127.0.0.1:${port}/api/v1/events/stream?after=0`, { authorization });
    onTestFinished(() => stream.end());
    const cookie = await world.cookie('admin');
    const told = async (path: string) => (await fetch(`http://127.0.0.1:${path}`)).text();

    const second = run.sandbox.gates.set('batch_work_done', 2);
    const worker = run.startWorker();
    await run.start();
    await run.met(second);
    await until('the stream has begun', () => stream.ids.length > 0);
    const direct = await openStore({ databaseUrl: url, sqlitePath: '' });
    onTestFinished(() => direct.close());
    // Of batch 2 it has only the intent to send.
    await until('the standby has all there is', () => standby.hasAll());
    await standby.fallBehind();

    endpoint.leadTo(standby.port);
    endpoint.drop();
    run.sandbox.gates.release(second);
    const refused = await until('the API says why', async () => {
      const answer = await world.ask(add, { key: 'failover', body });
      expect(answer.status).toBe(503);
      return JSON.stringify(answer.body).includes(standbyWords) ? answer : undefined;
    });
    expect(refused.headers['retry-after']).toBe('5');
    const reads = await Promise.all(Array.from({ length: 12 }, () => world.ask('GET /api/v1/campaigns')));
    expect(reads.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 503));
    const page = await world.app.inject({ url: '/', headers: { cookie } });
    expect(page).toMatchObject({ statusCode: 503, body: expect.stringContaining(standbyWords) as string });
    for (const command of ['status', 'doctor'])
      expect(await run.command(command)).toMatchObject({
        code: 1,
        [command === 'status' ? 'stderr' : 'stdout']: expect.stringContaining(standbyWords) as string,
      });
    await until('the worker is not ready, and says why', async () => (await told(`${health}/readyz`)).includes(standbyWords));
    const faulty = 'carillon_database_fault{cause="standby"} 1';
    await until('its metrics say why', async () => (await told(`${metrics}/metrics`)).includes(faulty));
    expect(worker.output()).toContain(standbyWords);

    // Of two hosts, the writable one.
    const both = await openStore({ databaseUrl: hostsOf(url, standby.port, primaryPort), sqlitePath: '' });
    expect(await both.transaction((tx) => both.now(tx))).toBeGreaterThan(0);
    await both.close();

    // After doctor, which queries the service like a dial.
    const third = run.sandbox.gates.set('batch_received');
    endpoint.leadTo(primaryPort);
    const promised = { limitMs: 60_000 };
    const done = await until(
      'the API goes on',
      async () => {
        const answer = await world.ask(add, { key: 'failover', body });
        expect([200, 503]).toContain(answer.status);
        return answer.status === 200 && answer;
      },
      promised,
    );
    expect(done.body).toMatchObject({ added: 1 });
    const newest = await lastEventSeq(direct.db);
    await until('the stream goes on', () => (stream.ids.at(-1) ?? 0) >= newest, promised);
    expect((await run.command('status')).code).toBe(0);
    const met = await run.sandbox.gates.waitUntilReached(third, promised.limitMs);
    const batches = await direct.db.selectFrom('batches').select(['n', 'state']).where('n', '>', 1).orderBy('n').execute();
    expect(batches[0]).toEqual({ n: 2, state: 'confirmed' });
    expect(batches.at(-1)?.state).toBe('posting');

    // The primary dies, and the standby replaces it without the last commits.
    await standby.promote();
    endpoint.leadTo(standby.port);
    endpoint.drop();
    run.sandbox.gates.release(third);
    await expect(run.handle.result()).rejects.toMatchObject({ cause: { cause: { type: 'LedgerOlder' } } });
    expect(run.requests()).toEqual([`${run.id}/1/1/1`, `${run.id}/1/2/1`, met?.requestId]);
  });
  await hook.stop();
});
