import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { checkCaller } from '../../src/campaign/preflight/caller-check.ts';
import type { CallRequest, CallService } from '../../src/service/port/call-service.ts';
import { ServiceError } from '../../src/service/port/errors.ts';
import { connectService } from '../../src/service/registry.ts';
import { readConfig } from '../../src/shared/config.ts';
import { answerJson, startHttpService, testKey, type HttpService, type SeenRequest } from './convai/loopback-servers.ts';

const number = '+12125550177';
const request: CallRequest = {
  mark: '0b5c1d3e-0000-4000-8000-000000000001',
  title: 'spring/1/4',
  agentId: 'agent_1',
  callerId: 'pn_1',
  variablesKey: null,
  concurrency: 3,
  calls: [
    { ref: 'l:spring/1/1', to: number, override: { agent: { first_message: 'Hello.' } }, variables: { name: 'Ada', carillon_ref: 'x' } },
    { ref: 'l:spring/2/1', to: '+12125550178', override: null, variables: null },
  ],
};
const name = `spring/1/4 · ${request.mark}`;
const since = 1_800_000_000_000;
const at = since / 1_000;
const post = { mark: request.mark, agentId: 'agent_1', callerId: 'pn_1', since };

type Respond = (response: ServerResponse, request: SeenRequest, nth: number) => void;

async function serve(respond: Respond): Promise<HttpService & { service: CallService }> {
  const http = await startHttpService(respond);
  const service = connectService({ baseUrl: http.baseUrl, apiKey: testKey, api: 'batch-calling', retriesAfter429: { reads: 0 } });
  onTestFinished(() => service.close());
  return { ...http, service };
}

const placeAt = ({ service }: { service: CallService }, changed: Partial<CallRequest> = {}) =>
  service.place({ ...request, ...changed }, { requestId: 'spring/1/4/1', mayBegin: () => true });

/** A list of batches in pages of one answer each. */
const pagesOf =
  (pages: readonly unknown[][]): Respond =>
  (response, { url }) => {
    const from = Number(new URL(url, 'http://x').searchParams.get('last_doc') ?? 0);
    const isLast = from === pages.length - 1;
    answerJson(response, 200, { batch_calls: pages[from], next_doc: isLast ? null : String(from + 1), has_more: !isLast });
  };

test('an interface that is none is told with those that there are', () => {
  expect(() => readConfig({ SVC_API: 'batch' })).toThrow(/"batch" is no interface: write contract, batch-calling, campaigns\n.*SVC_API/);
  expect(['contract', 'batch-calling', 'campaigns'].map((api) => readConfig({ SVC_API: api }).SVC_API)).toHaveLength(3);
  expect(readConfig({}).SVC_API).toBe('contract');
});

test('a request has its mark in its name, our reference in three places, and the key in the header of this interface alone', async () => {
  const world = await serve((response) => answerJson(response, 200, { id: 'btcal_1' }));
  expect(await placeAt(world)).toMatchObject({ kind: 'accepted', serviceBatchId: 'btcal_1', accepted: null });
  const [seen] = world.seen;
  expect([seen?.method, seen?.url]).toEqual(['POST', '/v1/convai/batch-calling/submit']);
  expect(seen?.headers).toMatchObject({ 'xi-api-key': testKey, 'x-request-id': 'spring/1/4/1' });
  expect(seen?.headers).not.toHaveProperty('x-api-key');
  expect(JSON.parse(seen?.body ?? '')).toEqual({
    call_name: name,
    agent_id: 'agent_1',
    agent_phone_number_id: 'pn_1',
    target_concurrency_limit: 3,
    recipients: [
      {
        id: 'l:spring/1/1',
        phone_number: number,
        conversation_initiation_client_data: {
          user_id: 'l:spring/1/1',
          dynamic_variables: { name: 'Ada', carillon_ref: 'l:spring/1/1' },
          conversation_config_override: { agent: { first_message: 'Hello.' } },
        },
      },
      {
        id: 'l:spring/2/1',
        phone_number: '+12125550178',
        conversation_initiation_client_data: { user_id: 'l:spring/2/1', dynamic_variables: { carillon_ref: 'l:spring/2/1' } },
      },
    ],
  });
  await placeAt(world, { concurrency: null });
  expect(JSON.parse(world.seen[1]?.body ?? '')).not.toHaveProperty('target_concurrency_limit');
});

test.each([{}, { id: null }, { id: '' }, { id: 7 }, [], null, 'ok'])('a success with the body %j is unknown', async (body) => {
  const world = await serve((response) => answerJson(response, 200, body));
  expect(await placeAt(world)).toMatchObject({ kind: 'unknown', status: 200 });
  expect(world.seen).toHaveLength(1);
});

const fields = (...paths: string[]) => ({ detail: paths.map((path) => ({ loc: path.split('.'), msg: 'no', type: 'x' })) });

