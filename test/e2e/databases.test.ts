import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { lastEventSeq } from '../../src/ledger/events.ts';
import { findEntries } from '../../src/ledger/rows/suppressions.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { pickFreePorts } from '../../src/temporal/server-process.ts';
import { lookAgainUpdate } from '../../workflows/messages.ts';
import { ApiWorld } from '../interfaces/api/api-world.ts';
import { readEventStream } from '../interfaces/api/event-reader.ts';
import { sendJson, startHookServer } from '../shared/hooks/hook-server.ts';
import { addTestWebhook, secret } from '../shared/hooks/webhook-world.ts';
import { patient, withRun, type CampaignRun } from '../support/campaign-run.ts';
import { judgeRun } from '../support/judge-run.ts';
import { leave } from '../support/kill-gaps.ts';
import { startPostgresServer, type PostgresServer } from '../support/postgres-server.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { connectSharedTemporal, type TestTemporal } from '../support/temporal-for-tests.ts';
import { patienceMs, until } from '../support/until.ts';
import { runCommand } from '../support/worker-process.ts';

let temporal: TestTemporal;
/** Of this file's own, since it is stopped, set back and left behind. */
let postgres: PostgresServer;
/** The name under which everybody reaches the writer. */
let endpoint: TcpProxy;
let primaryPort: number;

beforeAll(async () => {
  [temporal, postgres] = await Promise.all([connectSharedTemporal(), startPostgresServer({ hasArchive: true })]);
  primaryPort = Number(new URL(postgres.url).port);
  endpoint = await startTcpProxy(primaryPort);
});
afterAll(async () => {
  await endpoint.close();
  await temporal.stop();
  await postgres.stop();
});

const deploymentName = 'carillon';

/** As `temporal worker deployment set-current-version`. */
async function makeCurrent(buildId: string): Promise<void> {
  const { namespace } = temporal.server;
  await until(`version ${buildId} is known, and current`, async () => {
    try {
      await temporal.client.workflowService.setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId });
      return true;
    } catch {
      return false;
    }
  });
}

/** Versions that took the steps of the campaign's workflow, each once, in order. */
async function readVersions({ client, id }: CampaignRun): Promise<string[]> {
  const { events } = await client.workflow.getHandle(campaignWorkflowId(id, 1)).fetchHistory();
  const builds = (events ?? []).flatMap(
    ({ workflowTaskCompletedEventAttributes: completed }) => completed?.deploymentVersion?.buildId ?? [],
  );
  return builds.filter((build, index) => build !== builds[index - 1]);
}

/** Has the campaign take steps until this version takes them. */
async function untilTakenOver(run: CampaignRun, buildId: string): Promise<void> {
  const handle = run.client.workflow.getHandle(campaignWorkflowId(run.id, 1));
  await until(`${buildId} takes the steps`, async () => {
    await handle.executeUpdate(lookAgainUpdate);
    return (await readVersions(run)).at(-1) === buildId;
  });
}

test('a campaign moves on to the version that is made current, and back, in its middle', async () => {
  const databaseUrl = await postgres.createDatabase('versions');
  await withRun({ id: 'versions', seed: 1021, temporal, databaseUrl, recipients: 40, settings: patient }, async (run) => {
    const start = (buildId: string) => run.startWorker({ TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId });
    const older = start('0.2.0');
    await makeCurrent('0.2.0');
    const newer = start('0.3.0');
    await until('both are ready', () => run.workers.every((worker) => worker.output().includes('is ready')));
    expect(newer.output()).toContain('set-current-version --deployment-name carillon --build-id 0.3.0');

    // The service holds a batch while versions change, so that the campaign cannot come to its end meanwhile.
    const { gates } = run.sandbox;
    const second = gates.set('batch_work_done', 2);
    await run.start();
    expect(await gates.waitUntilReached(second, patienceMs)).not.toBeNull();
    await makeCurrent('0.3.0');
    await untilTakenOver(run, '0.3.0');
    const third = gates.set('batch_work_done');
    await leave(run, older, second);
    expect(await gates.waitUntilReached(third, patienceMs)).not.toBeNull();
    start('0.2.0');
    await makeCurrent('0.2.0');
    await untilTakenOver(run, '0.2.0');
    await leave(run, newer, third);

    await run.untilEnd();
    await judgeRun(run);
    expect(await readVersions(run)).toEqual(['0.2.0', '0.3.0', '0.2.0']);
  });
});

/** Process id of the worker that sends the campaign's batch now. */
async function findSender(run: CampaignRun): Promise<number> {
  return until('a submit runs', async () => {
    const { raw } = await run.client.workflow.getHandle(campaignWorkflowId(run.id, 1)).describe();
    const submit = raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'submit');
    const pid = Number(submit?.lastWorkerIdentity?.split('@')[0]);
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  });
}

