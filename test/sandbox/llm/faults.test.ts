import type { ServerResponse } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { askModel, completionsAddress } from '../../../src/sandbox/llm/ask-model.ts';
import { startTestSandbox, test, type Json, type TestSandbox } from '../harness.ts';
import { chunk, createModelAgent, holdConversation, interviewer, secret, startModelServer, stream, useTool } from './model-server.ts';

const sse = { 'content-type': 'text/event-stream' };
const disabled = { backup_llm_config: { preference: 'disabled' } };

type Answer = (response: ServerResponse) => unknown;
const events =
  (text: string): Answer =>
  (response) =>
    response.writeHead(200, sse).end(text);

const faults: [what: string, answer: Answer, reason: string][] = [
  ['answers 401', (response) => response.writeHead(401).end(`bad key ${secret}`), 'HTTP 401'],
  ['redirects elsewhere', (response) => response.writeHead(307, { location: '/v1/elsewhere' }).end(), 'HTTP 307'],
  [
    'is reset in the middle',
    (response) => (response.writeHead(200, sse).write(chunk({ content: 'Well, ' })), setImmediate(() => response.destroy())),
    'no connection, or one that broke off',
  ],
  ['sends JSON of another shape', events('data: {"choices": "none"}\n\n'), 'the model answered something that is no chat completion'],
  ['breaks off with an error', events(`data: {"error": "${secret}"}\n\n`), 'the model answered something that is no chat completion'],
  ['answers in one piece', (response) => response.writeHead(200).end('{"choices": []}'), 'the model answered without a word'],
  ['answers more than is read', events(`${chunk({ content: 'x'.repeat(1_100_000) })}data: [DONE]\n\n`), 'the model sent more than 1 MiB'],
  ['uses a tool that it was not offered', (response) => useTool(response, 'stock', { item: 'chair' }), 'the model answered without a word'],
];

test.each(faults)('when the model %s the conversation fails, or the service picks a backup if it may', async (_, answer, why) => {
  const sandbox = await startTestSandbox();
  const model = await startModelServer(answer);
  const record = await holdConversation(sandbox, await createModelAgent(sandbox, model.url, { llm: disabled }));
  const reason = expect.stringContaining(`custom_llm_error: ${why}`);
  expect(record).toMatchObject({
    status: 'failed',
    termination_reason: reason,
    evaluation_results: {},
    metadata: { error: { code: 1011, reason } },
  });
  expect(record.transcript.map(({ speaker }: Json) => speaker)).toEqual(['agent', 'user']);
  expect(model.requests.map(({ path }) => path)).toEqual(['/v1/chat/completions']);
  await expectNoSecret(sandbox, record);

  const order = { backup_llm_config: { preference: 'override', order: ['lab_one_mini', 'search_pro'] } };
  const saved = await holdConversation(sandbox, await createModelAgent(sandbox, model.url, { llm: order }));
  expect(saved).toMatchObject({ status: 'done', metadata: { usage: { models: { lab_one_mini: { fallback: true } } } } });
  // Once is enough: the backup holds the rest of the conversation.
  expect(model.requests).toHaveLength(2);
});

test('a model that says nothing is waited for as long as its agent says where there is a backup', async ({ sandbox }) => {
  const model = await startModelServer((response) => response.writeHead(200, sse).flushHeaders());
  const llm = { cascade_timeout_seconds: 2 };
  const record = await holdConversation(sandbox, await createModelAgent(sandbox, model.url, { llm }));
  expect(record).toMatchObject({ status: 'done', metadata: { usage: { models: { svc_open_small: { fallback: true } } } } });
});

test('a model that fails in the middle of a conversation is followed by the backup, or ends it', async ({ sandbox }) => {
  const fails = (response: ServerResponse, request: Json, nth: number): void => {
    if (nth === 1) interviewer(response, request, nth);
    else response.writeHead(503).end();
  };
  const one = await startModelServer(fails);
  const ended = await holdConversation(sandbox, await createModelAgent(sandbox, one.url, { llm: disabled }));
  expect(ended).toMatchObject({ status: 'failed', termination_reason: 'custom_llm_error: HTTP 503' });
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

test.each([
  ['without [DONE]', 'How many chairs?', (response: ServerResponse) => response.end()],
  [
    'without [DONE] and with half an event at the end',
    'How many chairs? Roughly.',
    (response: ServerResponse) => response.end(chunk({ content: ' Roughly.' }).trimEnd()),
  ],
  ['with [DONE] and no end of the connection', 'How many chairs?', (response: ServerResponse) => response.write('data: [DONE]\n\n')],
])('a stream that ends %s is taken at its word', async (_name, text, end) => {
  const sandbox = await startTestSandbox();
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

const silent: [what: string, listen: () => Promise<string>][] = [
  [
    'sends comments without a word',
    async () => {
      const model = await startModelServer((response) => {
        response.writeHead(200, sse);
        const pings = setInterval(() => response.write(': ping\n\n'), 20);
        response.on('close', () => clearInterval(pings));
      });
      return model.url;
    },
  ],
  [
    'never lets itself be reached',
    async () => {
      const server = createServer((socket) => socket.on('error', () => {}));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void server.close());
      return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
  ],
];

test.each(silent)('a model that %s is silent', async (_, listen) => {
  const question = { url: await listen(), headers: {}, body: {}, silenceMs: 200 };
  const given = AbortSignal.timeout(5_000);
  await expect(askModel(question, { hosts: [], ownPort: null }, given)).rejects.toThrow('the model was silent for 0.2 s');
});

test('the sandbox connects to this machine alone unless a host was allowed in as many words', async () => {
  const model = await startModelServer(interviewer);
  const port = new URL(model.url).port;
  const refused = await startTestSandbox();
  for (const url of ['http://192.0.2.10/v1', 'https://models.example/v1', `http://0.0.0.0:${port}/v1`]) {
    const record = await holdConversation(refused, await createModelAgent(refused, url, { llm: disabled }));
    expect(record).toMatchObject({ status: 'failed', termination_reason: expect.stringContaining('--allow-outbound') });
  }
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
  const record = await holdConversation(sandbox, await createModelAgent(sandbox, model.url));
  expect(record.transcript[2].text).toBe('My key is [redacted] and that is that.');
  expect(record.transcript.flatMap(({ tool_calls: calls }: Json) => calls)).toHaveLength(1);
  await expectNoSecret(sandbox, record);
});

/** Everywhere that a caller, an owner or a judge can look. */
async function expectNoSecret(sandbox: TestSandbox, record: Json): Promise<void> {
  const places = ['/_sandbox/journal', '/_sandbox/calls', '/v1/convai/conversations'];
  const seen = await Promise.all(places.map(async (path) => await sandbox.read(path)));
  expect(JSON.stringify([record, seen])).not.toContain(secret.slice('Bearer '.length));
}

test.each(['', '/', '/chat/completions', '/chat/completions/'])(
  'the path is appended exactly once to an address that ends in "%s"',
  (end) => {
    expect(completionsAddress(`http://127.0.0.1:8080/v1${end}?a=1#b`)).toBe('http://127.0.0.1:8080/v1/chat/completions?a=1');
  },
);
