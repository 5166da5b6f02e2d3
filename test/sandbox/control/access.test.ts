import { once } from 'node:events';
import { request as rawRequest, type IncomingMessage } from 'node:http';
import { request } from 'undici';
import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Command } from 'commander';
import { expect, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { runSandbox, type SandboxFlags } from '../../../src/interfaces/cli/sandbox/sandbox.ts';
import { addSandboxFlags, readSandboxFlags } from '../../../src/interfaces/cli/sandbox/flags.ts';
import { addressOf, mayBeCalled } from '../../../src/sandbox/core/allowed-host.ts';
import { resolveSettings } from '../../../src/sandbox/core/settings/settings.ts';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { noon, startTestSandbox, test } from '../harness.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { createModelAgent, holdConversation } from '../llm/model-server.ts';
import { createApp } from '../openapi/checks.ts';

const controlToken = 'a-token-of-the-control-plane';
const bearer = { headers: { authorization: `Bearer ${controlToken}` } };

test('with a control token everything under /_sandbox but health asks for it', async () => {
  const sandbox = await startTestSandbox({ controlToken });
  expect((await sandbox.get('/_sandbox/health')).status).toBe(200);
  for (const [method, path] of [
    ['GET', '/_sandbox/info'],
    ['GET', '/_sandbox/calls?limit=1'],
    ['GET', '/_sandbox/export'],
    ['POST', '/_sandbox/reset'],
    ['GET', '/_sandbox/nothing-here'],
    ['GET', '/_sandbox'],
    ['GET', '/_sandbox/%68ealth/../info'],
  ] as const) {
    const { status, body, headers } = await sandbox.request(method, path);
    expect([path, status, headers.get('www-authenticate'), body.detail.code]).toEqual([path, 401, 'Bearer', 'missing_control_token']);
    expect([401, 400]).not.toContain((await sandbox.request(method, path, undefined, bearer)).status);
  }
});

test('another token, or the API key, is no control token', async () => {
  const sandbox = await startTestSandbox({ controlToken });
  for (const authorization of ['Bearer wrong', controlToken, `Bearer ${controlToken}x`, 'Bearer sk_sandbox_ok', '']) {
    const { status, body } = await sandbox.request('GET', '/_sandbox/info', undefined, { headers: { authorization } });
    expect([status, JSON.stringify(body).includes(controlToken)]).toEqual([401, false]);
  }
});

test('the service itself asks for no control token, and takes none for a key', async () => {
  const sandbox = await startTestSandbox({ controlToken });
  expect((await sandbox.get('/v1/convai/agents')).status).toBe(200);
  const headers = { 'x-api-key': '', authorization: `Bearer ${controlToken}` };
  expect((await sandbox.request('GET', '/v1/convai/agents', undefined, { headers })).status).toBe(401);
});

test('calls still come in on numbers: the provider has a proof of its own', async () => {
  const sandbox = await startTestSandbox({ controlToken });
  const { body } = await sandbox.post('/_sandbox/inbound', { number: '+12125550199', from: '+12125550150' }, bearer);
  expect(body).toMatchObject({ answered: true, reason: null });
});

test('a short control token is refused without being shown', async () => {
  await expect(startSandbox({ controlToken: 'short' })).rejects.toThrow('at least 16 printable characters');
  await expect(startSandbox({ controlToken: 'short' })).rejects.not.toThrow('short');
});

test('info tells what this sandbox is, without secrets', async () => {
  const sandbox = await startTestSandbox({ controlToken, clock: 'manual', epochMs: noon, plan: 'pro', apiKeys: ['own-key'] });
  await sandbox.batch(['+12125550101', '+12125550102']);
  const { body } = await sandbox.request('GET', '/_sandbox/info', undefined, bearer);
  expect(body).toMatchObject({
    sandbox: true,
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    url: sandbox.url,
    dialect: 'extended',
    plan: 'pro',
    settings: { seed: 'test', concurrency: 20, control_token: true },
    clock: { mode: 'manual', now_ms: noon },
    storage: { kind: 'memory' },
    counts: { agents: 3, phone_numbers: 3, calls: { all: 2, dialing: 2 }, lines_in_use: 2, calls_waiting: 0 },
  });
  for (const secret of [controlToken, 'own-key', 'sk_sandbox_ok']) expect(JSON.stringify(body)).not.toContain(secret);
});

async function say(flags: SandboxFlags): Promise<string> {
  let said = '';
  const stream = { write: (text: string) => (said += text) };
  await runSandbox({ port: '0', ...flags }, { stdout: stream, stderr: stream, stop: AbortSignal.abort() });
  return said;
}

test('the banner says where the state is kept', async () => {
  const data = join(temporaryFolder(), 'sandbox.db');
  expect(await say({})).toContain('in memory: nothing is kept');
  const said = await say({ data, json: true });
  expect(said).toContain(`kept in ${data}`);
  expect(said).toContain('"storage":"file"');
  expect(said).toContain(`its state is in ${data}`);
});

test.each([
  ['realtime', { speed: 1 }],
  ['manual', { clock: 'manual' }],
  ['60x', { speed: 60 }],
  ['0.5x', { speed: 0.5 }],
])('--clock %s', async (clock, options) => {
  expect(await readSandboxFlags({ clock })).toMatchObject(options);
});

test('a clock that cannot be is refused', async () => {
  expect(await say({ clock: 'fast' })).toContain('--clock is "fast"; it must be realtime, manual, or a factor such as 60x.');
  expect(await say({ clock: '2x', speed: '2' })).toContain('give only one of them');
  expect(await say({ clock: '0x' })).toContain('speed is 0');
});

test('pages of other sites that are open in the same browser cannot use the controls', async ({ sandbox }) => {
  const reset = async (headers: Record<string, string>) => {
    const answer = await request(`${sandbox.url}/_sandbox/reset`, { method: 'POST', headers });
    const body = (await answer.body.json()) as { detail?: { code: string } };
    return [answer.statusCode, body.detail?.code];
  };
  for (const origin of ['https://site.example', 'null', 'http://127.0.0.1:1'])
    expect(await reset({ origin })).toEqual([403, 'foreign_site']);
  expect(await reset({ host: 'site.example' })).toEqual([403, 'foreign_host']);
  expect(await reset({ origin: sandbox.url })).toEqual([200, undefined]);
  expect(await reset({})).toEqual([200, undefined]);
});

test('a site whose name was pointed at this machine reads nothing, neither page nor operations', async ({ sandbox }) => {
  const { port } = sandbox;
  const ask = async (path: string, host: string, method: 'GET' | 'POST' = 'GET') => {
    const headers = { host, 'x-api-key': 'sk_sandbox_ok' };
    const answer = await request(`${sandbox.url}${path}`, { method, headers });
    await answer.body.dump();
    return answer.statusCode;
  };
  for (const path of ['/', '/v1/convai/agents', '/openapi.json', '/_sandbox/health', '/nothing', '/v1/nothing'])
    for (const host of [`site.example:${port}`, 'site.example', '0.0.0.0', '127.0.0.1.site.example'])
      expect([path, host, await ask(path, host)]).toEqual([path, host, 403]);
  expect(await ask('/v1/convai/agents', 'site.example', 'POST')).toBe(403);
  for (const host of [`127.0.0.1:${port}`, `LOCALHOST:${port}`, 'localhost', `[::1]:${port}`])
    expect([host, await ask('/v1/convai/agents', host)]).toEqual([host, 200]);
  const headers = { connection: 'Upgrade', upgrade: 'websocket', host: 'site.example' };
  const upgrade = rawRequest(`${sandbox.url}/v1/convai/conversation`, { headers }).end();
  const [response] = (await once(upgrade, 'response')) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(403);
});

test('LOCALHOST is localhost', async () => {
  const sandbox = await startTestSandbox({ host: 'LOCALHOST' });
  expect((await sandbox.get('/_sandbox/health')).status).toBe(200);
});

test('neither a webhook nor an own model may address the sandbox itself', async ({ sandbox }) => {
  const { port } = sandbox;
  for (const host of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]', '127.1.2.3', '2130706433']) {
    const url = `http://${host}:${port}/_sandbox/reset`;
    const webhook = await sandbox.post('/_sandbox/webhooks', { url, secret: 'a-secret-of-the-test' });
    expect([url, webhook.status, webhook.body.detail?.[0]?.msg]).toEqual([url, 422, 'Must not be an address of the sandbox itself.']);
  }
  const agentId = await createModelAgent(sandbox, `${sandbox.url}/_sandbox/reset?`, {
    llm: { backup_llm_config: { preference: 'disabled' } },
  });
  const record = await holdConversation(sandbox, agentId);
  expect(record.termination_reason).toMatch(/the sandbox does not connect to itself/);
  await expect(startSandbox({ port: 4_444, webhooks: [{ url: 'http://localhost:4444/', secret: 'a-secret-of-the-test' }] }))
    .rejects.toThrow('Must not be an address of the sandbox itself.'); // prettier-ignore
});

