import { mkdir, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findingsOf } from '../../../../src/interfaces/cli/local/doctor.ts';
import { Around, type Finding } from '../../../../src/interfaces/cli/local/doctor-check.ts';
import { evaluateNodeVersion, evaluateZoneData } from '../../../../src/interfaces/cli/local/doctor-machine.ts';
import { evaluateClock } from '../../../../src/interfaces/cli/local/doctor-service.ts';
import { startConnectProxy, tunnelTo } from '../../../support/connect-proxy.ts';
import { startSandbox } from '../../../../src/sandbox/start.ts';
import { sharedTemporal } from '../../../support/temporal-for-tests.ts';
import { sharedServer } from '../../../support/shared-server.ts';
import { makeProgram, versionScript } from '../../../temporal/fake-programs.ts';
import { runCommand } from '../terminal.ts';
import { readConfig, type Config } from '../../../../src/shared/config.ts';
import { appendEvents } from '../../../../src/ledger/events.ts';
import { readClock } from '../../../../src/operations/control/service.ts';
import { openStore } from '../../../../src/ledger/open-ledger.ts';
import { addTestWebhook } from '../../../shared/hooks/webhook-world.ts';
import { noon } from '../../../ledger/scenario.ts';
import { createWorld } from '../campaign-world.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const webhooksOf = (config: Config, now: number) => findingsOf(new Around(config, now), ['Webhooks']);
const proxiesOf = (config: Config) => findingsOf(new Around(config, noon), ['Proxy']);
const workersOf = (config: Config) => findingsOf(new Around(config, Date.now()), ['Worker']);

const key = 'sk_sandbox_doctor_planted_key';

interface Examined {
  findings: Record<string, Finding>;
  exitCode: number;
  stdout: string;
}

/** On a machine with a Temporal program and an empty folder, changed by `env`. */
async function examine(env: Record<string, string> = {}, json = true): Promise<Examined> {
  const folder = temporaryFolder();
  await makeProgram(join(folder, 'bin'), 'temporal', versionScript());
  const own = { PATH: join(folder, 'bin'), HOME: folder, CARILLON_DB: join(folder, 'carillon.db'), SVC_BASE_URL: 'http://127.0.0.1:1' };
  const { code: exitCode, stdout } = await runCommand(['doctor', ...(json ? ['--json'] : [])], { env: { ...own, ...env } });
  const { findings } = json ? (JSON.parse(stdout) as { findings: Finding[] }) : { findings: [] };
  return { findings: Object.fromEntries(findings.map((finding) => [finding.name, finding])), exitCode, stdout };
}

async function startService(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function startSandboxWithKey(): Promise<string> {
  const sandbox = await startSandbox({ apiKeys: [key], speed: 120 });
  onTestFinished(() => sandbox.close());
  return sandbox.url;
}

test('a machine on which everything works: exit code 0, every part told, the key nowhere', async () => {
  const { findings, exitCode, stdout } = await examine({ SVC_BASE_URL: await startSandboxWithKey(), SVC_API_KEY: key });
  expect(Object.values(findings).filter(({ status }) => status === 'fault')).toEqual([]);
  expect(exitCode).toBe(0);
  expect(findings['Temporal program']?.detail).toMatch(/bin\/temporal \(on PATH\), server 1\.29\.1/);
  expect(findings['Service']?.detail).toMatch(/sandbox, dialect extended, time x120/);
  expect(findings['API key']?.detail).toBe('accepted');
  expect(findings['Database']?.detail).toMatch(/SQLite .*carillon\.db, will be made/);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, findings: expect.any(Array) });
  expect(stdout).not.toContain(key);
});

test('for people each finding is a line, and a fault says what to do and sets exit code 1', async () => {
  const { stdout, exitCode } = await examine({ SVC_BASE_URL: await startSandboxWithKey(), SVC_API_KEY: 'wrong-key' }, false);
  expect(stdout).toMatch(/FAULT {4}API key +refused by the service with status 401\n +Check SVC_API_KEY/);
  expect(stdout).toMatch(/Carillon cannot work here as it is set up\. Faults: 1/);
  expect(stdout).not.toContain('wrong-key');
  expect(exitCode).toBe(1);
});

test('a missing key is a fault once there is a service', async () => {
  const { findings } = await examine({ SVC_BASE_URL: await startSandboxWithKey() });
  expect(findings['API key']).toMatchObject({ status: 'fault', advice: expect.stringContaining('SVC_API_KEY') });
});