const override = 'body.recipients.0.conversation_initiation_client_data.conversation_config_override.agent.first_message';

test.each<[status: number, body: unknown, whole: boolean, says: RegExp]>([
  [404, { detail: 'Not Found' }, true, /no POST \/v1\/convai\/batch-calling\/submit \(404\): check SVC_API/],
  [405, { detail: 'Method Not Allowed' }, true, /no POST .* \(405\): check SVC_API/],
  [404, { detail: { status: 'agent_not_found', message: 'No such agent.' } }, true, /No such agent/],
  [401, { detail: { code: 'unauthorized', status: 'invalid_api_key' } }, true, /the key \(401\): set SVC_API_KEY/],
  [403, {}, true, /\(403\): check what the key may do.*terms/],
  [422, fields('body.agent_phone_number_id'), true, /no/],
  [422, fields('body.recipients.3.phone_number'), false, /no/],
  [422, fields('body.agent_id', 'body.recipients.3.phone_number'), false, /no/],
  [422, fields('body.recipients'), false, /no/],
  [422, fields(override), true, /no/],
])('a refusal %i %j: about the whole request: %j', async (status, body, whole, says) => {
  const world = await serve((response) => answerJson(response, status, body));
  const placing = await placeAt(world);
  expect(placing).toMatchObject({ kind: 'refused', status, wholeRequest: whole });
  expect((placing as { message: string }).message).toMatch(says);
});

test.each([500, 502, 409, 408, 302])('an answer %i proves nothing, and is not sent again', async (status) => {
  const world = await serve((response) => answerJson(response, status, { detail: 'x' }));
  expect(await placeAt(world)).toMatchObject({ kind: 'unknown', status });
  expect(world.seen).toHaveLength(1);
});

test('every word for where a recipient is is told, and one that nobody knows as unknown', async () => {
  const words = ['pending', 'dispatched', 'initiated', 'in_progress', 'completed', 'failed', 'voicemail', 'cancelled', 'queued', 7];
  const recipients = words.map((status, index) => ({ id: `r/${index}`, phone_number: number, status, conversation_id: `c${index}` }));
  const { service, seen } = await serve((response) => answerJson(response, 200, { id: 'b', recipients }));
  const report = await service.report?.('b/1');
  expect(seen[0]?.url).toBe('/v1/convai/batch-calling/b%2F1');
  expect(report?.map(({ state, result }) => [state, result])).toEqual([
    ['waiting', null],
    ['waiting', null],
    ['dialling', null],
    ['talking', null],
    ['over', null],
    ['over', 'failed'],
    ['over', 'voicemail'],
    ['withdrawn', null],
    [null, null],
    [null, null],
  ]);
  expect(report?.[1]).toEqual({ ref: 'r/1', to: number, state: 'waiting', conversationId: 'c1', result: null });
});

test('a report whose entries are not as published tells what it can of each, and one without a list is an error', async () => {
  const odd = [{ id: 7, phone_number: '0177', status: 'completed' }, null, { id: 'r', conversation_id: '..' }];
  const { service } = await serve((response, _request, nth) => answerJson(response, 200, nth === 1 ? { recipients: odd } : { id: 'b' }));
  const nothing = { ref: null, to: null, state: null, conversationId: null, result: null };
  expect(await service.report?.('b')).toEqual([
    { ...nothing, state: 'over' },
    nothing,
    { ...nothing, ref: 'r', conversationId: expect.stringMatching(/^unreadable:/) as string },
  ]);
  await expect(service.report?.('b')).rejects.toThrow(/no list of all recipients/);
});

test('a batch is given back whole, by the operation that ends it and no other', async () => {
  const world = await serve((response) => answerJson(response, 200, { id: 'b', status: 'cancelled' }));
  await world.service.withdraw?.('b', ['l:spring/1/1']);
  expect(world.seen.map(({ method, url, body }) => `${method} ${url} ${body}`)).toEqual(['POST /v1/convai/batch-calling/b/cancel ']);
});

const entry = (id: string | null, called: string | null, created: number | null) => ({ id, name: called, created_at_unix: created });
const other = (created: number | null) => entry('b0', 'other · 1', created);
const older = other(at - 3_600);

