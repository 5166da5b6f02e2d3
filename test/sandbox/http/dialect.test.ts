import { request as rawRequest } from 'node:http';
import { expect, test } from 'vitest';
import { isNestedDeeper } from '../../../src/sandbox/http/json-text.ts';
import { startTestSandbox, type Json, type TestSandbox } from '../harness.ts';
import { gzipSync } from 'node:zlib';
import { fetch } from 'undici';

const agents = '/v1/convai/agents';
const batches = '/v1/convai/batch-calling';

test('the paths of comparable services lead to the same operations', async () => {
  const sandbox = await startTestSandbox();
  const created = await sandbox.request('POST', `${agents}/create`, { name: 'A' });
  expect(created.status).toBe(200);
  expect((await sandbox.get(`${agents}/${created.body.agent_id}`)).body.name).toBe('A');
  const signed = await sandbox.get('/v1/convai/conversation/get_signed_url?agent_id=agent_survey');
  expect(new URL(signed.body.signed_url).searchParams.get('agent_id')).toBe('agent_survey');
  expect(sandbox.journal().map(({ operation }) => operation)).toEqual(['create_agent', 'get_agent', 'get_signed_url']);
});

test.each([
  ['POST', `${agents}/create`, 405],
  ['GET', '/v1/convai/conversation/get_signed_url?agent_id=agent_survey', 404],
  ['GET', '/v1/convai/v2/phone-numbers', 404],
  ['POST', `${batches}/submit`, 404],
  ['GET', `${batches}/workspace`, 404],
  ['GET', `${batches}/batch_1`, 404],
  ['POST', `${batches}/batch_1/cancel`, 404],
  ['POST', `${batches}/batch_1/retry`, 404],
  ['DELETE', `${batches}/batch_1`, 404],
])('%s %s is nothing in the spec dialect', async (method, path, status) => {
  const sandbox = await startTestSandbox({ dialect: 'spec' });
  const answer = await sandbox.request(method, path, method === 'POST' ? { name: 'A' } : undefined);
  expect(answer.status).toBe(status);
  expect(answer.body.detail.code).toBe(status === 405 ? 'method_not_allowed' : 'route_not_found');
});

test('the second name of the key header counts in the extended dialect alone', async () => {
  const ask = async (sandbox: TestSandbox, headers: Record<string, string>): Promise<number> =>
    (await sandbox.request('GET', agents, undefined, { headers: { 'x-api-key': '', ...headers } })).status;
  const extended = await startTestSandbox();
  expect(await ask(extended, { 'xi-api-key': 'sk_sandbox_ok' })).toBe(200);
  expect(await ask(extended, { 'xi-api-key': 'sk_sandbox_revoked' })).toBe(401);
  expect(await ask(extended, { 'xi-api-key': 'sk_sandbox_ok', 'x-api-key': 'sk_sandbox_ok' })).toBe(200);
  // Two keys are no key: it would be a guess which one is meant.
  expect(await ask(extended, { 'xi-api-key': 'sk_sandbox_ok', 'x-api-key': 'sk_sandbox_slow' })).toBe(401);
  expect(await ask(extended, { authorization: 'Bearer sk_sandbox_ok' })).toBe(401);
  const spec = await startTestSandbox({ dialect: 'spec' });
  expect(await ask(spec, { 'xi-api-key': 'sk_sandbox_ok' })).toBe(401);
  const keys = JSON.stringify([extended.journal(), (await extended.get('/_sandbox/journal')).body]);
  expect(keys).not.toContain('sk_sandbox_ok');
});

test.each([
  ['a blank key', ['  ']],
  ['the key twice', ['sk_sandbox_ok', 'sk_sandbox_ok']],
  ['two keys', ['sk_sandbox_ok', 'sk_sandbox_slow']],
])('%s is refused with 401', async (_what, keys) => {
  const sandbox = await startTestSandbox();
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = keys.flatMap((key) => ['x-api-key', key]);
    const sent = rawRequest(sandbox.url + agents, { headers: ['host', new URL(sandbox.url).host, ...headers] });
    sent.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
    sent.end();
  });
  expect(status).toBe(401);
});

