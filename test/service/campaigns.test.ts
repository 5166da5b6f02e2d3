import { expect, onTestFinished, test } from 'vitest';
import type { CallRequest, CallService } from '../../src/service/port/call-service.ts';
import { connectService } from '../../src/service/registry.ts';
import { answerJson, startHttpService, testKey, type HttpService } from './convai/loopback-servers.ts';

const mark = '0b5c1d3e-0000-4000-8000-000000000002';
const request: CallRequest = {
  mark,
  title: 'spring/1/4',
  agentId: 'agent_1',
  callerId: 'pn_1',
  variablesKey: null,
  concurrency: 3,
  calls: [{ ref: 'l:spring/1/1', to: '+12125550177', override: { agent: { first_message: 'Hello.' } }, variables: { name: 'Ada' } }],
};
const since = 1_800_000_000_000;
const at = since / 1_000;
const day = 86_400;
const own = '+12125550100';
const post = { mark, agentId: 'agent_1', callerId: 'pn_1', since };
const name = `spring/1/4 · ${mark}`;
const fenceName = `look-up, calls nobody · ${mark}`;
const original = { campaign_id: 'c_1', call_name: name, created_at_unix: at, scheduled_time_unix: null, status: 'active' };
const fence = { campaign_id: 'c_2', call_name: fenceName, created_at_unix: at + 60, scheduled_time_unix: at + 30 * day, status: 'active' };
const root = '/v1/convai/outbound-campaigns/campaigns';
const accepted = { kind: 'accepted', serviceBatchId: 'c_1' };
const unclear = { kind: 'not_readable' };

/** What the service answers, by operation; a status alone is a refusal. */
interface Answers {
  list?: unknown;
  submit?: unknown;
  status?: number;
  get?: unknown;
  stop?: unknown;
  calls?: unknown;
  leads?: unknown;
  numbers?: unknown;
}

async function serve(answers: Answers): Promise<HttpService & { service: CallService; asked: () => string[] }> {
  const http = await startHttpService((response, { method, url }) => {
    const { pathname } = new URL(url, 'http://x');
    if (pathname.endsWith('/phone-numbers'))
      return answerJson(response, 200, answers.numbers ?? [{ phone_number_id: 'pn_1', phone_number: '+1 212 555 0100' }]);
    if (pathname.endsWith('/submit')) return answerJson(response, answers.status ?? 201, answers.submit);
    if (pathname.endsWith('/stop')) return answerJson(response, 200, answers.stop);
    if (pathname.endsWith('/calls')) return answerJson(response, 200, answers.calls ?? { calls: [], has_more: false });
    if (pathname.endsWith('/leads')) return answerJson(response, 200, answers.leads ?? { leads: [], has_more: false });
    if (method === 'DELETE') return answerJson(response, 202, { has_calls_in_flight: true });
    if (pathname === root) return answerJson(response, 200, answers.list ?? { campaigns: [], has_more: false });
    return answerJson(response, 200, answers.get);
  });
  const service = connectService({ baseUrl: http.baseUrl, apiKey: testKey, api: 'campaigns', retriesAfter429: { reads: 0 } });
  onTestFinished(() => service.close());
  return { ...http, service, asked: () => http.seen.map(({ method, url }) => `${method} ${url.replace(root, '')}`) };
}

const placeAt = ({ service }: { service: CallService }) => service.place(request, { requestId: 'spring/1/4/1', mayBegin: () => true });

test('a request has its mark as key and in its name, and is called once for each recipient', async () => {
  const world = await serve({ submit: { campaign: original, created: true } });
  expect(await placeAt(world)).toMatchObject(accepted);
  expect(world.seen[0]?.headers).toMatchObject({ 'xi-api-key': testKey });
  expect(JSON.parse(world.seen[0]?.body ?? '')).toEqual({
    call_name: name,
    agent_id: 'agent_1',
    channel_config: { channel: 'phone', agent_phone_number_id: 'pn_1' },
    variant: 'simple',
    idempotency_key: mark,
    target_concurrency_limit: 3,
    recipients: [
      {
        id: 'l:spring/1/1',
        phone_number: '+12125550177',
        conversation_initiation_client_data: {
          user_id: 'l:spring/1/1',
          dynamic_variables: { name: 'Ada', carillon_ref: 'l:spring/1/1' },
          conversation_config_override: { agent: { first_message: 'Hello.' } },
        },
      },
    ],
  });
});

