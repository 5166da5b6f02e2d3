import { once } from 'node:events';
import { request as rawRequest, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createServer } from '../../src/sandbox/server.ts';
import { Service } from '../../src/sandbox/core/service/service.ts';
import { resolveSettings } from '../../src/sandbox/core/settings/settings.ts';
import { createManualClock, startTestSandbox, type Json, type TestSandbox } from './harness.ts';
import { describedAnswers } from './model/described-answers.ts';

/*
 * What callers get wrong or try, a test for each. Bodies bent in every field are in fuzz.test.ts, what costs money in
 * attacks-on-money.test.ts.
 *
 * | of sockets                           | in                      | under                                                                |
 * | ------------------------------------ | ----------------------- | -------------------------------------------------------------------- |
 * | signed URL used again                | sockets-attacks.test.ts | a signed address that was used is refused                            |
 * | expired, wrong agent, two at once    | sockets-attacks.test.ts | holds for fifteen minutes; serves no other agent; of two sockets     |
 * | no initiation                        | sockets.test.ts         | a client that never sends initiation data                            |
 * | no pong                              | sockets-attacks.test.ts | a client that answers no ping is gone after twenty seconds           |
 * | garbage, 1 MB frame, half-closed     | sockets-attacks.test.ts | the frame … ends; a frame of a megabyte; a half-closed connection    |
 */

const agents = '/v1/convai/agents';
const numbers = '/v1/convai/phone-numbers';
const conversations = '/v1/convai/conversations';
const batches = `${numbers}/batch-calls`;
const key = 'key-of-the-test-71c';
const keyed = { apiKeys: [key] };

async function createdAgent(sandbox: TestSandbox, body: unknown): Promise<Json> {
  const { status, body: created } = await sandbox.request('POST', agents, body);
  expect({ status, created }).toMatchObject({ status: 200 });
  return (await sandbox.get(`${agents}/${created.agent_id}`)).body;
}

async function expectRefused(sandbox: TestSandbox, body: unknown, status: number, loc: (string | number)[] | null = null): Promise<void> {
  const before = (await sandbox.get(agents)).body;
  const answer = await sandbox.request('POST', agents, body);
  expect(answer.status).toBe(status);
  expect(describedAnswers('extended')('create_agent', answer.status, answer.body)).toBeNull();
  if (loc !== null) expect(answer.body.detail[0].loc).toEqual(['body', ...loc]);
  expect((await sandbox.get(agents)).body).toEqual(before);
}

/** A request whose headers are sent as they are given, names repeated and all. */
async function raw(
  sandbox: TestSandbox,
  method: string,
  path: string,
  headers: string[],
): Promise<{ status: number; headers: IncomingMessage['headers']; text: string }> {
  const sent = rawRequest(sandbox.url + path, { method, headers: ['host', new URL(sandbox.url).host, ...headers] });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}

test('an unknown key is refused, and named', async () => {
  await expectRefused(await startTestSandbox(), { name: 'A', colour: 'red' }, 422, ['colour']);
});

test('a wrong type is refused, and named', async () => {
  await expectRefused(await startTestSandbox(), { name: ['A'] }, 422, ['name']);
});

test('null for what must be there is refused, and named', async () => {
  await expectRefused(await startTestSandbox(), { name: null }, 422, ['name']);
});

test('empty text for a name, and an empty body, are refused', async () => {
  const sandbox = await startTestSandbox();
  await expectRefused(sandbox, { name: '' }, 422, ['name']);
  await expectRefused(sandbox, {}, 422, ['name']);
  await expectRefused(sandbox, '', 422);
});

test('a huge text is refused where there is a limit, and kept whole where there is none', async () => {
  const sandbox = await startTestSandbox();
  await expectRefused(sandbox, { name: 'x'.repeat(100_000) }, 422, ['name']);
  const prompt = 'x'.repeat(1_000_000);
  const read = await createdAgent(sandbox, { name: 'A', conversation_config: { agent: { prompt: { prompt } } } });
  expect(read.conversation_config.agent.prompt.prompt).toBe(prompt);
});