test('a service that is not a sandbox is said to be real, and its clock is compared', async () => {
  const url = await startService((request, response) => {
    response.setHeader('date', new Date(Date.now() + 3_600_000).toUTCString());
    if (request.url?.startsWith('/v1/convai/conversations') !== true) return response.writeHead(404).end();
    return response.end(JSON.stringify({ conversations: [], has_more: false }));
  });
  const { findings } = await examine({ SVC_BASE_URL: url, SVC_API_KEY: key });
  expect(findings['Service']?.detail).toContain('a real service: calls reach people');
  expect(findings['Clock']).toMatchObject({
    status: 'fault',
    advice: expect.stringContaining('Nobody is dialled'),
    detail: expect.stringMatching(/^3(599|60\d)\.\d s from/),
  });
});

test.each([
  [1_000, 'ok'],
  [-29_000, 'ok'],
  [40_000, 'warning'],
  [299_000, 'warning'],
  [-3_600_000, 'fault'],
])('a clock that is %d ms apart from the service is %s', (offsetMs, status) => {
  const sentAtMs = 1_000_000;
  const finding = evaluateClock({ serverMs: sentAtMs + offsetMs, sentAtMs, receivedAtMs: sentAtMs + 100 });
  expect(finding.status).toBe(status);
});

test('an address at which nothing listens is a warning on this machine and a fault elsewhere', async () => {
  expect((await examine()).findings['Service']).toMatchObject({
    status: 'warning',
    advice: expect.stringContaining('carillon sandbox'),
  });
  const elsewhere = await examine({ SVC_BASE_URL: 'https://0.0.0.0:1' });
  expect(elsewhere.findings['Service']).toMatchObject({ status: 'fault' });
  expect(elsewhere.exitCode).toBe(1);
});

test('a Temporal server that runs is told with its version, one that does not is a fault', async () => {
  const server = await sharedTemporal();
  const { findings } = await examine({ TEMPORAL_ADDRESS: server.address });
  expect(findings['Temporal server']).toMatchObject({
    status: 'ok',
    detail: expect.stringMatching(/namespace default, server 1\./),
  });
  const missing = await examine({ TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: 'absent' });
  expect(missing.findings['Temporal server']).toMatchObject({
    status: 'fault',
    detail: expect.stringContaining('no namespace "absent"'),
  });
});

test('without a Temporal program the doctor says what will happen, and a wrong one configured is a fault', async () => {
  const none = (await examine({ PATH: '/nonexistent' })).findings['Temporal program'];
  expect(none).toMatchObject({ status: 'warning', detail: expect.stringContaining('no Go to build it') });
  const folder = temporaryFolder();
  await makeProgram(folder, 'go', 'exit 0');
  const withGo = (await examine({ PATH: folder })).findings['Temporal program'];
  expect(withGo).toMatchObject({ status: 'warning', advice: expect.stringContaining('2-4 minutes') });
  const wrong = await examine({ CARILLON_TEMPORAL_BIN: '/nonexistent/temporal' });
  expect(wrong.findings['Temporal program']).toMatchObject({
    status: 'fault',
    detail: expect.stringContaining('/nonexistent/temporal'),
  });
});

test('a database file that is none, or whose folder is missing, is a fault', async () => {
  const folder = temporaryFolder();
  const picture = join(folder, 'carillon.db');
  await writeFile(picture, 'this is a picture, not a database. '.repeat(100));
  expect((await examine({ CARILLON_DB: picture })).findings['Database']).toMatchObject({ status: 'fault' });
  await mkdir(join(folder, 'as-a-folder'));
  expect((await examine({ CARILLON_DB: join(folder, 'as-a-folder') })).findings['Database']).toMatchObject({
    status: 'fault',
  });
  const missing = await examine({ CARILLON_DB: join(folder, 'absent', 'carillon.db') });
  expect(missing.findings['Database']).toMatchObject({
    status: 'fault',
    detail: expect.stringMatching(/cannot be written .*ENOENT/),
  });
});

test('a PostgreSQL that answers is told with its version; wrong ones are faults without their password', async () => {
  const url = await sharedServer('postgres');
  const { password } = new URL(url);
  const withPassword = (word: string) => url.replace(password, word);

  const good = await examine({ DATABASE_URL: url });
  expect(good.findings['Database']).toMatchObject({
    status: 'ok',
    detail: expect.stringMatching(/^PostgreSQL \d+.* at 127/),
  });
  expect(good.stdout).not.toContain(password);

  const wrong = await examine({ DATABASE_URL: withPassword('other-password') });
  expect(wrong.findings['Database']).toMatchObject({ status: 'fault', detail: expect.stringContaining('password') });
  expect(wrong.stdout).not.toContain('other-password');

  const closed = await examine({ DATABASE_URL: 'postgres://doctor:planted-password@127.0.0.1:1/postgres' });
  expect(closed.findings['Database']).toMatchObject({
    status: 'fault',
    detail: expect.stringContaining('ECONNREFUSED'),
  });
  expect((await examine({ DATABASE_URL: 'mysql://x' })).findings['Database']).toMatchObject({ status: 'fault' });
});