test('PostgreSQL may restart, a base backup with its archived log may take its place, and either of two workers may die', async () => {
  const databaseUrl = await postgres.createDatabase('campaign');
  await withRun({ id: 'postgres', seed: 1011, temporal, databaseUrl, recipients: 56, settings: patient }, async (run) => {
    const { gates } = run.sandbox;
    /** Number of the batch that has come to the gate. */
    const met = async (gate: string) => {
      const info = await gates.waitUntilReached(gate, patienceMs);
      if (info?.requestId == null) throw new Error(`no batch came\n${await run.describe()}`);
      return { n: Number(info.requestId.split('/').at(-2)), requestId: info.requestId };
    };
    const first = gates.set('batch_work_done');
    const worker = run.startWorker();
    await run.start();
    const { n: restarted } = await met(first);
    const { posts: sent } = await run.untilBatch(restarted, ['posting']);
    const second = gates.set('batch_received');
    await postgres.restart(async () => {
      gates.release(first);
      // The verdict has nowhere to go yet.
      await until('the worker has tried to write it', () => worker.output().includes('could not be written'));
    });
    expect(await run.untilBatch(restarted, ['confirmed'])).toMatchObject({ posts: sent });

    const { n: backedUp } = await met(second);
    const restore = await postgres.backUp();
    gates.release(second);
    await run.untilBatch(backedUp, ['confirmed']);
    expect(worker.hasEnded()).toBe(false);
    await worker.terminate();
    const calls = run.sandbox.calls().length;
    await restore();
    expect(await run.batch(backedUp)).toMatchObject({ state: 'confirmed' });

    // What the one that dies has sent is doubted for as long as its request may take.
    const third = gates.set('batch_work_done');
    const two = [1, 2].map(() => run.startWorker({ SVC_HEADERS_TIMEOUT_MS: '8000' }));
    const { requestId } = await met(third);
    const sender = await findSender(run);
    const [dead, alive] = two[0]?.pid === sender ? two : two.toReversed();
    expect(dead?.pid).toBe(sender);
    await until('the other one is ready', () => alive?.output().includes('is ready'));
    await dead?.kill();
    gates.release(third);
    await run.untilEnd();
    expect(alive?.hasEnded()).toBe(false);
    expect(run.sandbox.calls().length).toBeGreaterThan(calls);
    const { posts } = await judgeRun(run, { lostReplies: [requestId] });
    const unknown = posts
      .filter(({ verdict }) => verdict === null || verdict === 'unknown')
      .map(({ batch_id: batch, k }) => `${batch}/${k}`);
    expect(unknown).toEqual([requestId]);
  });
});

const hostsOf = (url: string, ...ports: number[]): string =>
  url.replace(/@[^/]+/, `@${ports.map((port) => `127.0.0.1:${port}`).join(',')}`);
const standbyWords = 'the database answers as a read-only standby';
const add = 'POST /api/v1/suppressions';
const body = { numbers: ['+12125550177'] };

test.for([1, 2, 3])('a COMMIT whose answer is lost is 503, and its key can be used at once: %i', async (n) => {
  const url = await postgres.createDatabase(`commit_${n}`);
  await (await openStore({ databaseUrl: url, sqlitePath: '' })).close();
  const store = await openStore({ databaseUrl: hostsOf(url, endpoint.port), sqlitePath: '' });
  onTestFinished(() => store.close());
  const world = await ApiWorld.over(store);
  // The use of the token is noted as well, beside the first request.
  expect((await world.ask(add, { body: { numbers: ['+12125550178'] } })).status).toBe(200);
  const lost = endpoint.loseAnswer('commit\0', n);
  const first = await world.ask(add, { key: 'k', body });
  await lost;
  expect(first).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  expect(first.headers['retry-after']).toBe('5');
  expect(await world.ask(add, { key: 'k', body })).toMatchObject({ status: 200 });
  expect(await findEntries(store.db, body.numbers)).toHaveLength(1);
});

test('a failover to a standby and back stops nothing for good, and one that lags is refused when it is promoted', async () => {
  const url = await postgres.createDatabase('failover');
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
    // Its look at the log each second keeps a connection of the worker in use.
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
    expect(await run.sandbox.gates.waitUntilReached(second, patienceMs)).not.toBeNull();
    await until('the stream has begun', () => stream.ids.length > 0);
    const direct = await openStore({ databaseUrl: url, sqlitePath: '' });
    onTestFinished(() => direct.close());
    // What it has of batch 2 is that it was going to be sent.
    await until('the standby has all there is', () => standby.hasAll());
    await standby.fallBehind();

    // The writer's name leads to the standby.
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
      expect(await runCommand([command], run.settings)).toMatchObject({
        code: 1,
        [command === 'status' ? 'stderr' : 'stdout']: expect.stringContaining(standbyWords) as string,
      });
    await until('the worker is not ready, and says why', async () => (await told(`${health}/readyz`)).includes(standbyWords));
    const faulty = 'carillon_database_fault{cause="standby"} 1';
    await until('its metrics say why', async () => (await told(`${metrics}/metrics`)).includes(faulty));
    expect(worker.output()).toContain(standbyWords);

    // Of two hosts, the one that may write.
    const both = await openStore({ databaseUrl: hostsOf(url, standby.port, primaryPort), sqlitePath: '' });
    expect(await both.transaction((tx) => both.now(tx))).toBeGreaterThan(0);
    await both.close();

    // After doctor, which asks the service as a dial does.
    const third = run.sandbox.gates.set('batch_received');
    // And back; the standby lives on, and with it the connections to it.
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
    expect((await runCommand(['status'], run.settings)).code).toBe(0);
    const met = await run.sandbox.gates.waitUntilReached(third, promised.limitMs);
    const batches = await direct.db.selectFrom('batches').select(['n', 'state']).where('n', '>', 1).orderBy('n').execute();
    expect(batches[0]).toEqual({ n: 2, state: 'confirmed' });
    expect(batches.at(-1)?.state).toBe('posting');

    // The primary dies, and the standby takes its place without the last that was committed.
    await standby.promote();
    endpoint.leadTo(standby.port);
    endpoint.drop();
    run.sandbox.gates.release(third);
    const result = temporal.client.workflow.getHandle(campaignWorkflowId(run.id, 1)).result();
    await expect(result).rejects.toMatchObject({ cause: { cause: { type: 'LedgerOlder' } } });
    const sent = run.sandbox.journal().flatMap(({ requestId }) => (requestId?.startsWith(`${run.id}/`) ? [requestId] : []));
    expect(sent).toEqual([`${run.id}/1/1/1`, `${run.id}/1/2/1`, met?.requestId]);
  });
  await hook.stop();
});
