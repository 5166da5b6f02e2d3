import { once } from 'node:events';
import { request as rawRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { fetch } from 'undici';
import { expect } from 'vitest';
import { operationNames, routesOf, type OperationName } from '../../../src/sandbox/core/operations.ts';
import { isNestedDeeper } from '../../../src/sandbox/http/json-text.ts';
import { batchOf, startTestSandbox, test, type Json, type TestSandbox } from '../harness.ts';
import { describedAnswers } from '../model/described-answers.ts';

// What callers get wrong or try, a row for each. Bodies bent in every field are in fuzz.test.ts.

const agents = '/v1/convai/agents';
const numbers = '/v1/convai/phone-numbers';
const conversations = '/v1/convai/conversations';
const batches = `${numbers}/batch-calls`;
const submitted = '/v1/convai/batch-calling';
const key = 'key-of-the-test-71c';

const call = { to_phone_number: '+12125550150' };
const batch = { agent_id: 'agent_reminders', from_phone_number_id: 'pn_main', calls: [call] };
const withCall = (more: Json): Json => ({ ...batch, calls: [call, { ...call, ...more }] });
const withLlm = (llm: Json): Json => ({ name: 'A', conversation_config: { agent: { llm } } });
const submission = (more: Json): Json => batchOf(['+12125550100'], more);
const ofAgent = 'conversation_config.agent';
const headers: Json = { 'x-new': '[redacted]' };

/** Each with its status, and the place in the request or the code of the error. */
type Refusal = [what: string, method: string, path: string, body: unknown, status: number, where: string, headers?: Json];
const refusals: Refusal[] = [
  ['no key', 'POST', batches, batch, 401, 'missing_api_key', { 'x-api-key': '' }],
  ['a wrong key', 'POST', batches, batch, 401, 'invalid_api_key', { 'x-api-key': 'nope' }],
  ['a revoked key', 'POST', batches, batch, 401, 'invalid_api_key', { 'x-api-key': 'sk_sandbox_revoked' }],
  ['a key that may not', 'POST', batches, batch, 403, 'insufficient_permissions', { 'x-api-key': 'sk_sandbox_forbidden' }],
  ['a key over its limit', 'POST', batches, batch, 429, 'rate_limit_exceeded', { 'x-api-key': 'sk_sandbox_ratelimited' }],
  ['a key in the query', 'GET', `${agents}?x-api-key=sk_sandbox_ok`, undefined, 401, 'missing_api_key', { 'x-api-key': '' }],
  ['an unknown path', 'GET', '/v1/convai/nothing', undefined, 404, 'route_not_found'],
  ['an unknown id', 'GET', `${conversations}/conv_none`, undefined, 404, 'conversation_not_found'],
  ['an id of 600 letters', 'GET', `${agents}/${'a'.repeat(600)}`, undefined, 404, 'agent_not_found'],
  ['an encoded slash in an id', 'GET', `${agents}/a%2Fb`, undefined, 404, 'agent_not_found'],
  ['a slash at the end of an id', 'DELETE', `${agents}/agent_survey%2F`, undefined, 404, 'agent_not_found'],
  ['another path in an id', 'DELETE', `${agents}/..%2Fagents%2Fagent_survey`, undefined, 404, 'agent_not_found'],
  ['another path in an id, all encoded', 'GET', `${conversations}/%2e%2e%2fagent_survey`, undefined, 404, 'conversation_not_found'],
  ['a path that cannot be decoded', 'GET', `${agents}/%zz`, undefined, 400, 'bad_request'],
  ...[agents, conversations, numbers, `${agents}/agent_survey`, batches].map((path): Refusal => [
    'a slash at the end',
    'GET',
    `${path}/`,
    undefined,
    404,
    'route_not_found',
  ]),
  ['a slash at the end of a POST', 'POST', `${agents}/`, { name: 'A' }, 404, 'route_not_found'],
  ['an unknown query', 'DELETE', `${agents}/agent_survey?surprise=1`, undefined, 422, 'surprise'],
  ['broken JSON', 'POST', batches, '{"calls":', 400, 'bad_request'],
  ['a poisoned key', 'POST', batches, '{"__proto__":{"a":1}}', 400, 'forbidden_key'],
  ['one at depth', 'POST', agents, '{"name":"A","conversation_config":{"agent":{"__proto__":{"admin":true}}}}', 400, 'forbidden_key'],
  ['one by constructor', 'POST', agents, '{"name":"A","constructor":{"prototype":{"admin":true}}}', 400, 'forbidden_key'],
  ['a body beyond 5 MB', 'POST', agents, JSON.stringify({ name: 'x'.repeat(10_000_000) }), 413, 'payload_too_large'],
  ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml'].map((type): Refusal => [
    type,
    'POST',
    agents,
    '{"name":"A"}',
    415,
    'unsupported_media_type',
    { 'content-type': type },
  ]),
  ['an unknown key of an agent', 'POST', agents, { name: 'A', colour: 'red' }, 422, 'colour'],
  ['an empty name', 'POST', agents, { name: '' }, 422, 'name'],
  ['an empty body', 'POST', agents, '', 422, ''],
  ...['POST', 'PATCH'].map((method): Refusal => {
    const { conversation_config, name } = withLlm({
      model_id: 'custom',
      custom_llm: { url: 'http://127.0.0.1:1/v1', extra_headers: headers },
    });
    const [path, body] = method === 'POST' ? [agents, { name, conversation_config }] : [`${agents}/agent_survey`, { conversation_config }];
    return ['a masked header where none is kept', method, path, body, 422, `${ofAgent}.llm.custom_llm.extra_headers.x-new`];
  }),
  ['an unknown key of a call', 'POST', batches, withCall({ name: 'x' }), 422, 'calls.1.name'],
  ['more calls than allowed', 'POST', batches, { ...batch, calls: [call, call, call] }, 422, 'calls'],
  ['a missing field', 'POST', batches, { ...batch, from_phone_number_id: undefined }, 422, 'from_phone_number_id'],
  ['a number that is not E.164', 'POST', batches, withCall({ to_phone_number: '2125550150' }), 422, 'calls.1.to_phone_number'],
  ['a number that cannot be dialled', 'POST', batches, withCall({ to_phone_number: '+12125550120' }), 422, 'calls.1.to_phone_number'],
  ['no body', 'POST', batches, undefined, 422, ''],
  ['an unknown number to delete', 'DELETE', `${numbers}/pn_none`, undefined, 404, 'phone_number_not_found'],
  ['no name of a batch', 'POST', `${submitted}/submit`, submission({ call_name: undefined }), 422, 'call_name'],
  ['no recipients', 'POST', `${submitted}/submit`, submission({ recipients: [] }), 422, 'recipients'],
  ...['2125550100', '+12125550120'].map((phone_number): Refusal => {
    const body = submission({ recipients: [{ phone_number }] });
    return ['a recipient who cannot be dialled', 'POST', `${submitted}/submit`, body, 422, 'recipients.0.phone_number'];
  }),
  ['an unknown field of a batch', 'POST', `${submitted}/submit`, submission({ surprise: 1 }), 422, 'surprise'],
];

