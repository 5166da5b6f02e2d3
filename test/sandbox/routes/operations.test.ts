import { expect, test } from 'vitest';
import { startTestSandbox, type Json } from '../harness.ts';

const agents = '/v1/convai/agents';

test('an agent that was created can be read back, with the default model where tts names none', async () => {
  const sandbox = await startTestSandbox();
  const config = { tts: { voice_id: 'v1' }, agent: { first_message: 'Hi.', llm: { temperature: 1 } } };
  const created = await sandbox.request('POST', agents, { name: 'A', tags: ['x'], conversation_config: config });
  expect(created.status).toBe(200);
  const read = await sandbox.get(`${agents}/${created.body.agent_id}`);
  expect(read.body).toMatchObject({
    agent_id: created.body.agent_id,
    name: 'A',
    tags: ['x'],
    conversation_config: { ...config, tts: { voice_id: 'v1', model_id: 'svc_flash_v2' } },
  });
});

test('a PATCH changes only what it sends, at every depth', async () => {
  const sandbox = await startTestSandbox();
  const llm = { model_id: 'custom', custom_llm: { url: 'http://127.0.0.1:1/v1', extra_headers: { a: '1', b: '2' } }, temperature: 0.2 };
  const { body } = await sandbox.request('POST', agents, {
    name: 'A',
    conversation_config: { agent: { first_message: 'Hi.', prompt: { prompt: 'P' }, llm } },
  });
  const path = `${agents}/${body.agent_id}`;
  const before = await sandbox.get(path);
  const untouched = await sandbox.request('PATCH', path, { conversation_config: { agent: { llm: {} } } });
  expect(untouched.body.conversation_config).toEqual(before.body.conversation_config);
  const patched = await sandbox.request('PATCH', path, {
    conversation_config: { tts: { voice_id: 'v2' }, agent: { llm: { custom_llm: { extra_headers: { b: '3' } } } } },
  });
  expect(patched.body.conversation_config).toEqual({
    tts: { voice_id: 'v2', model_id: 'svc_flash_v2' },
    agent: {
      first_message: 'Hi.',
      prompt: { prompt: 'P' },
      llm: { ...llm, custom_llm: { url: 'http://127.0.0.1:1/v1', extra_headers: { a: '[redacted]', b: '[redacted]' } } },
    },
  });
});

test('changing to a custom model needs its address in the result', async () => {
  const sandbox = await startTestSandbox();
  const patch = { conversation_config: { agent: { llm: { model_id: 'custom' } } } };
  const refused = await sandbox.request('PATCH', `${agents}/agent_survey`, patch);
  expect(refused.status).toBe(422);
  expect(refused.body.detail[0].loc.at(-1)).toBe('custom_llm');
  const read = await sandbox.get(`${agents}/agent_survey`);
  expect(read.body.conversation_config.agent.llm.model_id).toBeUndefined();
});

test('deleting an agent is for good and frees its numbers', async () => {
  const sandbox = await startTestSandbox();
  expect((await sandbox.request('DELETE', `${agents}/agent_reminders`)).status).toBe(200);
  expect((await sandbox.get(`${agents}/agent_reminders`)).status).toBe(404);
  expect((await sandbox.request('DELETE', `${agents}/agent_reminders`)).status).toBe(404);
  const numbers = await sandbox.get('/v1/convai/phone-numbers');
  expect(numbers.body.find((n: Json) => n.phone_number_id === 'pn_main').agent_id).toBeNull();
  const inbound = await sandbox.request('POST', '/_sandbox/inbound', { phone_number_id: 'pn_main', from: '+442079460123' });
  expect(inbound.body.answered).toBe(false);
});

test('pages of agents neither lose nor repeat one while others come and go', async () => {
  const sandbox = await startTestSandbox({ seedData: false });
  const ids: string[] = [];
  for (let index = 0; index < 7; index += 1) {
    ids.push((await sandbox.request('POST', agents, { name: `A${index}` })).body.agent_id);
  }
  const first = await sandbox.get(`${agents}?page_size=3`);
  await sandbox.request('POST', agents, { name: 'late' });
  await sandbox.request('DELETE', `${agents}/${ids[0]}`);
  const second = await sandbox.get(`${agents}?page_size=3&cursor=${first.body.next_cursor}`);
  const seen = [...first.body.agents, ...second.body.agents].map((agent: Json) => agent.agent_id);
  expect(seen).toEqual(ids.toReversed().slice(0, 6));
  expect(second.body).toMatchObject({ has_more: false, next_cursor: null });
});

