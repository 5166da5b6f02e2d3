import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { usualLimits } from '../../../src/interfaces/api/core/http-server.ts';
import { startApi } from '../../../src/interfaces/api/server.ts';
import { until } from '../../support/until.ts';
import { ApiWorld } from './api-world.ts';

async function listen(world: ApiWorld): Promise<number> {
  await world.app.listen({ port: 0, host: '127.0.0.1' });
  return (world.app.server.address() as AddressInfo).port;
}

/** Sends raw bytes; returns all output until the server ends the connection. */
async function send(port: number, text: string): Promise<{ socket: Socket; answer: string }> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (part: string) => (answer += part));
  socket.on('error', () => {});
  socket.write(text);
  await once(socket, 'close').catch(() => {});
  return { socket, answer };
}

test('a server of this machine alone answers under its own names and no other', async () => {
  const { app } = await ApiWorld.empty({ isOwn: true });
  const ask = (host: string) => app.inject({ url: '/api/v1/openapi.json', headers: { host } });
  for (const host of ['localhost', 'localhost:4080', '127.0.0.1:9', '[::1]:4080'])
    expect([host, (await ask(host)).statusCode]).toEqual([host, 200]);
  for (const name of ['attacker.example', 'attacker.example:4080', '127.0.0.1.attacker.example', 'localhost@attacker.example'])
    expect([name, (await ask(name)).json()]).toMatchObject([name, { status: 421, code: 'foreign_host' }]);
});

test.each([
  [{ host: '127.0.0.1' }, 421],
  [{ host: '127.0.0.1', behindProxy: true }, 200],
])('a server at %o is asked by a foreign name, and answers %i', async (address, status) => {
  const world = await ApiWorld.empty();
  const running = await startApi(world.context, { ...address, port: 0, tls: null });
  const request = httpRequest(`${running.url}/api/v1/openapi.json`, { headers: { host: 'campaigns.example' } });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(status);
  await running.close();
});

test('a client that sends its request too slowly is let go', async () => {
  const world = await ApiWorld.empty({ limits: { headersMs: 60, requestMs: 120 } });
  const port = await listen(world);
  const head = 'POST /api/v1/suppressions/check HTTP/1.1\r\nHost: localhost\r\n';
  expect((await send(port, head)).answer).toMatch(/^HTTP\/1\.1 408 /);
  const begun = `${head}Authorization: Bearer ${world.tokenText('read')}\r\nContent-Type: application/json\r\n`;
  expect((await send(port, `${begun}Content-Length: 100\r\n\r\n{`)).answer).toMatch(/^HTTP\/1\.1 408 /);
  const { server } = (await ApiWorld.empty()).app;
  expect(server).toMatchObject({ headersTimeout: usualLimits.headersMs, requestTimeout: usualLimits.requestMs });
});

test('a file that is too large is refused while it comes, and nothing of it is left', async () => {
  const limits = { fileBytes: 100_000, lingerMs: 50 };
  const world = await ApiWorld.empty({ limits });
  const port = await listen(world);
  const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith('carillon-upload-'));
  const before = left();
  const head = [
    'POST /api/v1/campaigns/check HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${world.tokenText('read')}`,
    'Content-Type: multipart/form-data; boundary=b',
    'Transfer-Encoding: chunked',
    '\r\n',
  ].join('\r\n');
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  const socket = connect(port, '127.0.0.1');
  const closed = once(socket, 'close').catch(() => {});
  let answer = '';
  socket.setEncoding('utf8').on('data', (part: string) => (answer += part));
  socket.on('error', () => {});
  socket.write(head + chunk('--b\r\nContent-Disposition: form-data; name="campaign"; filename="x"\r\n\r\n'));
  // Only a refusal ends this.
  while (!socket.destroyed)
    if (!socket.write(chunk('x'.repeat(64_000)))) await Promise.race([once(socket, 'drain').catch(() => {}), closed]);
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(answer).toContain('The file campaign is too large.');
  await until('nothing is left of it', () => left().length === before.length);
});

test.each([
  ['a part whose name leads elsewhere', 'name="../../campaign"; filename="c"'],
  ['a file whose name leads elsewhere', 'name="campaign"; filename="../../../etc/passwd"'],
  ['a part without a name', 'filename="c"'],
])('%s is refused, and writes nothing', async (_, disposition) => {
  const world = await ApiWorld.empty();
  const payload = `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\nid: spring\r\n--b--\r\n`;
  const headers = { authorization: `Bearer ${world.tokenText('read')}`, 'content-type': 'multipart/form-data; boundary=b' };
  const answer = await world.app.inject({ method: 'POST', url: '/api/v1/campaigns/check', headers, payload });
  expect(answer.statusCode).toBe(400);
  expect(answer.body).not.toContain(tmpdir());
});

test('an error that was not expected is logged without its message, which may hold a number', async () => {
  let log = '';
  const logger = pino({ level: 'error' }, { write: (line: string) => (log += line) });
  const world = await ApiWorld.empty({ logger });
  world.fault = Object.assign(new Error('no seat for +12125550100\n(nor for +12125550101)'), { code: 'ERR_SEAT' });
  expect((await world.ask('GET /campaigns')).status).toBe(500);
  expect(log).not.toContain('5550');
  const line = JSON.parse(log) as { at: string[] };
  expect(line).toMatchObject({ error: 'Error', code: 'ERR_SEAT', route: '/api/v1/campaigns', msg: 'a request failed' });
  expect(line.at[0]).toMatch(/^at .*attacks\.test\.ts:\d+/);
});
