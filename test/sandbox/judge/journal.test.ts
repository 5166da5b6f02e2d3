import { expect, test } from 'vitest';
import { redactText } from '../../../src/sandbox/judge/captures.ts';
import { startTestSandbox, type Json, type TestSandbox } from '../harness.ts';

const agents = '/v1/convai/agents';

async function entriesOf(sandbox: TestSandbox, query = ''): Promise<Json[]> {
  return (await sandbox.get(`/_sandbox/journal${query}`)).body.entries;
}

async function textsOf(sandbox: TestSandbox, sequence: number): Promise<[string | null, string | null]> {
  const { body } = await sandbox.get(`/_sandbox/journal/${sequence}`);
  return [body.request.text, body.reply?.text ?? null];
}

test('a request is kept with its headers and bodies, and those of its reply', async () => {
  const sandbox = await startTestSandbox();
  const { body: created } = await sandbox.request('POST', agents, { name: 'Ann' }, { headers: { 'x-trace': 't1' } });
  const { body } = await sandbox.get('/_sandbox/journal/1');
  expect(body).toMatchObject({
    sequence: 1,
    operation: 'create_agent',
    status: 200,
    request: { text: '{"name":"Ann"}', length: 14, cut: false },
    reply: { text: JSON.stringify(created), cut: false },
  });
  expect(body.request.headers).toContainEqual({ name: 'x-trace', value: 't1' });
  expect(body.request.headers).toContainEqual({ name: 'x-api-key', value: '[redacted]' });
  expect(body.reply.headers).toContainEqual({ name: 'x-sandbox', value: '1' });
});

test('refusals and unreadable bodies are kept too', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.request('POST', agents, '{"name":');
  const [asked, answered] = await textsOf(sandbox, 1);
  expect(asked).toBe('{"name":');
  expect(JSON.parse(answered ?? '').detail).toBeDefined();
});

test('a request that never got a reply has none in the journal', async () => {
  const sandbox = await startTestSandbox({ faults: [{ operation: 1, effect: { type: 'reset', when: 'before' } }] });
  await expect(sandbox.request('POST', agents, { name: 'Ann' })).rejects.toThrow();
  expect(await textsOf(sandbox, 1)).toEqual(['{"name":"Ann"}', null]);
});