test('an imported number can be assigned and reassigned, and its token is nowhere to be read', async () => {
  const sandbox = await startTestSandbox();
  const token = 'planted-token-5c1e';
  const imported = await sandbox.request('POST', '/v1/convai/phone-numbers', {
    label: 'L',
    phone_number: '+12125550188',
    telephony_account_sid: 'AC1',
    telephony_auth_token: token,
  });
  const path = `/v1/convai/phone-numbers/${imported.body.phone_number_id}`;
  expect((await sandbox.request('PATCH', path, { agent_id: 'agent_survey' })).body.agent_id).toBe('agent_survey');
  expect((await sandbox.request('PATCH', path, { agent_id: 'agent_reminders' })).body.agent_id).toBe('agent_reminders');
  expect((await sandbox.request('PATCH', path, { agent_id: 'agent_none' })).status).toBe(404);
  const everything = await Promise.all(
    ['/v1/convai/phone-numbers', '/_sandbox/journal', '/_sandbox/conduct', '/_sandbox/calls'].map((each) => sandbox.get(each)),
  );
  const listed = everything[0]?.body.find((n: Json) => n.phone_number_id === imported.body.phone_number_id);
  expect(listed).toMatchObject({ phone_number: '+12125550188', label: 'L', agent_id: 'agent_reminders' });
  expect(JSON.stringify(everything)).not.toContain(token);
});

test('the answer to an assignment is the number as it is listed from then on', async () => {
  const sandbox = await startTestSandbox();
  const numbers = '/v1/convai/phone-numbers';
  const { body } = await sandbox.request('PATCH', `${numbers}/pn_main`, { agent_id: 'agent_survey' });
  expect(body).toMatchObject({
    phone_number_id: 'pn_main',
    phone_number: '+12125550199',
    label: expect.any(String),
    agent_id: 'agent_survey',
  });
  const listed = await sandbox.get(numbers);
  expect(listed.body).toContainEqual(body);
});

test('a refused import does not echo the token', async () => {
  const sandbox = await startTestSandbox();
  const refused = await sandbox.request('POST', '/v1/convai/phone-numbers', {
    label: 'L',
    phone_number: 'not a number',
    telephony_account_sid: 'AC1',
    telephony_auth_token: 12345678,
  });
  expect(refused.status).toBe(422);
  expect(JSON.stringify(refused.body)).not.toContain('12345678');
});

test.each(['get-signed-url', 'token'])('%s gives a new credential each time, good once and not for long', async (name) => {
  const sandbox = await startTestSandbox();
  const path = `/v1/convai/conversation/${name}?agent_id=agent_survey`;
  const issue = async (): Promise<string> => {
    const { body } = await sandbox.get(path);
    return body.token ?? new URL(body.signed_url).searchParams.get('conversation_signature');
  };
  const redeem = async (credential: string): Promise<boolean> =>
    (await sandbox.request('POST', '/_sandbox/credentials/redeem', { credential })).body.accepted;
  const [one, two] = [await issue(), await issue()];
  expect(one).not.toBe(two);
  expect([await redeem(one), await redeem(one)]).toEqual([true, false]);
  sandbox.clock.advance(15 * 60_000);
  expect(await redeem(two)).toBe(false);
  expect((await sandbox.get(`/v1/convai/conversation/${name}`)).status).toBe(422);
  expect((await sandbox.get(`/v1/convai/conversation/${name}?agent_id=none`)).status).toBe(404);
});