test.each([
  ['HEAD', agents, 405],
  ['OPTIONS', agents, 405],
  ['GET', `${agents}/`, 404],
  ['POST', `${agents}/`, 404],
  ['GET', `${agents}/agent_survey/`, 404],
])('%s %s is answered %i, and says what is served', async (method, path, status) => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.request(method, path, method === 'POST' ? { name: 'A' } : undefined);
  expect(answer.status).toBe(status);
  if (status === 405) expect(answer.headers.get('allow')).toBe('POST, GET');
  else expect(answer.body.detail.message).toMatch(/Nothing is served at \/v1\/convai\/agents\/|leave the last slash out/);
});

test('a poisoned key is refused wherever it stands', async () => {
  const sandbox = await startTestSandbox();
  for (const body of ['{"name":"A","__proto__":{"tags":[]}}', '{"name":"A","conversation_config":{"__proto__":{"x":1}}}'])
    expect((await sandbox.request('POST', agents, body)).status).toBe(400);
});

const recipients = ['+12125550100', '+12125550101'].map((phone_number, index) => ({
  id: `person_${index}`,
  phone_number,
  conversation_initiation_client_data: {
    dynamic_variables: { name: `Robin ${index}`, secret__code: 'open sesame' },
    conversation_config_override: { agent: { first_message: 'Hello {{name}}.' } },
  },
}));

async function submit(sandbox: TestSandbox, more: Json = {}): Promise<Json> {
  const { status, body } = await sandbox.request('POST', `${batches}/submit`, {
    call_name: 'Spring round',
    agent_id: 'agent_reminders',
    agent_phone_number_id: 'pn_main',
    recipients,
    ...more,
  });
  expect({ status, body }).toMatchObject({ status: 200 });
  return body;
}

async function statusesOf(sandbox: TestSandbox, id: string): Promise<[string, Json]> {
  const { body } = await sandbox.get(`${batches}/${id}`);
  return [body.status, Object.fromEntries(body.recipients.map((each: Json) => [each.id, each.status]))];
}

test('a batch submitted in the form of comparable services is dialled, and can be followed to its end', async () => {
  const sandbox = await startTestSandbox();
  const batch = await submit(sandbox);
  expect(batch).toMatchObject({
    name: 'Spring round',
    agent_id: 'agent_reminders',
    agent_name: 'Appointment reminders',
    phone_number_id: 'pn_main',
    phone_provider: 'telephony',
    total_calls_scheduled: 2,
    total_calls_dispatched: 2,
    total_calls_finished: 0,
    status: 'in_progress',
    retry_count: 0,
  });
  expect(sandbox.calls().map(({ openingLine }) => openingLine)).toEqual(['Hello Robin 0.', 'Hello Robin 1.']);
  expect(sandbox.journal()[0]).toMatchObject({ operation: 'batch_calls', callsRequested: 2, callsAccepted: 2 });
  expect(await statusesOf(sandbox, batch.id)).toEqual(['in_progress', { person_0: 'initiated', person_1: 'initiated' }]);
  sandbox.clock.advance(3_600_000);
  expect(await statusesOf(sandbox, batch.id)).toEqual(['completed', { person_0: 'completed', person_1: 'failed' }]);
  const { body } = await sandbox.get(`${batches}/${batch.id}`);
  const record = await sandbox.get(`/v1/convai/conversations/${body.recipients[0].conversation_id}`);
  expect(record.body.metadata.batch_call.batch_call_id).toBe(batch.id);
  expect(JSON.stringify(body)).not.toContain('open sesame');
});

test('the id of a recipient stands in the record of each call to it, a retry included', async () => {
  const sandbox = await startTestSandbox();
  const { id } = await submit(sandbox, { recipients: [...recipients, { phone_number: '+12125550102' }] });
  sandbox.clock.advance(3_600_000);
  await sandbox.request('POST', `${batches}/${id}/retry`);
  sandbox.clock.advance(3_600_000);
  const records = await Promise.all(sandbox.calls().map(({ conversationId }) => sandbox.get(`/v1/convai/conversations/${conversationId}`)));
  const told = records.map(({ body }) => body.metadata.batch_call.batch_call_recipient_id);
  const unnamed = sandbox.calls()[2]?.callId;
  expect(told).toEqual(['person_0', 'person_1', unnamed, 'person_1', unnamed]);
});

