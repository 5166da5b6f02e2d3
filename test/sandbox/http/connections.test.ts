import { once } from 'node:events';
import { request as rawRequest, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { createServer } from '../../../src/sandbox/server.ts';
import { Service } from '../../../src/sandbox/core/service/service.ts';
import { resolveSettings } from '../../../src/sandbox/core/settings/settings.ts';
import { createManualClock, startTestSandbox, test } from '../harness.ts';

const agents = '/v1/convai/agents';
const batches = '/v1/convai/phone-numbers/batch-calls';
const key = 'key-of-the-test-71c';
const keyed = { apiKeys: [key] };

test('Expect: 100-continue is answered, and the body that follows is read', async () => {
  const sandbox = await startTestSandbox(keyed);
  const body = JSON.stringify({ name: 'Waits' });
  const sent = rawRequest(sandbox.url + agents, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json', 'content-length': body.length, expect: '100-continue' },
  });
  sent.flushHeaders();
  await once(sent, 'continue');
  expect((await sandbox.read(agents)).agents).toHaveLength(3);
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(200);
  expect((await sandbox.read(agents)).agents).toHaveLength(4);
});

function newService(): Service {
  const service = new Service(resolveSettings({}), createManualClock());
  onTestFinished(() => service.close());
  return service;
}

test('a request has a minute to come, its body included, and its headers have a quarter of that', () => {
  const { requestTimeout, headersTimeout } = createServer(newService()).server;
  expect([requestTimeout, headersTimeout]).toEqual([60_000, 15_000]);
});

test.each([
  ['nothing', '', ''],
  ['headers that come one by one', `POST ${agents} HTTP/1.1\r\nhost: localhost\r\n`, 'x-more: 1\r\n'],
  ['a second request that comes so', 'GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\nGET /', 'a'],
])('a connection with %s is closed', async (_what, first, more) => {
  const app = createServer(newService(), 400);
  onTestFinished(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  socket.on('error', () => undefined).on('data', (data) => (text += String(data)));
  if (first !== '') socket.write(first);
  const trickle = setInterval(() => more !== '' && socket.writable && socket.write(more), 20);
  onTestFinished(() => clearInterval(trickle));
  await once(socket, 'close');
  expect(text).toMatch(/HTTP\/1\.1 408 [^]*"code":"request_timeout"/);
});

test('a body that comes byte by byte is cut off with 408, and nothing is done', async () => {
  const service = newService();
  const agentsBefore = service.state.agents.size;
  const app = createServer(service, 200);
  onTestFinished(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  const head = `POST ${agents} HTTP/1.1\r\nhost: localhost\r\nx-api-key: sk_sandbox_ok\r\ncontent-type: application/json`;
  socket.write(`${head}\r\ncontent-length: 1000000\r\n\r\n{"name":"`);
  const trickle = setInterval(() => socket.write('A'), 10);
  onTestFinished(() => clearInterval(trickle));
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(String(answer)).toMatch(/^HTTP\/1\.1 408 [^]*"code":"request_timeout"/);
  await once(socket, 'close');
  expect(service.state.agents.size).toBe(agentsBefore);
});

test('an aborted upload does nothing', async () => {
  const sandbox = await startTestSandbox(keyed);
  const body = JSON.stringify({
    agent_id: 'agent_reminders',
    from_phone_number_id: 'pn_main',
    calls: [{ to_phone_number: '+12125550150' }],
  });
  const head = [`POST ${batches} HTTP/1.1`, 'host: localhost', `x-api-key: ${key}`, 'content-type: application/json'];
  for (const [nth, sentBytes] of [0, 10, body.length - 1].entries()) {
    const socket = connect(sandbox.port, '127.0.0.1');
    socket.write(`${[...head, `content-length: ${body.length}`].join('\r\n')}\r\n\r\n${body.slice(0, sentBytes)}`);
    await expect.poll(() => sandbox.journal().length).toBe(nth + 1);
    socket.destroy();
    await expect.poll(() => sandbox.journal()[nth]?.ending).toBe('aborted');
  }
  expect(sandbox.calls()).toEqual([]);
  expect((await sandbox.batch(['+12125550150'])).status).toBe(200);
});