test.each([
  ['2025c', '2026-01-15', 'ok', '2025c, about 1 months old'],
  ['2025c', '2026-11-15', 'warning', '2025c, about 11 months old'],
  ['2026f', '2026-11-21', 'ok', '2026f, about 1 months old'],
  ['2026e', '2026-11-21', 'warning', '2026e, older than 2026f'],
  ['2026g', '2027-11-21', 'ok', '2026g, newer than the releases that this version of Carillon knows'],
  ['2031a', '2031-05-01', 'ok', '2031a, newer than the releases that this version of Carillon knows'],
  ['unheard', '2026-01-15', 'warning', 'moment-timezone does not tell which it has'],
])('time-zone data %s on %s is %s', (release, day, status, detail) => {
  expect(evaluateZoneData(Date.parse(day), release)).toMatchObject({ status, detail });
});

test.each([
  ['20.19.0', 'ok'],
  ['24.1.0', 'ok'],
  ['20.18.3', 'fault'],
  ['18.20.0', 'fault'],
])('Node %s is %s', (version, status) => {
  expect(evaluateNodeVersion(version).status).toBe(status);
});

test('a name that is none of a setting is refused with the nearest one; what a cluster says of its services is none of ours', async () => {
  const run = (env: Record<string, string>) =>
    runCommand(['doctor'], { env: { CARILLON_DB: join(temporaryFolder(), 'carillon.db'), PATH: '', ...env } });
  const misspelt = await run({ CARILLON_POSTING_WINDOWS_MS: '5000', SVC_APIKEY: 'planted', CARILLON_FLOWERS: 'red' });
  expect(misspelt).toMatchObject({ code: 2, stdout: '' });
  expect(misspelt.stderr).toContain('CARILLON_POSTING_WINDOWS_MS is no setting. Did you mean CARILLON_POSTING_WINDOW_MS?');
  expect(misspelt.stderr).toContain('SVC_APIKEY is no setting. Did you mean SVC_API_KEY?');
  expect(misspelt.stderr).toMatch(/CARILLON_FLOWERS is no setting\.$/m);
  expect(misspelt.stderr).not.toContain('planted');
  const cluster = {
    CARILLON_SERVICE_HOST: '10.0.0.1', CARILLON_METRICS_SERVICE_PORT_HTTP: '9464', SVC_PORT: 'tcp://10.0.0.2:80',
    CARILLON_METRICS_PORT_9464_TCP_ADDR: '10.0.0.1', CARILLON_URL_CRM: 'https://crm.example.com', CARILLON_SANDBOX_URL: 'http://127.0.0.1:1',
  }; // prettier-ignore
  expect((await run(cluster)).stdout).toContain('Carillon can');
});

const hourMs = 3_600_000;