test('a batch has at most target_concurrency_limit calls on the line, and holds up no other', async () => {
  const sandbox = await startTestSandbox({ concurrency: 6 });
  const onTheLine = (batchId: string): number =>
    sandbox.calls().filter((call) => call.batchId === batchId && call.dialedAt !== null && call.endedAt === null).length;
  const many = Array.from({ length: 9 }, (_, nth) => ({ phone_number: `+121255501${30 + nth}` }));
  const { id } = await submit(sandbox, { recipients: many, target_concurrency_limit: 2 });
  const other = await sandbox.batch(['+12125550140', '+12125550141', '+12125550142']);
  expect([onTheLine(id), onTheLine(other.body.batch_id)]).toEqual([2, 3]);
  const most = [];
  for (let minute = 0; minute < 60; minute += 1) {
    sandbox.clock.advance(10_000);
    most.push(onTheLine(id));
  }
  expect(Math.max(...most)).toBe(2);
  expect(sandbox.calls().filter(({ batchId, endedAt }) => batchId === id && endedAt === null)).toEqual([]);
  const dialled = sandbox
    .calls()
    .filter(({ batchId }) => batchId === id)
    .map(({ dialedAt }) => dialedAt ?? Infinity);
  expect(dialled).toEqual(dialled.toSorted((one, two) => one - two));
});

test('calls held back by the limit of their batch are taken back with it', async () => {
  const sandbox = await startTestSandbox();
  const many = Array.from({ length: 4 }, (_, nth) => ({ phone_number: `+121255501${30 + nth}` }));
  const { id } = await submit(sandbox, { recipients: many, target_concurrency_limit: 1 });
  await sandbox.request('POST', `${batches}/${id}/cancel`);
  sandbox.clock.advance(3_600_000);
  expect(sandbox.calls().map(({ dialedAt }) => dialedAt !== null)).toEqual([true, false, false, false]);
  const { body } = await sandbox.get('/_sandbox/idle');
  expect(JSON.stringify(body)).not.toMatch(/"(queued|waiting)":[1-9]/);
  const retried = await sandbox.request('POST', `${batches}/${id}/retry`);
  expect(retried.body).toMatchObject({ total_calls_finished: 1, status: 'in_progress', target_concurrency_limit: 1 });
  expect(sandbox.calls().filter(({ dialedAt, endedAt }) => dialedAt !== null && endedAt === null)).toHaveLength(1);
  sandbox.clock.advance(3_600_000);
  expect((await statusesOf(sandbox, id))[0]).toBe('completed');
});

test('a cancelled batch dials nobody any more, and goes on with those on the line', async () => {
  const sandbox = await startTestSandbox({ concurrency: 1 });
  const { id } = await submit(sandbox);
  const cancelled = await sandbox.request('POST', `${batches}/${id}/cancel`);
  expect(cancelled.body).toMatchObject({ status: 'cancelled', total_calls_dispatched: 1 });
  sandbox.clock.advance(3_600_000);
  expect(await statusesOf(sandbox, id)).toEqual(['cancelled', { person_0: 'completed', person_1: 'cancelled' }]);
  expect(sandbox.calls().map(({ dialedAt }) => dialedAt === null)).toEqual([false, true]);
  // The line is free for others.
  await sandbox.batch(['+12125550100']);
  expect(sandbox.calls()[2]?.dialedAt).not.toBeNull();
});

