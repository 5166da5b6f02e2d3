import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { checkNumbers } from '../../../src/campaign/preflight/caller-check.ts';
import type { ConvaiClient } from '../../../src/service/convai/client.ts';
import { contractService } from '../../../src/service/convai/contract-service.ts';
import { parseRefusalDetail } from '../../../src/service/http/refusal-detail.ts';
import {
  BadResponseError,
  NotSentError,
  OutcomeUnknownError,
  RateLimitedError,
  RefusedError,
  ServiceOptionsError,
} from '../../../src/service/port/errors.ts';
import {
  answerJson,
  changes,
  clientOf,
  deadBaseUrl,
  placeOne,
  rejectionOf,
  startHttpService,
  startRawService,
} from './loopback-servers.ts';

const read = (client: ConvaiClient) => client.getAgent('a');
const writes = [...changes, ['batch POST', placeOne] as (typeof changes)[number]];

const wreckages: [string, (socket: Socket) => void, Partial<OutcomeUnknownError>][] = [
  ['a reset', (socket) => socket.resetAndDestroy(), { status: null, phase: 'awaiting_response' }],
  ['a close', (socket) => socket.destroy(), { status: null, phase: 'awaiting_response' }],
  ['a half-close', (socket) => socket.end(), { status: null, phase: 'awaiting_response' }],
  ['silence', () => undefined, { status: null, phase: 'awaiting_response' }],
  ['headers that stop', (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Le'), { phase: 'awaiting_response' }],
  [
    'a body that stops',
    (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"agent'),
    { status: 200, phase: 'reading_body' },
  ],
  [
    'a body cut off',
    (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"agent'),
    { status: 200, phase: 'reading_body' },
  ],
  [
    'a 429 cut off, which might have named a batch',
    (socket) => socket.end('HTTP/1.1 429 Slow\r\nRetry-After: 1\r\nContent-Length: 50\r\n\r\n{"batch'),
    { status: 429, phase: 'reading_body' },
  ],
  ['what is not HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9\r\n'), { status: null, phase: 'awaiting_response' }],
  ['an informational answer only', (socket) => socket.end('HTTP/1.1 102 P\r\n\r\n'), { status: null }],
];

/** Those that end only because the client's patience does. */
const silent = ['silence', 'headers that stop', 'an informational answer only'];

for (const [wreckage, serve, facts] of wreckages) {
  test.each(writes)(`after ${wreckage} the outcome of a %s is unknown, and it was sent once`, async (_method, write) => {
    const service = await startRawService(serve);
    const headersMs = silent.includes(wreckage) ? 1_000 : 20_000;
    const bodyMs = wreckage === 'a body that stops' ? 400 : 20_000;
    const client = clientOf(service.baseUrl, { timeouts: { headersMs, bodyMs } });
    const error = await rejectionOf(write(client), OutcomeUnknownError);
    expect(error).toMatchObject({ ...facts, knowledge: 'unknown' });
    await client.close();
    expect(service.received).toHaveLength(1);
    expect(service.received[0]?.match(/HTTP\/1\.1\r\n/g)).toHaveLength(1);
  });
}

test.each([408, 409, 425, 410, 418, 500, 502, 503, 504, 301, 302, 307, 308])(
  'after status %i the outcome of a write is unknown, it was sent once and nowhere else',
  async (status) => {
    for (const [, write] of writes) {
      const service = await startHttpService((response) => answerJson(response, status, {}, { location: '/elsewhere' }));
      const error = await rejectionOf(write(clientOf(service.baseUrl)), OutcomeUnknownError);
      expect(error).toMatchObject({ status, phase: 'answered', knowledge: 'unknown' });
      expect(service.seen).toHaveLength(1);
    }
  },
);

test.each([400, 401, 402, 403, 404, 405, 413, 415, 422])('status %i is a refusal, and is not tried again', async (status) => {
  for (const [, call] of [['GET', read] as const, ...writes]) {
    const body = { detail: { code: 'word', message: 'for +12125550101' } };
    const service = await startHttpService((response) => answerJson(response, status, body));
    const error = await rejectionOf(call(clientOf(service.baseUrl)), RefusedError);
    expect(error).toMatchObject({ status, knowledge: 'refused' });
    expect(error.detail).toEqual({ code: 'word', message: 'for +12125550101', fields: [] });
    expect(error.message).toContain(`status ${status}`);
    expect(error.message).not.toContain('+1212');
    expect(service.seen).toHaveLength(1);
  }
});

test('a refusal whose words are cut off is a refusal still', async () => {
  const service = await startRawService((socket) => socket.end('HTTP/1.1 422 No\r\nContent-Length: 50\r\n\r\n{"det'));
  for (const [, write] of writes) {
    const error = await rejectionOf(write(clientOf(service.baseUrl)), RefusedError);
    expect(error.detail).toEqual({ code: null, message: null, fields: [] });
  }
});

test.each([
  ['seconds', { 'retry-after': '7' }, 7_000],
  ['a date', { 'retry-after': 'Sun, 06 Nov 1994 08:50:07 GMT', date: 'Sun, 06 Nov 1994 08:49:37 GMT' }, 30_000],
  ['nothing', {}, null],
  ['nonsense', { 'retry-after': 'soon' }, null],
])('a 429 with Retry-After as %s tells how long to wait, and is not tried again', async (_name, headers, retryAfterMs) => {
  for (const [, call] of [['GET', read] as const, ...writes]) {
    const body = { detail: { code: 'concurrent_limit_exceeded', message: 'x' } };
    const service = await startHttpService((response) => answerJson(response, 429, body, { ...headers }));
    const error = await rejectionOf(call(clientOf(service.baseUrl)), RateLimitedError);
    expect(error).toMatchObject({ retryAfterMs, code: 'concurrent_limit_exceeded', batchId: null });
    expect(error.knowledge).toBe('queued_nothing');
    expect(service.seen).toHaveLength(1);
  }
});

test.each(['', '<html>Too many requests</html>', '[]', 'null', '{"detail":"slow down"}'])(
  'a 429 with the body %j is a rate limit',
  async (body) => {
    const service = await startHttpService((response) => response.writeHead(429).end(body));
    const error = await rejectionOf(clientOf(service.baseUrl).createAgent({ name: 'a' }), RateLimitedError);
    expect(error.code).toBeNull();
  },
);

test('a refused connection is NotSentError for every method', async () => {
  const baseUrl = await deadBaseUrl();
  for (const [, call] of [['GET', read] as const, ...writes]) {
    const error = await rejectionOf(call(clientOf(baseUrl)), NotSentError);
    expect(error).toMatchObject({ reason: 'no_connection', knowledge: 'not_sent' });
    expect(error.message).toMatch(/ECONNREFUSED.*nothing was sent/);
    expect(error.cause).toBeInstanceOf(Error);
  }
});

test('a connection that never stands is NotSentError: the server takes the socket but does not finish TLS', async () => {
  const service = await startRawService(() => undefined);
  for (const [, write] of writes) {
    const client = clientOf(service.baseUrl.replace('http:', 'https:'), { timeouts: { connectMs: 60 } });
    const error = await rejectionOf(write(client), NotSentError);
    expect(error.reason).toBe('no_connection');
  }
  expect(service.received.join('')).not.toContain('convai');
});

test('a reset inside the TLS handshake is NotSentError although its code is ECONNRESET', async () => {
  const service = await startRawService((socket) => socket.resetAndDestroy());
  const client = clientOf(service.baseUrl.replace('http:', 'https:'));
  const error = await rejectionOf(client.createAgent({ name: 'a' }), NotSentError);
  expect((error.cause as NodeJS.ErrnoException).code).toBe('ECONNRESET');
});

test.each<[string, (socket: Socket) => void]>([
  ['reset', (socket) => socket.resetAndDestroy()],
  ['5xx', (socket) => socket.end('HTTP/1.1 503 Down\r\nContent-Length: 0\r\n\r\n')],
  ['body cut off', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"a')],
])('a read after a %s is tried once more, then fails', async (_name, serve) => {
  const service = await startRawService(serve);
  const error = await rejectionOf(read(clientOf(service.baseUrl)), OutcomeUnknownError);
  expect(error.knowledge).toBe('read_failed');
  expect(error.message).toContain('Nothing was changed');
  expect(service.received).toHaveLength(2);
});

test('the second try of a read counts', async () => {
  const service = await startHttpService((response, _request, nth) =>
    nth === 1 ? answerJson(response, 500, {}) : answerJson(response, 200, { agent_id: 'a' }),
  );
  expect(await read(clientOf(service.baseUrl))).toEqual({ agent_id: 'a' });
});

test.each([301, 302, 303, 304, 307, 308])('a redirect %i of a read is a bad response and is not followed', async (status) => {
  const service = await startHttpService((response) => {
    response.writeHead(status, { location: '/v1/convai/agents/b' }).end();
  });
  const error = await rejectionOf(read(clientOf(service.baseUrl)), BadResponseError);
  expect(error).toMatchObject({ status, knowledge: 'read_failed' });
  expect(service.seen).toHaveLength(1);
});

test('a read that takes its full time is not tried again', async () => {
  const service = await startRawService(() => undefined);
  await rejectionOf(read(clientOf(service.baseUrl, { timeouts: { headersMs: 1_000 } })), OutcomeUnknownError);
  await service.closed(0);
  expect(service.received).toHaveLength(1);
});

test('a body that drips is cut at the time for the whole body', async () => {
  const service = await startRawService((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{');
    const drip = setInterval(() => socket.write(' '), 10);
    socket.on('close', () => clearInterval(drip));
  });
  const client = clientOf(service.baseUrl, { timeouts: { bodyMs: 150 } });
  const error = await rejectionOf(client.createAgent({ name: 'a' }), OutcomeUnknownError);
  expect(error).toMatchObject({ status: 200, phase: 'reading_body' });
  await service.closed(0);
});

test.each(['', '{"agent_id": "a', '<html></html>', '[]', '"a"', '{}'])(
  'a 200 with the body %j after a write means that its outcome is unknown',
  async (body) => {
    const service = await startHttpService((response) => response.end(body));
    const error = await rejectionOf(clientOf(service.baseUrl).createAgent({ name: 'a' }), BadResponseError);
    expect(error).toMatchObject({ status: 200, knowledge: 'unknown' });
    expect(service.seen).toHaveLength(1);
  },
);

test.each([
  ['req-9', 'req-9'],
  ['call +12125550101', null],
])('the request id %j of an answer is carried as %j', async (sent, carried) => {
  const service = await startHttpService((response) => answerJson(response, 403, {}, { 'x-request-id': sent }));
  expect((await rejectionOf(read(clientOf(service.baseUrl)), RefusedError)).requestId).toBe(carried);
});

test('a listener hears of each request on the wire, and its own faults change nothing', async () => {
  const service = await startHttpService((response, _request, nth) =>
    nth === 1 ? answerJson(response, 500, {}) : answerJson(response, 200, {}),
  );
  const heard: unknown[] = [];
  const client = clientOf(service.baseUrl, {
    onRequest: (info) => {
      heard.push(info);
      throw new Error('listener');
    },
  });
  await client.getSignedUrl('a').catch(() => undefined);
  const path = '/v1/convai/conversation/get-signed-url';
  expect(heard).toEqual([500, 200].map((status) => ({ method: 'GET', path, status, durationMs: expect.any(Number), requestId: null })));
});

test('reads share one token bucket', async () => {
  const service = await startHttpService((response) => answerJson(response, 200, {}));
  const client = clientOf(service.baseUrl, { readsPerSecond: 20 });
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: 24 }, () => read(client)));
  expect(performance.now() - startedAt).toBeGreaterThan(150);
});

test('a closed client sends nothing', async () => {
  const service = await startHttpService((response) => answerJson(response, 200, {}));
  const client = clientOf(service.baseUrl);
  await client.close();
  for (const [, call] of [['GET', read] as const, ...writes]) {
    expect((await rejectionOf(call(client), NotSentError)).message).toContain('closed');
  }
  expect(service.connections()).toBe(0);
});

test('closing waits for a write under way', async () => {
  let release: () => void = () => undefined;
  const service = await startHttpService((response) => {
    release = () => answerJson(response, 200, { agent_id: 'a' });
    arrived();
  });
  let arrived: () => void = () => undefined;
  const arrival = new Promise<void>((resolve) => (arrived = resolve));
  const client = clientOf(service.baseUrl);
  const writing = client.createAgent({ name: 'a' });
  await arrival;
  const closing = client.close();
  release();
  expect(await writing).toEqual({ agent_id: 'a' });
  await closing;
});

test.each(['', 'two words', 'new\nline', 'ключ'])('the key %j is refused without being named', (apiKey) => {
  expect(() => clientOf('http://127.0.0.1:1', { apiKey })).toThrow(ServiceOptionsError);
  expect(() => clientOf('http://127.0.0.1:1', { apiKey })).toThrow(/SVC_API_KEY/);
});

const levels = 200_000;
const deep = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

test('a record that is nested 200,000 deep can be written down', async () => {
  const service = await startHttpService((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`{"conversation_id":"c","collected_data":{"day":"Monday","deep":${deep}}}`);
  });
  const record = await clientOf(service.baseUrl).getConversation('c');
  expect(record.collected_data).toMatchObject({ day: 'Monday' });
  expect(JSON.stringify(record).length).toBeLessThan(1_000);
});

test('bad entries of a list leave the others readable, and are counted', async () => {
  const conversations = [{ conversation_id: 'a' }, { conversation_id: 7 }, null, { conversation_id: 'b' }];
  const service = await startHttpService((response, { url }) => {
    if (url.startsWith('/v1/convai/conversations')) answerJson(response, 200, { conversations });
    else if (url.startsWith('/v1/convai/agents')) answerJson(response, 200, { agents: [{ agent_id: 'a' }, { name: 'no id' }, null] });
    else answerJson(response, 200, [{ phone_number_id: 'p', label: 7 }, { phone_number_id: 'q' }]);
  });
  const client = clientOf(service.baseUrl);
  const page = await client.listConversationsPage();
  expect(page).toMatchObject({ conversations: [conversations[0], conversations[3]], unusable: [{ conversation_id: 7 }, null] });
  const counted: number[] = [];
  const onUnusable = (entries: number) => counted.push(entries);
  const listed: string[] = [];
  for await (const { conversation_id: id } of client.listConversations({ onUnusable })) listed.push(id);
  for await (const { agent_id: id } of client.listAgents({ onUnusable })) listed.push(id);
  for (const { phone_number_id: id } of await client.listPhoneNumbers({ onUnusable })) listed.push(id);
  expect({ listed, counted }).toEqual({ listed: ['a', 'b', 'a', 'q'], counted: [2, 2, 1] });
});

test('a caller number that may be the bad entry is not called unknown', async () => {
  const service = await startHttpService((response) =>
    answerJson(response, 200, [{ phone_number_id: 'q' }, { phone_number_id: 'p', label: 7 }]),
  );
  const callers = contractService(clientOf(service.baseUrl));
  expect(await checkNumbers(callers, ['q'])).toMatchObject({ ok: true });
  const error = await rejectionOf(checkNumbers(callers, ['q', 'p']), BadResponseError);
  expect(error.problems).toEqual(['1 of its entries cannot be used, and p is not among the others']);
});

test('of a list of 60,000 entries at once the first are read, and it is known that there are more', async () => {
  const conversations = Array.from({ length: 60_000 }, (_, n) => ({ conversation_id: `c${n}` }));
  const service = await startHttpService((response) => answerJson(response, 200, { conversations, has_more: false }));
  const page = await clientOf(service.baseUrl).listConversationsPage();
  expect(page.conversations).toHaveLength(20_000);
  expect(page).toMatchObject({ hasMore: true, nextCursor: null });
});

test('a cursor of a megabyte is not followed', async () => {
  const body = { conversations: [], has_more: true, next_cursor: 'x'.repeat(1_000_000) };
  const service = await startHttpService((response) => answerJson(response, 200, body));
  expect(await clientOf(service.baseUrl).listConversationsPage()).toMatchObject({ hasMore: true, nextCursor: null });
});

test('an answer of 63 MB is given up before it is read', async () => {
  let written = 0;
  const service = await startHttpService((response) => {
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    response.writeHead(200, { 'content-type': 'application/json' });
    const write = (): void => {
      while (written < 63 && !response.destroyed) {
        written += 1;
        if (!response.write(chunk)) return void response.once('drain', write);
      }
      response.end('{}');
    };
    write();
  });
  const error = await rejectionOf(clientOf(service.baseUrl).getConversation('c'), BadResponseError);
  expect(error.problems).toEqual(['the body is too large']);
  expect(written).toBeLessThan(40);
});

test.each([
  ['empty objects', (size: number) => `{"transcript":[${'{},'.repeat(size / 3)}{}]}`],
  ['empty lists', (size: number) => `{"collected_data":{"a":[${'[],'.repeat(size / 3)}[]]}}`],
  ['numbers', (size: number) => `{"collected_data":{"a":[${'1,'.repeat(size / 2)}1]}}`],
])('an answer of 15 MB of %s is refused by its bytes, before anything is made of them', async (_name, body) => {
  const text = body(15_000_000);
  const service = await startHttpService((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(text);
  });
  const error = await rejectionOf(clientOf(service.baseUrl).getConversation('c'), BadResponseError);
  expect(error.problems).toEqual(['the body has more than 300000 values']);
});

test('a long talk with commas and brackets in its words is no answer of too many values', async () => {
  const text = ',[{\\"'.repeat(400_000);
  const service = await startHttpService((response) => answerJson(response, 200, { transcript: [{ text }] }));
  expect(await clientOf(service.baseUrl).getConversation('c')).toMatchObject({ transcript: [{ text }] });
});

test.each([
  ['nothing but <', '<'.repeat(20_000)],
  ['scripts that never end', '<script '.repeat(2_500)],
  ['tags that never end', '<a '.repeat(6_000)],
])('the words of a refusal page of %s are found by reading it once', (_name, page) => {
  // Each `<` used to be tried against the whole rest: a second for one page.
  for (let n = 0; n < 1_000; n += 1) parseRefusalDetail(page, (text) => text);
});

test('a refusal with 300,000 complaints is still a refusal, with the first of them', async () => {
  const detail = Array.from({ length: 300_000 }, (_, n) => ({ loc: ['body', n], msg: 'no' }));
  const service = await startHttpService((response) => answerJson(response, 422, { detail }));
  const error = await rejectionOf(clientOf(service.baseUrl).createAgent({ name: 'a' }), RefusedError);
  expect(error.detail.fields).toHaveLength(100);
});

test('words of a refusal hold nothing that controls a terminal', () => {
  const body = JSON.stringify({ detail: { code: 'a\u001b[2Jb', message: 'first\nsecond\u0000\u009b31m' } });
  expect(parseRefusalDetail(body, (text) => text)).toMatchObject({ code: 'a [2Jb', message: 'first second 31m' });
});