test('doctor names webhooks that fail or are disabled, without their addresses', async () => {
  const sqlitePath = join(temporaryFolder(), 'carillon.db');
  const config = readConfig({ CARILLON_DB: sqlitePath });
  expect(await webhooksOf(config, noon)).toEqual([]);
  const change = async (work: (store: Awaited<ReturnType<typeof openStore>>) => Promise<unknown>) => {
    const store = await openStore({ sqlitePath });
    await work(store);
    await store.close();
  };
  await change((store) => addTestWebhook(store, 'https://crm.example.com/secret-path'));
  await change((store) => addTestWebhook(store, 'https://old.example.com/', { webhookId: '00c0ffee0002' }));
  expect(await webhooksOf(config, noon)).toEqual([{ name: 'Webhooks', status: 'ok', detail: '2, none of which fails', advice: null }]);
  await change(({ db }) =>
    db
      .updateTable('webhooks')
      .set({ failures: 12, failing_since_real: noon - 3 * hourMs, failed_real: noon, fault: 'status', status: 500 })
      .where('webhook_id', '=', '00c0ffee0001')
      .execute(),
  );
  await change(({ db }) =>
    db.updateTable('webhooks').set({ state: 'disabled', reason: 'it answered 410' }).where('webhook_id', '=', '00c0ffee0002').execute(),
  );
  const [finding] = await webhooksOf(config, noon);
  expect(finding).toMatchObject({
    status: 'warning',
    advice: expect.stringContaining('carillon webhook test 00c0ffee'),
  });
  expect(finding?.detail).toMatch(
    /^2 of 2: .*00c0ffee0001 \(crm\.example\.com\) failing for 3 h 0 min: 12 failures, the last one status 500/,
  );
  expect(finding?.detail).toContain('00c0ffee0002 (old.example.com) disabled: it answered 410');
  expect(finding?.detail).not.toContain('secret-path');
  // An operator requested the pause.
  await change(({ db }) => db.updateTable('webhooks').set({ state: 'paused' }).execute());
  expect(await webhooksOf(config, noon)).toMatchObject([{ status: 'ok' }]);
  // A receiver that accepts less than comes is not a failure.
  const served = readConfig({ CARILLON_DB: sqlitePath, SVC_BASE_URL: await startSandboxWithKey() });
  const at = Math.round((await readClock(served)).now());
  const data = { from: 'running', to: 'paused', reason: null } as const;
  await change((store) => store.transaction((tx) => appendEvents(tx, [{ at, campaignId: 'spring', type: 'campaign.state', data }])));
  const [held] = await webhooksOf(served, Date.now() + hourMs);
  expect(held).toMatchObject({ status: 'ok', detail: expect.stringMatching(/paused, 1 event waits, the oldest for 60 min/) });
  await change(({ db }) => db.updateTable('webhooks').set({ state: 'active', failures: 0, failing_since_real: null }).execute());
  expect(await webhooksOf(config, noon)).toMatchObject([{ status: 'ok' }]);
  const [behind] = await webhooksOf(served, Date.now() + hourMs);
  expect(behind).toMatchObject({ status: 'warning', detail: expect.stringMatching(/active, 1 event waits, the oldest for 60 min; /) });
});

test('doctor looks for workers of this database', async () => {
  const world = await createWorld();
  const config = readConfig(world.env);
  expect(await workersOf(config)).toEqual([]);
  await (await openStore({ sqlitePath: config.CARILLON_DB })).close();
  expect(await workersOf(config)).toMatchObject([
    { name: 'Worker', status: 'warning', advice: expect.stringContaining('carillon worker') as string },
  ]);
  await world.work();
  expect(await workersOf(config)).toMatchObject([{ name: 'Worker', status: 'ok' }]);
  // An unreachable Temporal is reported elsewhere.
  expect(await workersOf({ ...config, TEMPORAL_ADDRESS: '127.0.0.1:1' })).toEqual([]);
});

test('doctor says which proxy is used for what, and names a hook to whose address it opens no tunnel', async () => {
  const proxy = await startConnectProxy((_authority, nth) => (nth === 1 ? tunnelTo(null) : { status: 403 }), 'user:s3cret');
  const sqlitePath = join(temporaryFolder(), 'carillon.db');
  const env = { CARILLON_DB: sqlitePath, CARILLON_HOOK_NETWORKS: '203.0.113.0/24', https_proxy: proxy.proxies.https?.value ?? '' };
  const store = await openStore({ sqlitePath });
  await addTestWebhook(store, 'https://203.0.113.9/secret-path');
  await store.close();
  expect(await proxiesOf(readConfig({ CARILLON_DB: sqlitePath }))).toEqual([]);
  const settings = { ...env, SVC_BASE_URL: 'https://203.0.113.8', TEMPORAL_ADDRESS: '127.0.0.1:7233', NO_PROXY: 'corp' };
  const named = `${proxy.url} (https_proxy)`;
  const detail = `the service: ${named}; Temporal: none; hooks, webhooks and lists elsewhere: ${named}, but for NO_PROXY`;
  expect(await proxiesOf(readConfig(settings))).toEqual([{ name: 'Proxy', status: 'ok', detail, advice: null }]);
  const [, hook] = await proxiesOf(readConfig(settings));
  expect(hook).toMatchObject({
    status: 'warning',
    detail: expect.stringMatching(/^no way to 203\.0\.113\.9: .*refuses the tunnel with status 403/),
  });
  expect(JSON.stringify(hook)).not.toMatch(/secret-path|s3cret/);
  const [wrong] = await proxiesOf(readConfig({ ...settings, https_proxy: 'socks5://me:s3cret@h:1' }));
  expect(wrong).toMatchObject({ status: 'fault', detail: expect.stringMatching(/^https_proxy cannot be used((?!s3cret).)*$/) });
  expect((await examine({ https_proxy: 'http://127.0.0.1:9' })).findings['Proxy']).toMatchObject({ status: 'ok' });
});
