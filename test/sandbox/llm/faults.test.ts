import * as fc from 'fast-check';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { expect } from 'vitest';
import { ModelRequestLog } from '../../../src/sandbox/llm/model-requests.ts';
import { completionsAddress, requireAllowed, showAddress, redactSecrets } from '../../../src/sandbox/llm/outbound.ts';
import { startTestSandbox, test, type Json, type TestSandbox } from '../harness.ts';
import { chunk, createModelAgent, holdConversation, interviewer, secret, startModelServer, stream, useTool } from './model-server.ts';
import { readEvents } from '../../../src/sandbox/llm/completion.ts';

/** Patience that a busy machine does not exhaust; each fault that is about waiting shortens the one limit that it is about. */
const limits = { connectMs: 30_000, firstTokenMs: 30_000, wholeMs: 60_000, answerBytes: 20_000 };
const shortMs = 1_000;
const sse = { 'content-type': 'text/event-stream' };
const twoItems = { data_collection: { chairs: { type: 'integer' }, colour: { type: 'string' } } };
const disabled = { backup_llm_config: { preference: 'disabled' } };

function begin(response: ServerResponse, text = 'Well, '): void {
  response.writeHead(200, sse);
  response.write(chunk({ content: text }));
}

/** Goes on with the same words until the caller leaves. */
function repeat(response: ServerResponse, text: string): void {
  const timer = setInterval(() => response.write(text), 20);
  response.on('close', () => clearInterval(timer));
}

type Answer = (response: ServerResponse) => unknown;
const events =
  (text: string): Answer =>
  (response) =>
    response.writeHead(200, sse).end(text);
const [noWord, noEnd] = ['llm_timeout: no word within 1000 ms', 'llm_timeout: no end within 1000 ms'] as const;