test.each([
  ['Unicode beyond the first plane', '𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠜎'],
  ['right to left', '\u202eשלום עולם\u202c'],
  ['emoji of several parts', '👩‍👩‍👧‍👦🇬🇧'],
  ['combining marks', 'e\u0301\u0323'],
])('%s comes back as it was sent, and can be searched for', async (_what, name) => {
  const sandbox = await startTestSandbox();
  const read = await createdAgent(sandbox, { name, tags: [name] });
  expect([read.name, read.tags]).toEqual([name, [name]]);
  const { body } = await sandbox.get(`${agents}?search=${encodeURIComponent(name)}`);
  expect(body.agents.map((agent: Json) => agent.agent_id)).toEqual([read.agent_id]);
});

test('__proto__ is refused at any depth, and pollutes nothing', async () => {
  const sandbox = await startTestSandbox();
  for (const body of [
    '{"name":"A","__proto__":{"admin":true}}',
    '{"name":"A","conversation_config":{"agent":{"__proto__":{"admin":true}}}}',
    '{"name":"A","constructor":{"prototype":{"admin":true}}}',
  ]) {
    const answer = await sandbox.request('POST', agents, body);
    expect([400, 422]).toContain(answer.status);
  }
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
});

test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml'])(
  'the wrong content type %s is refused with 415',
  async (type) => {
    const sandbox = await startTestSandbox();
    const answer = await sandbox.request('POST', agents, '{"name":"A"}', { headers: { 'content-type': type } });
    expect([answer.status, answer.body.detail.message]).toEqual([415, expect.stringContaining('application/json')]);
    expect((await sandbox.get(agents)).body.agents).toHaveLength(3);
  },
);

test.each([agents, conversations, numbers, `${agents}/agent_survey`, batches])(
  'a trailing slash after %s leads nowhere, and the answer says so',
  async (path) => {
    const sandbox = await startTestSandbox();
    const answer = await sandbox.get(`${path}/`);
    expect(answer.status).toBe(404);
    expect(answer.body.detail.message).toMatch(/Nothing is served at|leave the last slash out/);
  },
);

test.each([
  ['HEAD', agents],
  ['OPTIONS', agents],
  ['HEAD', `${conversations}/nothing`],
  ['OPTIONS', batches],
])('%s %s is no method of the service', async (method, path) => {
  const sandbox = await startTestSandbox(keyed);
  const answer = await raw(sandbox, method, path, ['x-api-key', key]);
  expect(answer.status).toBe(405);
  expect(answer.headers.allow).toMatch(/GET|POST/);
  if (method === 'HEAD') expect(answer.text).toBe('');
});

test.each([
  ['PUT', `${agents}/agent_survey`, 'GET, PATCH, DELETE'],
  ['DELETE', agents, 'POST, GET'],
  ['POST', `${agents}/agent_survey`, 'GET, PATCH, DELETE'],
  ['GET', batches, 'POST'],
  ['DELETE', `${numbers}/pn_main`, 'PATCH'],
])('the method %s is not allowed on %s, and those that are come with the answer', async (method, path, allowed) => {
  const sandbox = await startTestSandbox({ dialect: 'spec' });
  const answer = await sandbox.request(method, path);
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, allowed]);
  expect(answer.body.detail.code).toBe('method_not_allowed');
});

test.each([
  ['DELETE', batches, 'POST'],
  ['PATCH', batches, 'POST'],
  ['DELETE', `${agents}/create`, 'POST'],
  ['GET', `/v1/convai/batch-calling/submit`, 'POST'],
  ['DELETE', `/v1/convai/batch-calling/workspace`, 'GET'],
])('a fixed path is no id: %s %s is not allowed, with or without a key', async (method, path, allowed) => {
  const sandbox = await startTestSandbox(keyed);
  for (const init of [{}, { headers: { 'x-api-key': '' } }]) {
    const answer = await sandbox.request(method, path, undefined, init);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allowed]);
    expect(answer.body.detail.code).toBe('method_not_allowed');
  }
  expect(sandbox.conduct().checks.find(({ name }) => name === 'deleted_use')?.violationCount).toBe(0);
});