const unknown = { kind: 'unknown' };

test.each<[what: string, answers: Answers, placing: { kind: string; status?: number }]>([
  ['its own campaign, made before', { submit: { campaign: original, created: false } }, accepted],
  ['the fence around it', { submit: { campaign: fence, created: false } }, unknown],
  ['a campaign that says nothing of itself', { submit: { campaign: { campaign_id: 'c' }, created: false } }, unknown],
  ['no word whether it was made', { submit: { campaign: original } }, accepted],
  ['a new campaign without an id', { submit: { campaign: { call_name: name }, created: true } }, unknown],
  ['nothing', { submit: {} }, unknown],
  ['a key that is taken', { submit: { detail: {} }, status: 409 }, { ...unknown, status: 409 }],
])('a request that is answered with %s: %o', async (_what, answers, placing) => {
  const world = await serve(answers);
  expect(await placeAt(world)).toMatchObject(placing);
  expect(world.seen).toHaveLength(1);
});

const listOf = (...campaigns: unknown[]) => ({ campaigns, has_more: false });
const stopped = { stop: { ...fence, status: 'stopped' } };

const made = { submit: { campaign: fence, created: true }, get: fence };
const late = { ...fence, created_at_unix: at + day, scheduled_time_unix: at + 31 * day };
const absent = (certain: boolean) => ({ kind: 'absent', certain });

test.each<[what: string, answers: Answers, found: { kind: string }]>([
  ['the list shows it', { list: listOf(original) }, accepted],
  ['its key made it', { submit: { campaign: original, created: false }, get: original }, accepted],
  ['its key was free', { ...made, ...stopped }, absent(true)],
  ['a fence has its key', { ...made, list: listOf(fence), submit: { campaign: fence, created: false }, ...stopped }, absent(true)],
  ['the key is free so late that it may have been forgotten', { ...made, get: late, ...stopped }, absent(false)],
  ['the list shows two', { list: listOf(original, { ...original, campaign_id: 'c_9' }) }, { kind: 'several' }],
  ['the list shows one without a name', { list: listOf({ campaign_id: 'c_9' }) }, unclear],
  ['the list shows one in its name, far ahead', { list: listOf({ ...fence, call_name: name }) }, unclear],
  ['the list cannot be read on', { list: { campaigns: [], has_more: true } }, unclear],
  ['the fence cannot be stopped', { ...made, stop: { status: 'stopping' } }, unclear],
  ['the fence is not kept for later', { ...made, get: { ...fence, scheduled_time_unix: null } }, unclear],
  ['the fence is refused', { status: 422, submit: {} }, unclear],
  ['the fence meets a limit of rate', { status: 429, submit: {} }, unclear],
  ['the key is refused, and the list shows nothing', { status: 409, submit: { detail: { code: 'idempotency_key_reused' } } }, unclear],
  ['the number to call from is not there', { numbers: [] }, unclear],
  ['the number to call from is none', { numbers: [{ phone_number_id: 'pn_1', phone_number: null }] }, unclear],
])('a request is looked up, and %s: %o', async (_what, answers, found) => {
  const { service } = await serve(answers);
  expect(await service.find?.(post)).toMatchObject(found);
});

test('a fence that is refused for its body is told by the list', async () => {
  let lists = 0;
  const http = await startHttpService((response, { url }) => {
    if (url.endsWith('/submit')) return answerJson(response, 409, {});
    if (url.includes('/phone-numbers')) return answerJson(response, 200, [{ phone_number_id: 'pn_1', phone_number: own }]);
    return answerJson(response, 200, listOf(...((lists += 1) === 1 ? [] : [original])));
  });
  const service = connectService({ baseUrl: http.baseUrl, apiKey: testKey, api: 'campaigns' });
  onTestFinished(() => service.close());
  expect(await service.find?.(post)).toEqual(accepted);
});

