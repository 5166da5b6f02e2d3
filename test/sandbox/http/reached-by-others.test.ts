import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as rawRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { request } from 'undici';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { runSandbox } from '../../../src/interfaces/cli/sandbox/sandbox.ts';
import { addSandboxFlags, readSandboxFlags } from '../../../src/interfaces/cli/sandbox/flags.ts';
import { addressOf, mayBeCalled } from '../../../src/sandbox/core/allowed-host.ts';
import { createServer } from '../../../src/sandbox/server.ts';
import { Service } from '../../../src/sandbox/core/service/service.ts';
import { resolveSettings, type SandboxOptions } from '../../../src/sandbox/core/settings/settings.ts';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { createManualClock } from '../harness.ts';

const controlToken = 'a-token-of-the-control-plane';
const bearer = { authorization: `Bearer ${controlToken}` };
const key = { 'x-api-key': 'sk_sandbox_ok' };

afterEach(() => vi.unstubAllEnvs());

/** A sandbox set up for others to reach, of which this test has only the loopback side. */
async function startForOthers(options: SandboxOptions = {}): Promise<{ ask: Ask; port: number }> {
  const service = new Service(resolveSettings({ host: '0.0.0.0', controlToken, ...options }), createManualClock());
  const app = createServer(service);
  onTestFinished(async () => {
    service.close();
    await app.close();
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const ask: Ask = async (path, headers = {}) => {
    const answer = await request(`http://127.0.0.1:${port}${path}`, { headers });
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  return { ask, port };
}

type Ask = (path: string, headers?: Record<string, string>) => Promise<{ status: number; text: string }>;

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

test('whoever reaches it shows the control token to /_sandbox, and the page holds nothing before', async () => {
  const { ask } = await startForOthers();
  for (const path of ['/_sandbox', '/_sandbox/info', '/_sandbox/calls', '/_sandbox/page', '/_sandbox/events']) {
    expect([path, (await ask(path)).status]).toEqual([path, 401]);
    expect([path, (await ask(path, { authorization: 'Bearer wrong' })).status]).toEqual([path, 401]);
  }
  expect(await ask('/_sandbox/info', bearer)).toMatchObject({ status: 200 });
  const page = await ask('/');
  expect(page.text).toContain('id="sign-in-form"');
  expect(page.text).not.toContain('agent_reminders');
});

test('its live events flow with the token', async () => {
  const { port } = await startForOthers();
  const answer = await request(`http://127.0.0.1:${port}/_sandbox/events`, { headers: bearer });
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const [first] = (await once(answer.body, 'data')) as [Buffer];
  expect(first.toString()).toContain('retry: 1000');
  answer.body.destroy();
});

test('the operations go by the API key alone, whoever asks', async () => {
  const { ask } = await startForOthers();
  expect((await ask('/v1/convai/agents')).status).toBe(401);
  expect((await ask('/v1/convai/agents', bearer)).status).toBe(401);
  expect((await ask('/v1/convai/agents', { ...key, host: 'sandbox:4010' })).status).toBe(200);
});

test('a site whose name was pointed at it is refused, by HTTP and by WebSocket', async () => {
  const { ask, port } = await startForOthers();
  for (const path of ['/', '/v1/convai/agents', '/_sandbox/info', '/_sandbox/health', '/_sandbox/events', '/openapi.json'])
    for (const host of ['site.example', `site.example:${port}`, '192.0.2.7.site.example', 'internal.example'])
      expect([path, host, (await ask(path, { ...key, ...bearer, host })).status]).toEqual([path, host, 403]);
  const headers = { connection: 'Upgrade', upgrade: 'websocket', host: 'site.example' };
  const upgrade = rawRequest(`http://127.0.0.1:${port}/v1/convai/conversation`, { headers }).end();
  const [response] = await once(upgrade, 'response');
  response.resume();
  expect(response.statusCode).toBe(403);
});

test('a conversation is opened from a container by the signed address that it was given', async () => {
  const { ask, port } = await startForOthers();
  const headers = { host: `host.docker.internal:${port}` };
  const { text } = await ask('/v1/convai/conversation/get-signed-url?agent_id=agent_reminders', { ...key, ...headers });
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

test('the token comes from the environment or a file, the file first, and never from an argument', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-token-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'token');
  await writeFile(file, `${controlToken}\n`);
  vi.stubEnv('CARILLON_SANDBOX_TOKEN', 'the-token-of-the-environment');
  expect(await readSandboxFlags({ host: '0.0.0.0' })).toMatchObject({ controlToken: 'the-token-of-the-environment' });
  expect(await readSandboxFlags({ host: '0.0.0.0', controlTokenFile: file })).toMatchObject({ controlToken });
  const flags = addSandboxFlags(new Command(), '4010').options.map(({ long }) => long);
  expect(flags.filter((flag) => flag?.includes('token'))).toEqual(['--control-token-file']);
});

test('carillon sandbox --host without a token ends with code 2 and says how to give one', async () => {
  let said = '';
  const stream = { write: (text: string) => (said += text) };
  const io = { stdout: stream, stderr: stream, stop: AbortSignal.abort() };
  expect(await runSandbox({ host: '0.0.0.0', port: '0' }, io)).toBe(2);
  expect(said).toMatch(/^error: .*"0\.0\.0\.0".*--control-token-file.*CARILLON_SANDBOX_TOKEN/);
});