async function stateOf(sandbox: TestSandbox): Promise<Json> {
  const { counters: _, ...state } = await sandbox.read('/_sandbox/export');
  return state;
}

/** The code of an error, or the place in the request. */
function whereOf({ detail }: Json): string {
  return Array.isArray(detail) ? detail[0].loc.slice(1).join('.') : detail.code;
}

test('what cannot be is refused with its status and what is wrong with it, repeats no key, and changes nothing', async () => {
  const sandbox = await startTestSandbox({ maxCallsPerBatch: 2 });
  const misfit = describedAnswers('extended');
  const before = await stateOf(sandbox);
  for (const [what, method, path, body, status, where, sent = {}] of refusals) {
    const answer = await sandbox.request(method, path, body, { headers: sent });
    expect([what, answer.status, whereOf(answer.body)]).toEqual([what, status, where]);
    expect(answer.headers.get('x-sandbox')).toBe('1');
    const { operation } = sandbox.journal().at(-1) ?? {};
    if (operationNames.includes(operation as OperationName)) expect(misfit(operation as OperationName, status, answer.body)).toBeNull();
    const { detail } = answer.body;
    if (Array.isArray(detail)) expect(detail).toEqual([expect.objectContaining({ msg: expect.any(String), type: expect.any(String) })]);
    else expect(detail).toMatchObject({ message: expect.any(String), status: where, request_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
    if (where === 'route_not_found') expect(detail.message).toMatch(new RegExp(`Nothing is served at ${path}\\.|leave the last slash out`));
    if (status === 415) expect(detail.message).toContain('application/json');
    if (what === 'more calls than allowed') expect(detail[0].msg).toContain('at most 2');
  }
  expect(await stateOf(sandbox)).toEqual(before);
  expect(JSON.stringify(sandbox.journal())).not.toContain('sk_sandbox_ok');
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
});

test.for<['spec' | 'extended', [method: string, path: string, allowed: string][]]>([
  [
    'spec',
    [
      ['PUT', `${agents}/agent_survey`, 'GET, PATCH, DELETE'],
      ['POST', `${agents}/agent_survey`, 'GET, PATCH, DELETE'],
      ['DELETE', agents, 'POST, GET'],
      ['GET', batches, 'POST'],
      ['DELETE', `${numbers}/pn_main`, 'PATCH'],
      ['PUT', `${numbers}/pn_main`, 'PATCH'],
      ['POST', `${agents}/create`, 'GET, PATCH, DELETE'],
    ],
  ],
  [
    'extended',
    [
      ['HEAD', agents, 'POST, GET'],
      ['OPTIONS', agents, 'POST, GET'],
      ['HEAD', `${conversations}/nothing`, 'GET, DELETE'],
      ['OPTIONS', batches, 'POST'],
      ['DELETE', batches, 'POST'],
      ['PATCH', batches, 'POST'],
      ['PUT', `${numbers}/pn_main`, 'PATCH, DELETE, GET'],
      ['DELETE', `${agents}/create`, 'POST'],
      ['GET', `${submitted}/submit`, 'POST'],
      ['DELETE', `${submitted}/workspace`, 'GET'],
    ],
  ],
])('a method that a path does not have is answered with those it has in the %s dialect, key or not', async ([dialect, rows]) => {
  const sandbox = await startTestSandbox({ dialect });
  for (const [method, path, allowed] of rows)
    for (const sent of [{}, { 'x-api-key': '' }]) {
      const { status, headers: got, body } = await sandbox.request(method, path, undefined, { headers: sent });
      const code = method === 'HEAD' ? undefined : 'method_not_allowed';
      expect([method, path, status, got.get('allow'), body?.detail.code]).toEqual([method, path, 405, allowed, code]);
    }
  expect(sandbox.violations('deleted_use')).toEqual([]);
});

test('QUERY and other methods that HTTP parsers do not know are answered with 405 as well', async ({ sandbox }) => {
  for (const [method, path, allow] of [
    ['QUERY', `${agents}?page_size=1`, 'POST, GET'],
    ['QUERY', batches, 'POST'],
    ['BREW', `${agents}/agent_survey`, 'GET, PATCH, DELETE'],
  ] as const) {
    const socket = connect(sandbox.port, '127.0.0.1');
    socket.end(`${method} ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n`);
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect([method, Number(text.slice(9, 12)), /\r\nallow: ([^\r]*)/i.exec(text)?.[1]]).toEqual([method, 405, allow]);
    expect(text).toContain('method_not_allowed');
  }
});

test('a key that is missing, blank or sent twice is refused with 401, and not repeated', async () => {
  const sandbox = await startTestSandbox({ apiKeys: [key] });
  const ask = async (...keys: string[]): Promise<[number | undefined, string]> => {
    const sent = ['host', new URL(sandbox.url).host, ...keys.flatMap((each) => ['x-api-key', each])];
    const [response] = (await once(rawRequest(sandbox.url + agents, { headers: sent }).end(), 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += String(chunk);
    expect(text).not.toContain(key);
    return [response.statusCode, JSON.parse(text).detail?.code];
  };
  for (const missing of [[], [''], ['   ']]) expect(await ask(...missing)).toEqual([401, 'missing_api_key']);
  for (const twice of [
    [key, key],
    ['nope', key],
    [key, 'sk_sandbox_slow'],
  ])
    expect(await ask(...twice)).toEqual([401, 'invalid_api_key']);
  expect((await ask(key))[0]).toBe(200);
  expect(JSON.stringify(sandbox.journal())).not.toContain(key);
});

test('the second name of the key header counts in the extended dialect alone', async ({ sandbox }) => {
  const spec = await startTestSandbox({ dialect: 'spec' });
  const good = { 'xi-api-key': 'sk_sandbox_ok' };
  const asked: [TestSandbox, Record<string, string>, number][] = [
    [sandbox, good, 200],
    [sandbox, { 'xi-api-key': 'sk_sandbox_revoked' }, 401],
    [sandbox, { ...good, 'x-api-key': 'sk_sandbox_ok' }, 200],
    // Two keys are none: which one is meant would be a guess.
    [sandbox, { ...good, 'x-api-key': 'sk_sandbox_slow' }, 401],
    [sandbox, { authorization: 'Bearer sk_sandbox_ok' }, 401],
    [spec, good, 401],
  ];
  for (const [of, sent, status] of asked) {
    const answer = await of.request('GET', agents, undefined, { headers: { 'x-api-key': '', ...sent } });
    expect([sent, answer.status]).toEqual([sent, status]);
  }
  expect(JSON.stringify([sandbox.journal(), await sandbox.read('/_sandbox/journal')])).not.toContain('sk_sandbox_ok');
});

test('the paths of comparable services lead to the same operations, and nowhere in the spec dialect', async ({ sandbox }) => {
  const created = await sandbox.post(`${agents}/create`, { name: 'A' });
  expect((await sandbox.read(`${agents}/${created.body.agent_id}`)).name).toBe('A');
  const signed = await sandbox.read('/v1/convai/conversation/get_signed_url?agent_id=agent_survey');
  expect(new URL(signed.signed_url).searchParams.get('agent_id')).toBe('agent_survey');
  expect(sandbox.journal().map(({ operation }) => operation)).toEqual(['create_agent', 'get_agent', 'get_signed_url']);
  const spec = await startTestSandbox({ dialect: 'spec' });
  for (const [method, path] of [
    ['GET', '/v1/convai/conversation/get_signed_url?agent_id=agent_survey'],
    ['GET', '/v1/convai/v2/phone-numbers'],
    ['POST', `${submitted}/submit`],
    ['GET', `${submitted}/workspace`],
    ['GET', '/v1/convai/outbound-campaigns/campaigns'],
    ['GET', `${submitted}/batch_1`],
    ['POST', `${submitted}/batch_1/cancel`],
    ['POST', `${submitted}/batch_1/retry`],
    ['DELETE', `${submitted}/batch_1`],
  ] as const) {
    const { status, body } = await spec.request(method, path, method === 'POST' ? { name: 'A' } : undefined);
    expect([method, path, status, body.detail.code]).toEqual([method, path, 404, 'route_not_found']);
  }
  const known = new Set(routesOf('spec').map(({ method, path }) => `${method} ${path}`));
  const unknown = routesOf('extended').filter(({ method, path }) => !known.has(`${method} ${path}`));
  expect(unknown.length).toBe(25);
  for (const { method, path } of unknown) {
    const { status, body } = await spec.request(method, path.replaceAll(':', ''), method === 'POST' ? { name: 'A' } : undefined);
    const other = /\/agents\/|\/phone-numbers\//.test(path);
    expect([path, status, body.detail.code]).toEqual([path, ...(other ? [405, 'method_not_allowed'] : [404, 'route_not_found'])]);
  }
});

test('a loose sandbox lets unknown keys pass, and names the filters that it does not know', async ({ sandbox }) => {
  const path = `${conversations}?page_size=5&rating_min=3&h%C3%A9=1`;
  const loose = await startTestSandbox({ loose: true });
  expect((await loose.batch(['+12125550150'], { extra: 1 })).status).toBe(200);
  const asked: [TestSandbox, string, number, string | null][] = [
    [sandbox, path, 422, null],
    [loose, path, 200, 'query.rating_min, query.h%C3%A9'],
    [loose, `${numbers}?search=a`, 200, 'query.search'],
    [loose, `${agents}?search=a`, 200, null],
    [loose, `${submitted}/workspace?status=done`, 200, 'query.status'],
  ];
  for (const [of, query, status, ignored] of asked) {
    const answer = await of.get(query);
    expect([query, answer.status, answer.headers.get('x-sandbox-ignored')]).toEqual([query, status, ignored]);
  }
});

function nested(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
}

test.for<[string, number, boolean]>([
  ['', 0, false],
  ['1', 0, false],
  ['{}', 0, true],
  ['[[]]', 1, true],
  ['[[],[],[]]', 2, false],
  ['["[[[[", "\\"[[[["]', 1, false],
  [nested(100), 100, false],
  [nested(101), 100, true],
])('whether %j is nested more than %i deep: %s', ([text, levels, deeper]) => {
  expect(isNestedDeeper(text, levels)).toBe(deeper);
});

test.for(['spec', 'extended'] as const)('a body nested 8,000 deep is refused, and one nested 90 deep is kept: %s', async (dialect) => {
  const sandbox = await startTestSandbox({ dialect });
  for (const body of [`{"name":"A","platform_settings":${nested(8_000)}}`, nested(8_000), '['.repeat(24_000)]) {
    const answer = await sandbox.post(agents, body);
    expect({ status: answer.status, ...answer.body.detail[0] }).toMatchObject({ status: 422, type: 'too_deep' });
  }
  expect((await sandbox.read(agents)).agents).toHaveLength(3);
  if (dialect === 'spec') return;
  const made = await sandbox.post(agents, `{"name":"A","platform_settings":${nested(90)}}`);
  expect((await sandbox.post('/_sandbox/import', await sandbox.read('/_sandbox/export'))).status).toBeLessThan(300);
  expect((await sandbox.get(`${agents}/${made.body.agent_id}`)).status).toBe(200);
});

test('a compressed body and one that is no UTF-8 are refused for what they are', async ({ sandbox }) => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const invalid = Uint8Array.from([...bytes('{"name":"A'), 0xff, 0xc3, ...bytes('"}')]);
  for (const [body, encoding, status, code, message] of [
    [gzipSync('{"name":"A"}'), 'gzip', 415, 'unsupported_content_encoding', 'gzip'],
    [invalid, 'identity', 400, 'invalid_encoding', ''],
  ] as const) {
    const sent = { 'x-api-key': 'sk_sandbox_ok', 'content-type': 'application/json', 'content-encoding': encoding };
    const response = await fetch(sandbox.url + agents, { method: 'POST', headers: sent, body });
    const { detail } = (await response.json()) as Json;
    expect([response.status, detail]).toEqual([status, expect.objectContaining({ code, message: expect.stringContaining(message) })]);
  }
  expect((await sandbox.read(agents)).agents).toHaveLength(3);
});

test('a cursor belongs to one list with one filter, and to one life of the service', async ({ sandbox }) => {
  await sandbox.batch(['+12125550150', '+12125550151']);
  for (const [list, filter, others] of [
    [agents, '', ['search=a', 'sort_by=name']],
    [conversations, 'agent_id=agent_reminders', ['', 'agent_id=agent_survey']],
  ] as const) {
    const { next_cursor: next } = await sandbox.read(`${list}?page_size=1&${filter}`);
    expect((await sandbox.get(`${list}?page_size=1&${filter}&cursor=${next}`)).status).toBe(200);
    const elsewhere = list === agents ? conversations : agents;
    const refused = [...others.map((other) => `${list}?${other}&cursor=${next}`), `${elsewhere}?cursor=${next}`];
    for (const path of [...refused, `${list}?cursor=nonsense`, `${list}?cursor=`])
      expect([path, await sandbox.get(path)]).toMatchObject([path, { status: 422, body: { detail: [{ loc: ['query', 'cursor'] }] } }]);
    const { snapshot_id: id } = (await sandbox.post('/_sandbox/snapshots')).body;
    sandbox.reset();
    expect((await sandbox.get(`${list}?page_size=1&${filter}&cursor=${next}`)).status).toBe(422);
    await sandbox.post(`/_sandbox/snapshots/${id}/restore`);
  }
});
