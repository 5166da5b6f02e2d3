import { expect, test } from 'vitest';
import { startTestSandbox } from '../harness.ts';

const batchPath = '/v1/convai/phone-numbers/batch-calls';
const batch = {
  agent_id: 'agent_reminders',
  from_phone_number_id: 'pn_main',
  calls: [{ to_phone_number: '+12125550150' }],
};

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
  const answer = await sandbox.request('GET', '/v1/convai/agents?x-api-key=sk_sandbox_ok', undefined, {
    headers: { 'x-api-key': '' },
  });
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
  const answer = await sandbox.request('POST', batchPath, JSON.stringify(batch), {
    headers: { 'content-type': 'text/plain' },
  });
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