test('a retry dials again whom a call failed to reach, and nobody else', async () => {
  const sandbox = await startTestSandbox();
  const { id } = await submit(sandbox, { recipients: [...recipients, { id: 'later', phone_number: '+12125550110' }] });
  sandbox.clock.advance(3_600_000);
  const retried = await sandbox.request('POST', `${batches}/${id}/retry`);
  expect(retried.body).toMatchObject({ id, retry_count: 1, total_calls_scheduled: 3, status: 'in_progress' });
  sandbox.clock.advance(3_600_000);
  expect(await statusesOf(sandbox, id)).toEqual(['completed', { person_0: 'completed', person_1: 'failed', later: 'completed' }]);
  expect(sandbox.calls().map(({ to, nth }) => [to.slice(-4), nth])).toEqual([
    ['0100', 1],
    ['0101', 1],
    ['0110', 1],
    ['0101', 2],
    ['0110', 2],
  ]);
});

test('a batch for later is dialled at its time', async () => {
  const sandbox = await startTestSandbox();
  const at = Math.floor(sandbox.clock.now() / 1000) + 600;
  const { id, scheduled_time_unix } = await submit(sandbox, { scheduled_time_unix: at, timezone: 'Europe/London' });
  expect(scheduled_time_unix).toBe(at);
  expect((await statusesOf(sandbox, id))[0]).toBe('pending');
  sandbox.clock.advance(599_000);
  expect((await statusesOf(sandbox, id))[0]).toBe('pending');
  sandbox.clock.advance(1_000);
  expect((await statusesOf(sandbox, id))[0]).toBe('in_progress');
  expect(sandbox.calls().map(({ dialedAt }) => dialedAt)).toEqual([at * 1000, at * 1000]);
});

test('a batch cancelled before its time is never dialled', async () => {
  const sandbox = await startTestSandbox();
  const at = Math.floor(sandbox.clock.now() / 1000) + 600;
  const { id } = await submit(sandbox, { scheduled_time_unix: at });
  await sandbox.request('POST', `${batches}/${id}/cancel`);
  sandbox.clock.advance(3_600_000);
  expect(await statusesOf(sandbox, id)).toEqual(['cancelled', { person_0: 'cancelled', person_1: 'cancelled' }]);
});

test('batches are listed newest first, whichever way they came, each once while others come and go', async () => {
  const sandbox = await startTestSandbox();
  const ids = [(await submit(sandbox)).id, (await sandbox.batch(['+12125550150'])).body.batch_id];
  ids.push((await submit(sandbox, { agent_id: 'agent_survey' })).id);
  const first = await sandbox.get(`${batches}/workspace?limit=2`);
  expect(first.body).toMatchObject({ has_more: true, batch_calls: [{ id: ids[2] }, { id: ids[1], name: ids[1] }] });
  await submit(sandbox);
  expect((await sandbox.request('DELETE', `${batches}/${ids[2]}`)).status).toBe(200);
  const second = await sandbox.get(`${batches}/workspace?limit=2&last_doc=${first.body.next_doc}`);
  expect(second.body).toMatchObject({ has_more: false, next_doc: null });
  expect(second.body.batch_calls.map(({ id }: Json) => id)).toEqual([ids[0]]);
  const own = await sandbox.get(`${batches}/workspace?agent_id=agent_survey`);
  expect(own.body.batch_calls).toEqual([]);
  expect((await sandbox.get(`${batches}/workspace?last_doc=x`)).body.detail[0].loc).toEqual(['query', 'last_doc']);
});

test.each([
  ['GET', ''],
  ['POST', '/cancel'],
  ['POST', '/retry'],
  ['DELETE', ''],
])('%s of a batch%s that is not there is 404, and needs a key', async (method, path) => {
  const sandbox = await startTestSandbox();
  const { id } = await submit(sandbox);
  await sandbox.request('DELETE', `${batches}/${id}`);
  for (const each of [id, 'batch_none']) {
    const answer = await sandbox.request(method, `${batches}/${each}${path}`);
    expect(answer).toMatchObject({ status: 404, body: { detail: { code: 'batch_not_found' } } });
  }
  const stranger = { headers: { 'x-api-key': 'sk_wrong' } };
  expect((await sandbox.request(method, `${batches}/${id}${path}`, undefined, stranger)).status).toBe(401);
});