test('a fence has the key of the request, calls nobody but the number that calls, and is stopped at once', async () => {
  const numbers = ['pn_0', 'pn_1', 'pn_2'].map((id) => ({ phone_number_id: id, phone_number: id === 'pn_1' ? own : '+12125550109' }));
  const { service, seen, asked } = await serve({ numbers, submit: { campaign: fence, created: true }, get: fence, ...stopped });
  await service.find?.(post);
  expect(asked()).toEqual([
    `GET ?agent_id=agent_1&search=${mark}&page_size=100`,
    'GET /v1/convai/phone-numbers',
    'POST /submit',
    'GET /c_2',
    'POST /c_2/stop',
  ]);
  expect(JSON.parse(seen[2]?.body ?? '')).toMatchObject({
    call_name: fenceName,
    idempotency_key: mark,
    variant: 'simple',
    scheduled_time_unix: expect.closeTo(at + 30 * day, -3) as number,
    recipients: [{ id: `fence:${mark}`, phone_number: own }],
  });
});

test('a report joins calls with the recipients that they are of', async () => {
  const lead = (n: number, more = {}) => ({ lead_id: `lead_${n}`, recipient_id: `r/${n}`, phone_number: `+1212555010${n}`, ...more });
  const call = (n: number, status: unknown, more = {}) => ({ lead_id: `lead_${n}`, status, phone_number: `+1212555010${n}`, ...more });
  const leads = [0, 1, 2, 3, 4, 5].map((n) => lead(n)).concat(lead(6, { do_not_call: true }), lead(7, { recipient_id: null }), lead(8));
  const calls = [
    call(0, 'completed', { conversation_id: 'v0', outcome: 'completed', call_result: 'answered' }),
    call(1, 'completed', { conversation_id: 'v1', outcome: 'voicemail' }),
    call(2, 'submitted', { conversation_id: 'v2' }),
    call(3, 'queued'),
    call(4, 'cancelled', { outcome: 'cancelled' }),
    call(5, 'attention', { call_result: 'unheard of' }),
    call(7, 'paused'),
    call(9, 'completed', { outcome: 'failed', call_result: 'busy' }),
  ];
  const { service } = await serve({ calls: { calls, has_more: false }, leads: { leads, has_more: false } });
  const report = await service.report?.('c_1');
  expect(report?.map(({ ref, to, state, conversationId, result }) => [ref, to?.slice(-1), state, conversationId, result])).toEqual([
    ['r/0', '0', 'over', 'v0', 'answered'],
    ['r/1', '1', 'over', 'v1', 'voicemail'],
    ['r/2', '2', 'dialling', 'v2', null],
    ['r/3', '3', 'waiting', null, null],
    ['r/4', '4', 'withdrawn', null, null],
    ['r/5', '5', 'waiting', null, null],
    [null, '7', null, null, null],
    [null, '9', 'over', null, 'busy'],
    ['r/6', '6', 'withdrawn', null, null],
    ['r/8', '8', 'waiting', null, null],
  ]);
});

test('a report that cannot be read to its end is none', async () => {
  const { service } = await serve({ calls: { calls: [], has_more: true } });
  await expect(service.report?.('c_1')).rejects.toThrow(/"calls" cannot be read to its end/);
  const { service: other } = await serve({ calls: { items: [] } });
  await expect(other.report?.('c_1')).rejects.toThrow(/no list under "calls"/);
});

test('recipients are taken back one by one, or all with their campaign', async () => {
  const leads = ['r/1', 'r/2', null].map((recipient_id, n) => ({ lead_id: `lead/${n}`, recipient_id }));
  const { service, asked } = await serve({ leads: { leads, has_more: false }, stop: {} });
  await service.withdraw?.('c_1', ['r/2', 'r/9']);
  await service.withdraw?.('c_1', 'all');
  expect(asked()).toEqual(['GET /c_1/leads?page_size=100', 'DELETE /c_1/leads/lead%2F1', 'POST /c_1/stop']);
});