test('a loose sandbox names the filters that it does not know, and a strict one refuses them', async () => {
  const path = '/v1/convai/conversations?page_size=5&rating_min=3&h%C3%A9=1';
  const strict = await (await startTestSandbox()).get(path);
  expect([strict.status, strict.headers.get('x-sandbox-ignored')]).toEqual([422, null]);
  const loose = await startTestSandbox({ loose: true });
  const answers = await Promise.all(
    [path, '/v1/convai/phone-numbers?search=a', '/v1/convai/agents?search=a', '/v1/convai/batch-calling/workspace?status=done'].map(
      loose.get,
    ),
  );
  expect(answers.map(({ status, headers }) => [status, headers.get('x-sandbox-ignored')])).toEqual([
    [200, 'query.rating_min, query.h%C3%A9'],
    [200, 'query.search'],
    [200, null],
    [200, 'query.status'],
  ]);
});

test('a deleted conversation is gone from every reading', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.batch(['+12125550100']);
  const id = sandbox.calls()[0]?.conversationId;
  const path = `/v1/convai/conversations/${id}`;
  expect((await sandbox.get(path)).status).toBe(200);
  expect((await sandbox.request('DELETE', path)).status).toBe(200);
  expect((await sandbox.get(path)).status).toBe(404);
  expect((await sandbox.request('DELETE', path)).status).toBe(404);
  expect((await sandbox.get('/v1/convai/conversations')).body.conversations).toEqual([]);
});

const batchPath = '/v1/convai/phone-numbers/batch-calls';
const batch = { agent_id: 'agent_reminders', from_phone_number_id: 'pn_main', calls: [{ to_phone_number: '+12125550150' }] };

test.each([
  ['no key', { 'x-api-key': '' }, 401, 'missing_api_key'],
  ['a wrong key', { 'x-api-key': 'nope' }, 401, 'invalid_api_key'],
  ['a revoked key', { 'x-api-key': 'sk_sandbox_revoked' }, 401, 'invalid_api_key'],
  ['a key that may not', { 'x-api-key': 'sk_sandbox_forbidden' }, 403, 'insufficient_permissions'],
  ['a key over its limit', { 'x-api-key': 'sk_sandbox_ratelimited' }, 429, 'rate_limit_exceeded'],
])('%s is refused in the shape of an error object', async (_what, headers, status, code) => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.request('POST', batchPath, batch, { headers });
  expect(answer.status).toBe(status);
  expect(answer.body.detail).toMatchObject({ code, status: code, request_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(sandbox.calls()).toEqual([]);
});

test('a key in the query is no key', async () => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.request('GET', '/v1/convai/agents?x-api-key=sk_sandbox_ok', undefined, { headers: { 'x-api-key': '' } });
  expect(answer.status).toBe(401);
  expect(JSON.stringify(sandbox.journal())).not.toContain('sk_sandbox_ok');
});

test.each([
  ['an unknown path', 'GET', '/v1/convai/nothing', undefined, 404],
  ['an unknown id', 'GET', '/v1/convai/conversations/conv_none', undefined, 404],
  ['a method that is not served', 'PUT', '/v1/convai/agents', {}, 405],
  ['a trailing slash', 'GET', '/v1/convai/agents/', undefined, 404],
  ['a path that cannot be decoded', 'GET', '/v1/convai/agents/%zz', undefined, 400],
  ['an id of 600 letters', 'GET', `/v1/convai/agents/${'a'.repeat(600)}`, undefined, 404],
  ['an encoded slash in an id', 'GET', '/v1/convai/agents/a%2Fb', undefined, 404],
  ['OPTIONS', 'OPTIONS', '/v1/convai/agents', undefined, 405],
  ['broken JSON', 'POST', batchPath, '{"calls":', 400],
  ['a poisoned key', 'POST', batchPath, '{"__proto__":{"a":1}}', 400],
  ['a body beyond 5 MB', 'POST', batchPath, JSON.stringify({ pad: 'x'.repeat(6_000_000) }), 413],
])('%s is answered with an error object', async (_what, method, path, body, status) => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.request(method, path, body);
  expect(answer.status).toBe(status);
  expect(answer.body.detail.message).toEqual(expect.any(String));
  expect(answer.headers.get('x-sandbox')).toBe('1');
});