test.each<[string, Json, string]>([
  ['no name', { call_name: undefined }, 'call_name'],
  ['no recipients', { recipients: [] }, 'recipients'],
  ['a number that is none', { recipients: [{ phone_number: '2125550100' }] }, 'recipients.0.phone_number'],
  ['a number that cannot be dialled', { recipients: [{ phone_number: '+12125550120' }] }, 'recipients.0.phone_number'],
  ['an unknown field', { surprise: 1 }, 'surprise'],
])('a submitted batch with %s is refused whole', async (_what, more, place) => {
  const sandbox = await startTestSandbox();
  const refused = await sandbox.request('POST', `${batches}/submit`, {
    call_name: 'X',
    agent_id: 'agent_reminders',
    agent_phone_number_id: 'pn_main',
    recipients,
    ...more,
  });
  expect({ status: refused.status, loc: refused.body.detail[0].loc.join('.') }).toEqual({ status: 422, loc: `body.${place}` });
  expect(sandbox.calls()).toEqual([]);
});

function nested(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
}

test.each([
  ['', 0, false],
  ['1', 0, false],
  ['{}', 0, true],
  ['[[]]', 1, true],
  ['[[],[],[]]', 2, false],
  ['["[[[[", "\\"[[[["]', 1, false],
  [nested(100), 100, false],
  [nested(101), 100, true],
])('whether %j is nested more than %i deep: %s', (text, levels, deeper) => {
  expect(isNestedDeeper(text, levels)).toBe(deeper);
});

test.for(['spec', 'extended'] as const)('a body nested 8,000 deep is refused, and nothing is lost: %s', async (dialect) => {
  const sandbox = await startTestSandbox({ dialect });
  const bodies = [`{"name":"A","platform_settings":${nested(8_000)}}`, nested(8_000), '['.repeat(24_000)];
  for (const body of bodies) {
    const answer = await sandbox.request('POST', agents, body);
    expect({ status: answer.status, ...answer.body.detail[0] }).toMatchObject({ status: 422, type: 'too_deep' });
  }
  expect((await sandbox.get('/_sandbox/export')).status).toBe(200);
  expect((await sandbox.get(agents)).body.agents).toHaveLength(3);
});

test('what is nested 90 deep is kept, exported and imported', async () => {
  const sandbox = await startTestSandbox();
  const made = await sandbox.request('POST', agents, `{"name":"A","platform_settings":${nested(90)}}`);
  expect(made.status).toBe(200);
  const { body } = await sandbox.get('/_sandbox/export');
  expect((await sandbox.request('POST', '/_sandbox/import', body)).status).toBeLessThan(300);
  expect((await sandbox.get(`${agents}/${made.body.agent_id}`)).status).toBe(200);
});

async function post(sandbox: TestSandbox, body: Uint8Array, headers: Record<string, string> = {}): Promise<Json> {
  const response = await fetch(sandbox.url + agents, {
    method: 'POST',
    headers: { 'x-api-key': 'sk_sandbox_ok', 'content-type': 'application/json', ...headers },
    body,
  });
  const { detail } = (await response.json()) as Json;
  return { ...detail, status: response.status };
}

test('a poisoned key, a compressed body and one that is no UTF-8 are refused for what they are', async () => {
  const sandbox = await startTestSandbox();
  const bytes = (text: string) => new TextEncoder().encode(text);
  expect(await post(sandbox, bytes('{"name":"A","__proto__":{"x":1}}'))).toMatchObject({
    status: 400,
    code: 'forbidden_key',
    message: expect.stringContaining('__proto__'),
  });
  expect(await post(sandbox, gzipSync('{"name":"A"}'), { 'content-encoding': 'gzip' })).toMatchObject({
    status: 415,
    code: 'unsupported_content_encoding',
    message: expect.stringContaining('gzip'),
  });
  const invalid = Uint8Array.from([...bytes('{"name":"A'), 0xff, 0xc3, ...bytes('"}')]);
  expect(await post(sandbox, invalid)).toMatchObject({ status: 400, code: 'invalid_encoding' });
  expect((await sandbox.get(agents)).body.agents).toHaveLength(3);
});