const faults: [what: string, answer: Answer, reason: string][] = [
  ['answers 500', (response) => response.writeHead(500).end(`no model for ${secret}`), 'HTTP 500'],
  ['answers 401', (response) => response.writeHead(401).end(JSON.stringify({ error: { message: `bad key ${secret}` } })), 'HTTP 401'],
  ['redirects elsewhere', (response) => response.writeHead(307, { location: '/v1/elsewhere' }).end(), 'HTTP 307'],
  ['never answers', () => undefined, noWord],
  ['sends headers and nothing more', (response) => response.writeHead(200, sse).flushHeaders(), noWord],
  ['keeps the line open with comments alone', (response) => repeat(response.writeHead(200, sse), ': still here\n\n'), noWord],
  [
    'sends parts without a word for ever',
    (response) => repeat(response.writeHead(200, sse), chunk({ role: 'assistant', content: '' })),
    noWord,
  ],
  ['stops in the middle', (response) => begin(response), noEnd],
  ['talks without end', (response) => (begin(response), repeat(response, chunk({ content: 'and ' }))), noEnd],
  [
    'is reset in the middle',
    (response) => (begin(response), setImmediate(() => response.destroy())),
    'no connection, or one that broke off (UND_ERR_SOCKET)',
  ],
  ['sends events that are not JSON', events('data: {"choices": [{\n\ndata: [DONE]\n\n'), 'the model answered something that is not JSON'],
  [
    'sends lines that are no events',
    events('<html>\nBad gateway\n</html>\n'),
    'the stream has a line that is no field of an event (data: …)',
  ],
  [
    'answers in one piece',
    (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices": []}'),
    'HTTP 200 without text/event-stream',
  ],
  [
    'sends JSON of another shape',
    events('data: {"choices": "none"}\n\n'),
    "the model's answer is no chat completion: choices is not as agreed",
  ],
  [
    'breaks off with an error object',
    (response) => (begin(response), response.end(`data: ${JSON.stringify({ error: { message: `overloaded ${secret}` } })}\n\n`)),
    'the model answered with an error object',
  ],
  [
    'breaks off with an error event',
    (response) => (begin(response), response.end('event: error\ndata: overloaded\n\n')),
    'the model broke off with an error event',
  ],
  ['answers without a word', events(`${chunk({ content: ' ' }, 'stop')}data: [DONE]\n\n`), 'the model answered without a word'],
  ['uses a tool that it was not offered', (response) => useTool(response, 'stock', { item: 'chair' }), 'the model answered without a word'],
  ['closes without anything', events(''), 'the model answered without a word'],
  ['answers more than is read', events(chunk({ content: 'x'.repeat(30_000) })), 'the answer is longer than 20000 bytes'],
];

test.each(faults)('when the model %s the conversation fails, or the service picks a backup if it may', async (_, answer, why) => {
  const shorter = { [noWord]: { firstTokenMs: shortMs }, [noEnd]: { wholeMs: shortMs } }[why];
  const reason = shorter === undefined ? `custom_llm_error: ${why}` : why;
  const sandbox = await startTestSandbox({ modelLimits: { ...limits, ...shorter } });
  const model = await startModelServer(answer);
  const record = await holdConversation(sandbox, await createModelAgent(sandbox, model.url, { llm: disabled }));
  expect(record).toMatchObject({
    status: 'failed',
    termination_reason: reason,
    evaluation_results: {},
    metadata: { error: { code: 1011, reason } },
  });
  expect(record.transcript.map(({ speaker }: Json) => speaker)).toEqual(['agent', 'user']);
  expect(model.requests.map(({ path }) => path)).toEqual(['/v1/chat/completions']);
  const { model_requests: requests } = await sandbox.read('/_sandbox/model-requests');
  expect(requests).toMatchObject([{ failure: { code: shorter === undefined ? 'failed' : 'timeout' }, answer: null }]);
  await expectNoSecret(sandbox, record);

  const saved = await holdConversation(sandbox, await createModelAgent(sandbox, model.url, { platform: twoItems }));
  expect(saved).toMatchObject({ status: 'done', metadata: { usage: { models: { svc_open_small: { fallback: true } } } } });
  expect(saved.transcript.length).toBeGreaterThan(5);
  // Once is enough: the backup holds the rest of the conversation.
  expect(model.requests).toHaveLength(2);
});

test('an address where nobody listens fails like any other, with and without a backup', async () => {
  const sandbox = await startTestSandbox({ modelLimits: limits });
  const url = 'http://127.0.0.1:1/v1';
  const failed = await holdConversation(sandbox, await createModelAgent(sandbox, url, { llm: disabled }));
  expect(failed).toMatchObject({
    status: 'failed',
    termination_reason: 'custom_llm_error: no connection, or one that broke off (ECONNREFUSED)',
  });
  const saved = await holdConversation(sandbox, await createModelAgent(sandbox, url));
  expect(saved.status).toBe('done');
});

test('a model that fails in the middle of a conversation is followed by the backup, or ends it', async ({ sandbox }) => {
  const fails = (response: ServerResponse, request: Json, nth: number): void => {
    if (nth === 1) interviewer(response, request, nth);
    else response.writeHead(503).end();
  };
  const one = await startModelServer(fails);
  const ended = await holdConversation(sandbox, await createModelAgent(sandbox, one.url, { llm: disabled }));
  expect(ended.status).toBe('failed');
  expect(ended.transcript.map(({ text }: Json) => text)).toContain('Question 1: how many chairs do you have?');
  const other = await startModelServer(fails);
  const order = { backup_llm_config: { preference: 'override', order: ['lab_one_mini', 'search_pro'] } };
  const saved = await holdConversation(sandbox, await createModelAgent(sandbox, other.url, { llm: order }));
  expect(saved.status).toBe('done');
  expect(saved.transcript.map(({ text }: Json) => text)).toContain('Question 1: how many chairs do you have?');
  expect(other.requests).toHaveLength(2);
  expect(Object.keys(saved.metadata.usage.models)).toEqual(['custom', 'lab_one_mini']);
  expect(saved.metadata.usage.models).toMatchObject({ custom: { fallback: false }, lab_one_mini: { fallback: true } });
});

test('a backup that is not available is passed over, and without any left the conversation fails', async () => {
  const sandbox = await startTestSandbox({ unavailableModels: ['lab_one_mini'] });
  const model = await startModelServer((response) => response.writeHead(503).end());
  const named = (order: string[]): Json => ({ backup_llm_config: { preference: 'override', order } });
  const next = await createModelAgent(sandbox, model.url, { llm: named(['lab_one_mini', 'search_pro']) });
  expect(Object.keys((await holdConversation(sandbox, next)).metadata.usage.models)).toEqual(['search_pro']);
  const none = await createModelAgent(sandbox, model.url, { llm: named(['lab_one_mini']) });
  expect(await holdConversation(sandbox, none)).toMatchObject({ status: 'failed', termination_reason: 'custom_llm_error: HTTP 503' });
});

test('what a model was waited for is heard before the backup speaks', async () => {
  const model = await startModelServer(() => undefined);
  const pauses = [];
  for (const firstTokenMs of [100, 2_000]) {
    const sandbox = await startTestSandbox({ modelLimits: { firstTokenMs } });
    const { transcript } = await holdConversation(sandbox, await createModelAgent(sandbox, model.url));
    pauses.push(transcript[2].conversation_turn_metrics.metrics.convai_llm_service_ttfb.elapsed_time);
  }
  expect(pauses[1] - pauses[0]).toBeGreaterThan(0.5);
});

test.each([
  ['without [DONE]', 'How many chairs?', (response: ServerResponse) => response.end()],
  [
    'without [DONE] and with half an event at the end',
    'How many chairs? Roughly.',
    (response: ServerResponse) => response.end(chunk({ content: ' Roughly.' }).trimEnd()),
  ],
  ['with [DONE] and no end of the connection', 'How many chairs?', (response: ServerResponse) => response.write('data: [DONE]\n\n')],
])('a stream that ends %s is taken at its word', async (_name, text, end) => {
  const sandbox = await startTestSandbox({ modelLimits: limits });
  const model = await startModelServer((response, _request, nth) => {
    if (nth > 1) return useTool(response, 'end_call');
    response.writeHead(200, sse);
    response.write(`: hello\r\n\r\n${chunk({ role: 'assistant', content: 'How many ' }).replaceAll('\n', '\r\n')}`);
    response.write(chunk({ content: 'chairs?' }));
    end(response);
  });
  const record = await holdConversation(sandbox, await createModelAgent(sandbox, model.url, { llm: disabled }));
  expect(record.status).toBe('done');
  expect(record.transcript[2].text).toBe(text);
});

test('the sandbox connects to this machine alone unless a host was allowed in as many words', async () => {
  const model = await startModelServer(interviewer);
  const port = new URL(model.url).port;
  const refused = await startTestSandbox();
  for (const url of ['http://192.0.2.10/v1', 'https://models.example/v1', `http://0.0.0.0:${port}/v1`]) {
    const record = await holdConversation(refused, await createModelAgent(refused, url, { llm: disabled }));
    expect(record.status).toBe('failed');
    expect(record.termination_reason).toContain('does not connect to');
    expect(record.termination_reason).toContain('--allow-outbound');
  }
  const body = await refused.read('/_sandbox/model-requests');
  expect(body.model_requests.map(({ failure }: Json) => failure.code)).toEqual(Array(3).fill('failed'));
  expect(model.requests).toEqual([]);
  const allowed = await startTestSandbox({ allowOutbound: ['0.0.0.0'] });
  const url = `http://0.0.0.0:${port}/v1`;
  const record = await holdConversation(allowed, await createModelAgent(allowed, url, { llm: disabled }));
  expect(record.status).toBe('done');
});

test('headers that belong to the connection cannot be taken over', async ({ sandbox }) => {
  const model = await startModelServer(interviewer);
  const extra_headers = { 'Content-Length': '3', Host: 'elsewhere.example', 'Transfer-Encoding': 'chunked', 'X-Ok': 'yes' };
  const llm = { ...disabled, custom_llm: { url: model.url, extra_headers } };
  const record = await holdConversation(sandbox, await createModelAgent(sandbox, model.url, { llm }));
  expect(record.status).toBe('done');
  expect(model.requests[0]?.headers).toMatchObject({ 'x-ok': 'yes', host: new URL(model.url).host });
});

test('a model that says its credentials aloud is not repeated', async ({ sandbox }) => {
  const model = await startModelServer((response, _request, nth) => {
    if (nth === 1) stream(response, `My key is ${secret} and that is that.`);
    else useTool(response, 'end_call', { reason: secret, message: secret });
  });
  const agentId = await createModelAgent(sandbox, `${model.url}?token=tok-in-address`);
  const override = { conversation_config_override: { agent: { llm: { custom_llm: { extra_headers: { 'x-team': secret } } } } } };
  const record = await holdConversation(sandbox, agentId, override);
  expect(record.transcript[2].text).toBe('My key is [redacted] and that is that.');
  expect(model.requests[0]?.path).toBe('/v1/chat/completions?token=tok-in-address');
  await expectNoSecret(sandbox, record);
  const body = await sandbox.read('/_sandbox/model-requests');
  expect(body.model_requests[0]).toMatchObject({
    header_names: ['authorization', 'x-team'],
    url: `${model.url}/chat/completions?token=[redacted]`,
  });
  expect(JSON.stringify(body)).not.toContain('tok-in-address');
});

test('a deleted conversation leaves no question to the model behind', async ({ sandbox }) => {
  const model = await startModelServer(interviewer);
  const agentId = await createModelAgent(sandbox, model.url);
  const record = await holdConversation(sandbox, agentId);
  const other = await holdConversation(sandbox, agentId);
  await sandbox.delete(`/v1/convai/conversations/${record.conversation_id}`);
  const path = '/_sandbox/model-requests';
  expect((await sandbox.read(`${path}?conversation_id=${record.conversation_id}`)).model_requests).toEqual([]);
  expect((await sandbox.read(`${path}?conversation_id=${other.conversation_id}`)).model_requests.length).toBeGreaterThan(0);
});

test('the last thousand questions are kept', () => {
  const log = new ModelRequestLog();
  const facts = { at: 0, address: '', headerNames: [], request: '{}' } as const;
  for (let index = 0; index < 1_205; index += 1) log.begin({ ...facts, headerNames: [], conversationId: `c${index}` });
  expect(log.list().map(({ conversationId }) => conversationId)).toHaveLength(1_000);
  expect(log.list()[0]?.conversationId).toBe('c205');
  expect(log.begin({ ...facts, headerNames: [], conversationId: 'long', request: 'x'.repeat(90_000) }).request).toHaveLength(32_769);
});

/** Looks everywhere that a caller, an owner or a judge can look. */
async function expectNoSecret(sandbox: TestSandbox, record: Json, value = secret.slice('Bearer '.length)): Promise<void> {
  const places = ['/_sandbox/model-requests', '/_sandbox/journal', '/_sandbox/calls', '/v1/convai/conversations'];
  const seen = await Promise.all(places.map(async (path) => await sandbox.read(path)));
  expect(JSON.stringify([record, seen])).not.toContain(value);
}

const run = { seed: 20_261_121, numRuns: 500 };

async function eventsOf(pieces: readonly string[]): Promise<string[]> {
  return Readable.from(readEvents(Readable.from(pieces))).toArray();
}

test('events are read the same wherever the pieces are cut and whichever line ends are used', async () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 20 }).map((value) => value.replaceAll(/[\r\n]/gu, ''));
  const event = fc.record({
    name: fc.constantFrom('', 'ping'),
    lines: fc.array(text, { minLength: 1, maxLength: 3 }),
    comment: fc.boolean(),
  });
  const events = fc.array(event, { maxLength: 6 });
  const cuts = fc.array(fc.nat(200), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(events, fc.constantFrom('\n', '\r\n', '\r'), fc.boolean(), cuts, async (sent, end, isClosed, at) => {
      const lines = sent.flatMap(({ name, lines: data, comment }) => [
        ...(comment ? [': a comment'] : []),
        ...(name === '' ? [] : [`event: ${name}`]),
        ...data.map((line) => `data: ${line}`),
        '',
      ]);
      const whole = (isClosed ? [...lines, ''] : lines.slice(0, -1)).join(end);
      const places = [0, ...at.map((cut) => cut % (whole.length + 1)).sort((left, right) => left - right), whole.length];
      const pieces = places.slice(1).map((place, index) => whole.slice(places[index], place));
      expect(await eventsOf(pieces)).toEqual(sent.map(({ lines: data }) => data.join('\n')));
    }),
    run,
  );
});