test.each<[string, string[], string]>([
  ['a missing x-api-key', [], 'missing_api_key'],
  ['an empty x-api-key', ['x-api-key', ''], 'missing_api_key'],
  ['a blank x-api-key', ['x-api-key', '   '], 'missing_api_key'],
  ['a duplicated x-api-key', ['x-api-key', key, 'x-api-key', key], 'invalid_api_key'],
  ['two x-api-keys of which one is good', ['x-api-key', 'nope', 'x-api-key', key], 'invalid_api_key'],
])('%s is refused with 401, and no key is repeated', async (_what, headers, code) => {
  const sandbox = await startTestSandbox(keyed);
  const answer = await raw(sandbox, 'GET', agents, headers);
  expect([answer.status, JSON.parse(answer.text).detail.code]).toEqual([401, code]);
  expect(answer.text + JSON.stringify(sandbox.journal())).not.toContain(key);
});

test.each(['a%2Fb', '%2F', 'agent_survey%2F', '..%2Fagents%2Fagent_survey', '%2e%2e%2fagent_survey'])(
  'the path parameter %s is an id that nobody has, not a way to another path',
  async (id) => {
    const sandbox = await startTestSandbox();
    for (const path of [`${agents}/${id}`, `${conversations}/${id}`]) expect((await sandbox.get(path)).status).toBe(404);
    expect((await sandbox.request('DELETE', `${agents}/${id}`)).status).toBe(404);
    expect((await sandbox.get(`${agents}/agent_survey`)).status).toBe(200);
  },
);

test('a body of 10 MB is refused with 413, and the service goes on', async () => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.request('POST', agents, JSON.stringify({ name: 'x'.repeat(10_000_000) }));
  expect(answer.status).toBe(413);
  expect(describedAnswers('extended')('create_agent', 413, answer.body)).toBeNull();
  expect((await sandbox.get(agents)).body.agents).toHaveLength(3);
});

test('Expect: 100-continue is answered, and the body that follows is read', async () => {
  const sandbox = await startTestSandbox(keyed);
  const body = JSON.stringify({ name: 'Waits' });
  const sent = rawRequest(sandbox.url + agents, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json', 'content-length': body.length, expect: '100-continue' },
  });
  sent.flushHeaders();
  await once(sent, 'continue');
  expect((await sandbox.get(agents)).body.agents).toHaveLength(3);
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(200);
  expect((await sandbox.get(agents)).body.agents).toHaveLength(4);
});