test.each([
  { list: 'the one', pages: [[other(at + 5), entry('b1', name, at), older]], found: { kind: 'accepted', serviceBatchId: 'b1' } },
  { list: 'the one on a later page', pages: [[other(at + 5)], [entry('b1', name, at)]], found: { kind: 'accepted', serviceBatchId: 'b1' } },
  {
    list: 'the oldest first',
    pages: [[older], [entry('b1', name, at)]],
    found: { kind: 'accepted' },
  },
  { list: 'out of order', pages: [[other(at), other(at + 9), older], [entry('b1', name, at)]], found: { kind: 'accepted' } },
  { list: 'without times', pages: [[other(null), older], [entry('b1', name, at)]], found: { kind: 'accepted' } },
  { list: 'two', pages: [[entry('b2', name, at + 1), entry('b1', name, at)]], found: { kind: 'several', serviceBatchIds: ['b2', 'b1'] } },
  { list: 'nothing', pages: [[]], found: { kind: 'absent', certain: false } },
  { list: 'the mark within a name', pages: [[entry('b1', `${name} (2)`, at)]], found: { kind: 'absent', certain: false } },
  { list: 'one without a name', pages: [[entry('b1', null, at)]], found: { kind: 'not_readable' } },
  { list: 'one without a name, from before', pages: [[entry('b1', null, at - 3_600)]], found: { kind: 'absent', certain: false } },
  { list: 'the one without an id', pages: [[entry(null, name, at)]], found: { kind: 'not_readable' } },
  { list: 'something that is no batch', pages: [['?']], found: { kind: 'not_readable' } },
])('a list with $list: $found.kind', async ({ pages, found }) => {
  const { service, seen } = await serve(pagesOf(pages));
  expect(await service.find?.(post)).toMatchObject(found);
  expect(seen.every(({ method }) => method === 'GET')).toBe(true);
  expect(seen[0]?.url).toBe('/v1/convai/batch-calling/workspace?agent_id=agent_1&limit=100');
});

test('a list is read back to the request and no further', async () => {
  const { service, seen } = await serve(pagesOf([[other(at + 5)], [older], [other(at - 7_200)]]));
  expect(await service.find?.(post)).toEqual({ kind: 'absent', certain: false });
  expect(seen).toHaveLength(2);
});

test.each([
  ['no list', { batches: [] }],
  ['a full page without a way on', { batch_calls: Array.from({ length: 100 }, () => other(at + 1)) }],
  ['more that is nowhere', { batch_calls: [other(at + 1)], has_more: true }],
  ['the same page again', { batch_calls: [other(at + 1)], has_more: true, next_doc: '1' }],
])('a list that cannot be read to its end, %s, tells nothing', async (_what, body) => {
  const { service } = await serve((response) => answerJson(response, 200, body));
  expect(await service.find?.(post)).toEqual({ kind: 'not_readable' });
});

test('a list whose pages may not be as long as asked for is read in pages of its own length', async () => {
  const { service, seen } = await serve((response, { url }) =>
    url.includes('limit')
      ? answerJson(response, 422, fields('query.limit'))
      : answerJson(response, 200, { batch_calls: [entry('b1', name, at)], has_more: false }),
  );
  expect(await service.find?.(post)).toMatchObject({ kind: 'accepted' });
  expect(seen).toHaveLength(2);
});

test.each([401, 404, 429, 500])('a list that is answered with %i tells nothing', async (status) => {
  const { service } = await serve((response) => answerJson(response, status, {}));
  expect(await service.find?.(post)).toEqual({ kind: 'not_readable' });
});

test('neither key nor number leaks from an answer that echoes both', async () => {
  const echo = { detail: { code: `${testKey} ${number}`, message: `${testKey} ${number}` } };
  const { service } = await serve((response) => answerJson(response, 422, echo));
  expect(inspect(await placeAt({ service }))).not.toContain(testKey);
  const error: unknown = await service.report?.('b').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ServiceError);
  expect(inspect(error, { depth: 20 })).not.toMatch(new RegExp(`${testKey}|\\${number}`));
});

const permits = (agent: unknown) => ({ overrides: { conversation_config_override: { agent } } });

test.each([
  { says: 'nothing', settings: undefined, denied: null },
  { says: 'nothing of overrides', settings: {}, denied: null },
  { says: 'that none is permitted', settings: { overrides: {} }, denied: 'agent.prompt.prompt, agent.first_message, tts.voice_id' },
  { says: 'that the line alone is', settings: permits({ first_message: true }), denied: 'agent.prompt.prompt, tts.voice_id' },
  { says: 'that one is not', settings: permits({ first_message: false, prompt: true }), denied: 'agent.first_message, tts.voice_id' },
])('an agent that says $says: a campaign learns before its first call what every call would fail with', async ({ settings, denied }) => {
  const { service } = await serve((response, { url }) =>
    url.includes('/agents/')
      ? answerJson(response, 200, { agent_id: 'agent_1', platform_settings: settings })
      : answerJson(response, 200, [{ phone_number_id: 'pn_1', phone_number: number }]),
  );
  const check = await checkCaller(service, {
    agentId: 'agent_1',
    callers: { numbers: ['pn_1'], choice: 'region' },
    firstMessage: 'Hello {{ name }}.',
    override: { agent: { prompt: { prompt: 'Be kind.' } }, tts: { voice_id: 'v' } },
  });
  if (denied === null) expect(check).toMatchObject({ ok: true });
  else expect(check).toMatchObject({ ok: false, reason: expect.stringContaining(`does not let a call change ${denied}, so`) as string });
});