test('what was not closed by an empty line is read at the end, and a line that is no field of an event is an error', async () => {
  expect(await eventsOf(['data: one\n\ndata: two\ndata: three'])).toEqual(['one', 'two\nthree']);
  expect(await eventsOf(['retry: 10\nid: 4\ndata\n\n'])).toEqual(['']);
  await expect(eventsOf(['{"choices":[]}\n'])).rejects.toThrow('no field of an event');
});

test('the path is appended exactly once, whatever stands before it', () => {
  const segment = fc.stringMatching(/^[a-z0-9]{1,8}$/);
  fc.assert(
    fc.property(
      fc.array(segment, { maxLength: 3 }),
      fc.constantFrom('', '/', '//'),
      fc.constantFrom('', '?a=1&b=2'),
      (path, end, query) => {
        const base = `http://127.0.0.1:8080${path.map((part) => `/${part}`).join('')}`;
        const once = completionsAddress(base + end + query);
        expect(once).toBe(`${base}/chat/completions${query}`);
        expect(completionsAddress(once)).toBe(once);
      },
    ),
    run,
  );
});

const outbound = { hosts: ['models.example:9000', 'other.example'], ownPort: 4_010 };

test('this machine and the hosts that are allowed may be connected to, and nothing else', () => {
  const allowed = ['http://127.0.0.1:1/v1', 'http://localhost/v1', 'https://[::1]:8443/', 'http://127.9.9.9/', 'http://2130706433/'];
  for (const url of [...allowed, 'http://models.example:9000/v1', 'https://other.example/'])
    expect(() => requireAllowed(url, outbound), url).not.toThrow();
  for (const url of [
    'http://models.example:9001/v1',
    ...['127.0.0.1:4010/v1', 'LOCALHOST:4010/', 'localhost.example/', '127.0.0.1.example/', '0.0.0.0/'].map((host) => `http://${host}`),
    ...['[::]/', '[::ffff:10.0.0.1]/', '10.0.0.1/', '169.254.169.254/latest', 'user:word@127.0.0.1/'].map((host) => `http://${host}`),
    'file:///etc/passwd',
    'ftp://127.0.0.1/',
    'nonsense',
    '',
  ])
    expect(() => requireAllowed(url, outbound), url).toThrow();
});

test('an address is shown without the values of its query', () => {
  expect(showAddress('http://u:p@127.0.0.1:80/v1?key=abc&key=def&x=1')).toBe('http://127.0.0.1/v1?key=[redacted]&x=[redacted]');
  expect(showAddress('nonsense')).toBe('[unreadable]');
});

test('credentials are taken out of what a model says, with their scheme and without; short values are no credentials', () => {
  const headers = { authorization: 'Bearer abcdefgh12345', 'x-team': 'red' };
  expect(redactSecrets('abcdefgh12345 Bearer abcdefgh12345 red', headers)).toBe('[redacted] [redacted] red');
});