test('long bodies are cut at 16,384 characters, and say so', async () => {
  const sandbox = await startTestSandbox({ loose: true });
  await sandbox.request('POST', agents, { name: 'Ann', tags: ['ä'.repeat(40_000)] });
  const { body } = await sandbox.get('/_sandbox/journal/1');
  expect([body.request.text.length, body.request.length, body.request.cut]).toEqual([16_384, 40_026, true]);
  expect(body.request.text).toMatch(/^\{"name":"Ann","tags":\["ä+$/);
});

test('bodies are kept of the newest thousand requests, entries of all', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.request('POST', agents, { name: 'First' });
  for (let sent = 0; sent < 999; sent += 37) await Promise.all(Array.from({ length: 37 }, () => sandbox.get(agents)));
  expect((await textsOf(sandbox, 1))[0]).toBe('{"name":"First"}');
  await sandbox.get(agents);
  const { body } = await sandbox.get('/_sandbox/journal/1');
  expect(body).toMatchObject({ sequence: 1, operation: 'create_agent', request: null, reply: null });
  expect((await sandbox.get('/_sandbox/journal/1001')).body.reply.text).toContain('agents');
});

test.each(['0', '2', 'x', '1e0', '-1', '99999999999999999999'])('there is no entry %s in a journal of one', async (sequence) => {
  const sandbox = await startTestSandbox();
  await sandbox.get(agents);
  expect((await sandbox.get(`/_sandbox/journal/${sequence}`)).status).toBe(404);
});

test('no secret that goes through the service is in the journal, in whatever form it is asked for', async () => {
  const planted = 'planted-7f3a';
  const sandbox = await startTestSandbox({ apiKeys: [`${planted}-key`] });
  const headers = { 'x-api-key': `${planted}-key`, authorization: `Bearer ${planted}` };
  const send = (method: string, path: string, body?: unknown) => sandbox.request(method, path, body, { headers });
  const number = { label: 'A', phone_number: '+12125550110', telephony_account_sid: 'AC1' };
  const token = `${planted}-token`;
  await send('POST', '/v1/convai/phone-numbers', { ...number, telephony_auth_token: token });
  await send('POST', '/v1/convai/phone-numbers', `{"telephony_auth_t\\u006fken":"${token}","broken":`);
  await send('POST', '/v1/convai/phone-numbers', `{"telephony_auth_token" : ${token}`);
  const custom_llm = { url: 'http://127.0.0.1:9/v1', extra_headers: { 'X-Anything': `${planted}-header` } };
  const llm = { model_id: 'custom', custom_llm };
  await send('POST', agents, { name: 'Ann', conversation_config: { agent: { llm } } });
  await send('POST', agents, { name: 'a'.repeat(16_000), conversation_config: { agent: { llm } }, tags: ['a'.repeat(9_000)] });
  await send('GET', `${agents}?cursor=${planted}-key`);
  await send('GET', `/v1/convai/conversations/conv_x/audio?expires=1&signature=${planted}`);
  await send('GET', `/v1/convai/conversation?agent_id=a&conversation_signature=${planted}`);
  const told = [
    await entriesOf(sandbox),
    ...(await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((one) => sandbox.get(`/_sandbox/journal/${one}`)))).map((a) => a.body),
    (await sandbox.get('/_sandbox/journal?format=ndjson')).body,
  ];
  expect(told[4].request.text).toContain('"X-Anything":"[redacted]"');
  expect(JSON.stringify(told)).not.toContain(planted);
});

test('credentials that the service hands out are not in the journal either', async () => {
  const sandbox = await startTestSandbox();
  const address = (await sandbox.get('/v1/convai/conversation/get-signed-url?agent_id=agent_survey')).body.signed_url;
  const { token } = (await sandbox.get('/v1/convai/conversation/token?agent_id=agent_survey')).body;
  await sandbox.batch(['+12125550100']);
  sandbox.clock.advance(3_600_000);
  const path = `/v1/convai/conversations/${sandbox.calls()[0]?.conversationId}`;
  const { audio } = (await sandbox.get(path)).body;
  const texts = (await Promise.all([1, 2, 3, 4].map((sequence) => textsOf(sandbox, sequence)))).join('\n');
  expect(texts).toContain('conversation_signature=[redacted]');
  const signatures = [address, audio].map((url: string) => /signature=([^&]+)/.exec(url)?.[1] ?? 'none there');
  for (const secret of [token, ...signatures]) expect(texts).not.toContain(secret);
});

test.each([
  ['{"a":{"token":"x","max_tokens":5,"input_tokens":7}}', '{"a":{"token":"[redacted]","max_tokens":5,"input_tokens":7}}'],
  ['{"extra_headers":{"a":"1","b":{"c":"2"}}}', '{"extra_headers":{"a":"[redacted]","b":"[redacted]"}}'],
  ['{"text":"my token is mine"}', '{"text":"my token is mine"}'],
  ['{"url":"http://x/?signature=abc&b=1"}', '{"url":"http://x/?signature=[redacted]&b=1"}'],
  ['{"a":1,"api_key":"se', '{"a":1,"[redacted]'],
  ['{"a":"http://x/?signature=ab","b":"c', '{"a":"http://x/?signature=[redacted]","b":"c'],
  ['name=Ann&password=x', 'name=Ann&[redacted]'],
  ['plain', 'plain'],
])('%s is shown as %s', (text, shown) => {
  expect(redactText(text, [])).toBe(shown);
});

test.each([
  ['POST', '/v1/convai/phone-number/batch-calls', 'POST /v1/convai/phone-numbers/batch-calls'],
  ['POST', '/v1/convai/batch-calls', 'POST /v1/convai/phone-numbers/batch-calls'],
  ['POST', '/v1/convai/phone-numbers/batch_calls', 'POST /v1/convai/phone-numbers/batch-calls'],
  ['POST', '/convai/agents', 'POST /v1/convai/agents'],
  ['GET', '/v1/agents', 'GET /v1/convai/agents'],
  ['GET', '/V1/Convai/Agents', 'GET /v1/convai/agents'],
  ['GET', '/v1/convai/agent/agent_7', 'GET /v1/convai/agents/{agent_id}'],
  ['DELETE', '/v1/convai/conversation/conv_1', 'DELETE /v1/convai/conversations/{conversation_id}'],
  ['GET', '/v1/convai/conversation/get_signed_urls', 'GET /v1/convai/conversation/get-signed-url'],
  ['GET', '/_sandbox/jornal', 'GET /_sandbox/journal'],
])('%s %s is answered with a question: did you mean %s?', async (method, path, meant) => {
  const sandbox = await startTestSandbox({ dialect: 'spec' });
  const answer = await sandbox.request(method, path, method === 'POST' ? {} : undefined);
  expect([404, 405]).toContain(answer.status);
  if (answer.status === 404) expect(answer.body.detail.message).toContain(`Did you mean ${meant}?`);
  const kept = await entriesOf(sandbox, '?unmatched=true');
  const entry = { path, unmatched: true, hint: meant, operation: null, status: answer.status };
  expect(kept).toMatchObject(path.startsWith('/_sandbox') ? [] : [entry]);
});

test.each(['/x', '/favicon.png', `/v1/${'a'.repeat(300)}`, '/wp-login.php'])('for %s nothing is guessed', async (path) => {
  const sandbox = await startTestSandbox({ dialect: 'spec' });
  await sandbox.get(path);
  for (const entry of await entriesOf(sandbox)) expect(entry.hint).toBeNull();
});

test('the journal is filtered by operation, status and whether anything is served there', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.get(agents);
  await sandbox.get(`${agents}/agent_none`);
  await sandbox.get('/v1/convai/nothing');
  await sandbox.request('POST', agents, {});
  const sequences = async (query: string): Promise<number[]> => (await entriesOf(sandbox, query)).map(({ sequence }) => sequence);
  expect(await sequences('?operation=list_agents')).toEqual([1]);
  expect(await sequences('?status=404')).toEqual([2, 3]);
  expect(await sequences('?status=4xx')).toEqual([2, 3, 4]);
  expect(await sequences('?unmatched=true')).toEqual([3]);
  expect(await sequences('?unmatched=false&status=4xx&since=2')).toEqual([4]);
  const first = (await sandbox.get('/_sandbox/journal?status=4xx&limit=2')).body;
  expect([first.entries.length, first.next]).toEqual([2, 3]);
  expect((await sandbox.get(`/_sandbox/journal?status=4xx&since=${first.next}`)).body.entries).toMatchObject([{ sequence: 4 }]);
});