test('QUERY and other methods that HTTP parsers do not know are answered with 405 as well', async () => {
  const sandbox = await startTestSandbox();
  for (const [method, path, status, allow] of [
    ['QUERY', `${agents}?page_size=1`, 405, 'POST, GET'],
    ['QUERY', batches, 405, 'POST'],
    ['BREW', `${agents}/agent_survey`, 405, 'GET, PATCH, DELETE'],
  ] as const) {
    const socket = connect(sandbox.port, '127.0.0.1');
    socket.end(`${method} ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n`);
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect([method, Number(text.slice(9, 12)), /\r\nallow: ([^\r]*)/i.exec(text)?.[1]]).toEqual([method, status, allow]);
    expect(text).toContain('method_not_allowed');
  }
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

test('what is deleted twice is 404 the second time', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.batch(['+12125550150']);
  const [call] = sandbox.calls();
  for (const path of [`${conversations}/${call?.conversationId}`, `${agents}/agent_survey`]) {
    const answers = [await sandbox.request('DELETE', path), await sandbox.request('DELETE', path)];
    expect(answers.map(({ status }) => status)).toEqual([200, 404]);
  }
});

test('use after delete is 404 everywhere, and the conduct report tells of it', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.request('DELETE', `${agents}/agent_survey`);
  const answers = [
    await sandbox.get(`${agents}/agent_survey`),
    await sandbox.request('PATCH', `${agents}/agent_survey`, { conversation_config: {} }),
    await sandbox.request('PATCH', `${numbers}/pn_main`, { agent_id: 'agent_survey' }),
    await sandbox.get('/v1/convai/conversation/token?agent_id=agent_survey'),
    await sandbox.get('/v1/convai/conversation/get-signed-url?agent_id=agent_survey'),
    await sandbox.batch(['+12125550150'], { agent_id: 'agent_survey' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
  expect(sandbox.calls()).toEqual([]);
  const check = sandbox.conduct().checks.find(({ name }) => name === 'deleted_use');
  expect(check?.violationCount).toBeGreaterThanOrEqual(answers.length - 1);
});

test('a number is not assigned to a missing agent, and keeps the one it has', async () => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.request('PATCH', `${numbers}/pn_main`, { agent_id: 'agent_nowhere' });
  expect(answer).toMatchObject({ status: 404, body: { detail: { code: 'agent_not_found', param: 'agent_id' } } });
  const { body } = await sandbox.get(numbers);
  expect(body.find((each: Json) => each.phone_number_id === 'pn_main').agent_id).toBe('agent_reminders');
});

test.each([
  ['an unverified', 'pn_unverified', 'The caller number is not verified.'],
  ['a foreign', 'pn_of_somebody_else', 'The caller number is not imported.'],
])('a batch from %s number is answered, and its calls fail', async (_what, from, reason) => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.batch(['+12125550100', '+12125550150'], { from_phone_number_id: from });
  expect([answer.status, answer.body.calls_initiated]).toEqual([200, 2]);
  sandbox.clock.advance(3_600_000);
  for (const { result, conversationId } of sandbox.calls()) {
    expect(result).toBe('failed');
    const { body } = await sandbox.get(`${conversations}/${conversationId}`);
    expect(body).toMatchObject({ status: 'failed', termination_reason: reason, audio: null, transcript: [] });
  }
});

test('of patches that race none is lost', async () => {
  const sandbox = await startTestSandbox();
  const headers = Array.from({ length: 40 }, (_, index) => `x-h${index}`);
  await Promise.all(
    headers.map((name) =>
      sandbox.request('PATCH', `${agents}/agent_survey`, {
        conversation_config: { agent: { llm: { custom_llm: { extra_headers: { [name]: 'v' } } } } },
      }),
    ),
  );
  const { body } = await sandbox.get(`${agents}/agent_survey`);
  const kept = Object.keys(body.conversation_config.agent.llm.custom_llm.extra_headers);
  expect(kept.sort()).toEqual(headers.toSorted());
});

test('a list that is read while others insert loses and repeats nothing', async () => {
  const sandbox = await startTestSandbox({ rateLimit: { requestsPerSecond: null }, concurrency: 500 });
  await sandbox.batch(Array.from({ length: 30 }, (_, index) => `+1212555${String(130 + index).padStart(4, '0')}`));
  const before = (await sandbox.get(`${conversations}?page_size=100`)).body.conversations;
  const seen: string[] = [];
  for (let cursor = '', page = 0; ; page += 1) {
    const [answer] = await Promise.all([
      sandbox.get(`${conversations}?page_size=4${cursor}`),
      sandbox.batch([`+1312555${String(100 + page).padStart(4, '0')}`]),
    ]);
    seen.push(...answer.body.conversations.map((each: Json) => each.conversation_id));
    if (!answer.body.has_more) break;
    cursor = `&cursor=${answer.body.next_cursor}`;
  }
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.slice(-30)).toEqual(before.map((each: Json) => each.conversation_id));
});

test('a cursor of another filter, another list or another life of the sandbox is refused', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.batch(['+12125550150', '+12125550151']);
  const { body } = await sandbox.get(`${conversations}?page_size=1&agent_id=agent_reminders`);
  const cursor = `page_size=1&cursor=${body.next_cursor}`;
  for (const path of [`${conversations}?${cursor}`, `${conversations}?${cursor}&agent_id=agent_survey`, `${agents}?${cursor}`]) {
    const answer = await sandbox.get(path);
    expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ['query', 'cursor']]);
  }
  expect((await sandbox.get(`${conversations}?${cursor}&agent_id=agent_reminders`)).status).toBe(200);
  sandbox.reset();
  expect((await sandbox.get(`${conversations}?${cursor}&agent_id=agent_reminders`)).status).toBe(422);
});