test('a body that is not JSON by its own word is refused with 415', async () => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.request('POST', batchPath, JSON.stringify(batch), { headers: { 'content-type': 'text/plain' } });
  expect(answer.status).toBe(415);
});

const call = batch.calls[0];
test.each([
  ['an unknown key', { ...batch, extra: 1 }, ['body', 'extra']],
  ['an unknown key of a call', { ...batch, calls: [call, { ...call, name: 'x' }] }, ['body', 'calls', 1, 'name']],
  ['no calls', { ...batch, calls: [] }, ['body', 'calls']],
  ['a missing field', { calls: batch.calls, agent_id: 'agent_reminders' }, ['body', 'from_phone_number_id']],
  ['a number that is not E.164', { ...batch, calls: [{ to_phone_number: '2125550150' }] }, ['body', 'calls', 0, 'to_phone_number']],
  [
    'a number that cannot be dialled',
    { ...batch, calls: [call, { to_phone_number: '+12125550120' }] },
    ['body', 'calls', 1, 'to_phone_number'],
  ],
  [
    'an override out of range',
    { ...batch, calls: [{ ...call, conversation_config_override: { agent: { llm: { temperature: 1.1 } } } }] },
    ['body', 'calls', 0, 'conversation_config_override', 'agent', 'llm', 'temperature'],
  ],
  ['null for a list', { ...batch, calls: null }, ['body', 'calls']],
  ['no body', undefined, ['body']],
])('a batch with %s is refused whole, naming the field', async (_what, body, loc) => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.request('POST', batchPath, body);
  expect(answer.status).toBe(422);
  expect(answer.body.detail).toEqual([expect.objectContaining({ loc, msg: expect.any(String), type: expect.any(String) })]);
  expect(sandbox.calls()).toEqual([]);
});

test.each([
  ['GET', '/v1/convai/phone-numbers'],
  ['GET', '/v1/convai/agents/agent_survey'],
  ['GET', '/v1/convai/agents'],
  ['DELETE', '/v1/convai/agents/agent_survey'],
])('%s %s takes no unknown query, and does nothing when it gets one', async (method, path) => {
  const sandbox = await startTestSandbox();
  const refused = await sandbox.request(method, `${path}?surprise=1`);
  expect([refused.status, refused.body.detail[0]?.loc]).toEqual([422, ['query', 'surprise']]);
  expect((await sandbox.get(path)).status).toBe(200);
});

test('more calls than a batch may hold are refused, and the limit is named', async () => {
  const sandbox = await startTestSandbox({ maxCallsPerBatch: 2 });
  const answer = await sandbox.batch(['+12125550150', '+12125550151', '+12125550152']);
  expect(answer.status).toBe(422);
  expect(answer.body.detail[0].msg).toContain('at most 2');
});

test('unknown keys pass in loose mode', async () => {
  const sandbox = await startTestSandbox({ loose: true });
  expect((await sandbox.batch(['+12125550150'], { extra: 1 })).status).toBe(200);
});

test('an unknown agent is 404 and queues nothing', async () => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.batch(['+12125550150'], { agent_id: 'agent_none' });
  expect(answer.status).toBe(404);
  expect(answer.body.detail).toMatchObject({ code: 'agent_not_found', param: 'agent_id' });
  expect(sandbox.calls()).toEqual([]);
});

test('more requests per second than the limit get 429 with the wait in Retry-After, per key', async () => {
  const sandbox = await startTestSandbox({ rateLimit: { requestsPerSecond: 2 }, apiKeys: ['other'] });
  const statuses: number[] = [];
  for (let index = 0; index < 3; index += 1) statuses.push((await sandbox.get('/v1/convai/agents')).status);
  expect(statuses).toEqual([200, 200, 429]);
  expect((await sandbox.get('/v1/convai/agents')).headers.get('retry-after')).toBe('1');
  const other = await sandbox.request('GET', '/v1/convai/agents', undefined, { headers: { 'x-api-key': 'other' } });
  expect(other.status).toBe(200);
  sandbox.clock.advance(1_000);
  expect((await sandbox.get('/v1/convai/agents')).status).toBe(200);
});