test.each(['operation=dial', 'status=700', 'unmatched=perhaps', 'format=xml', 'since=-1'])('the journal refuses ?%s', async (query) => {
  const sandbox = await startTestSandbox();
  expect((await sandbox.get(`/_sandbox/journal?${query}`)).status).toBe(422);
});

test('the journal as lines has one entry with bodies in each', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.request('POST', agents, { name: 'A\nB' });
  await sandbox.get(agents);
  const answer = await sandbox.get('/_sandbox/journal?format=ndjson');
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
  const lines = String(answer.body)
    .trimEnd()
    .split('\n')
    .map((line): Json => JSON.parse(line));
  expect(lines).toMatchObject([
    { sequence: 1, request: { text: '{"name":"A\\nB"}' } },
    { sequence: 2, request: { text: null }, reply: { cut: false } },
  ]);
});

test('what the sandbox serves beside the service is no part of the journal', async () => {
  const sandbox = await startTestSandbox();
  expect((await sandbox.get('/openapi.json')).status).toBe(200);
  await sandbox.get('/_sandbox/health');
  expect(await entriesOf(sandbox)).toEqual([]);
});

test('a reset forgets entries and bodies', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.get(agents);
  await sandbox.request('POST', '/_sandbox/reset');
  expect((await sandbox.get('/_sandbox/journal/1')).status).toBe(404);
  await sandbox.get(agents);
  expect(await entriesOf(sandbox)).toMatchObject([{ sequence: 2 }]);
});