test.each(['0.0.0.0', '::', '192.0.2.7', 'sandbox.example'])(
  'a sandbox on %s, which others reach, is refused without a control token',
  async (host) => {
    await expect(startSandbox({ host })).rejects.toThrow(
      `The sandbox setting host is "${host}", which others can reach; that takes a control token. Give one in a file (--control-token-file) or in CARILLON_SANDBOX_TOKEN`,
    );
    expect(resolveSettings({ host, controlToken })).toMatchObject({ host, controlToken });
  },
);

test.each(['127.0.0.1', 'localhost', '::1', '127.3.2.1'])('on %s a sandbox needs no token', (host) => {
  expect(resolveSettings({ host })).toMatchObject({ host, controlToken: null });
});

/** Set up for others to reach; this test has only its loopback side. */
async function startForOthers(): Promise<{ ask: Ask; port: number }> {
  const app = createApp({ host: '0.0.0.0', controlToken });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const ask: Ask = async (path, headers = {}) => {
    const answer = await request(`http://127.0.0.1:${port}${path}`, { headers: { 'x-api-key': 'sk_sandbox_ok', ...headers } });
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  return { ask, port };
}

type Ask = (path: string, headers?: Record<string, string>) => Promise<{ status: number; text: string }>;

test('a conversation is opened from a container by the signed address that it was given, and a foreign name is refused', async () => {
  const { ask, port } = await startForOthers();
  for (const [host, status] of Object.entries({ 'site.example': 403, [`site.example:${port}`]: 403, 'sandbox:4010': 200 }))
    expect([host, (await ask('/v1/convai/agents', { host })).status]).toEqual([host, status]);
  expect((await ask('/_sandbox/info')).status).toBe(401);
  const headers = { host: `host.docker.internal:${port}` };
  const { text } = await ask('/v1/convai/conversation/get-signed-url?agent_id=agent_reminders', headers);
  const signed = new URL((JSON.parse(text) as { signed_url: string }).signed_url);
  expect(signed.host).toBe(headers.host);
  const socket = new WebSocket(`ws://127.0.0.1:${port}${signed.pathname}${signed.search}`, { headers });
  await once(socket, 'open');
  socket.close();
  await once(socket, 'close');
});

test.each([
  ['127.0.0.1', ['localhost', '127.0.0.1', '[::1]'], ['192.0.2.7', 'sandbox', 'site.example', 'a.internal', '0.0.0.0']],
  ['0.0.0.0', ['localhost', '192.0.2.7', '[2001:db8::7]', 'sandbox', 'host.docker.internal'], ['site.example', '[x]', '']],
  ['lab.example', ['lab.example', 'LAB.example', '127.0.0.1', 'sandbox'], ['x.lab.example', 'lab.example.site', 'ab.internal.com']],
] as const)('on %s it may be called %j, and not %j', (host, allowed, refused) => {
  for (const name of allowed) expect([name, mayBeCalled(name, host)]).toEqual([name, true]);
  for (const name of refused) expect([name, mayBeCalled(name, host)]).toEqual([name, false]);
});

test.each([
  ['0.0.0.0', 'http://127.0.0.1:4010'],
  ['::', 'http://[::1]:4010'],
  ['::1', 'http://[::1]:4010'],
  ['192.0.2.7', 'http://192.0.2.7:4010'],
])('what listens on %s is reached from here at %s', (host, address) => {
  expect(addressOf(host, 4010)).toBe(address);
});

test('the token comes from the environment or a file, the file first, never from an argument, and is shown nowhere', async () => {
  const file = join(temporaryFolder(), 'token');
  await writeFile(file, `${controlToken}\n`);
  vi.stubEnv('CARILLON_SANDBOX_TOKEN', 'the-token-of-the-environment');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await readSandboxFlags({ host: '0.0.0.0' })).toMatchObject({ controlToken: 'the-token-of-the-environment' });
  expect(await readSandboxFlags({ host: '0.0.0.0', controlTokenFile: file })).toMatchObject({ controlToken });
  const flags = addSandboxFlags(new Command(), '4010').options.map(({ long }) => long);
  expect(flags.filter((flag) => flag?.includes('token'))).toEqual(['--control-token-file']);
  expect(await say({ controlTokenFile: file, json: true })).not.toContain(controlToken);
  expect(await say({ controlTokenFile: `${file}.none` })).toContain('the file cannot be read: there is no such file');
  vi.unstubAllEnvs();
  expect(await say({ host: '0.0.0.0' })).toMatch(/^error: .*"0\.0\.0\.0".*--control-token-file.*CARILLON_SANDBOX_TOKEN/);
});
