import { expect, test } from 'vitest';
import type { ConvaiClient } from '../../../src/service/convai/client.ts';
import { iteratePages, type Page, readPage } from '../../../src/service/http/pagination.ts';
import { BadResponseError, RefusedError, RequestInvalidError } from '../../../src/service/port/errors.ts';
import { answerJson, clientOf, rejectionOf, startHttpService, testKey } from './loopback-servers.ts';

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const batch = {
  agent_id: 'agent_1',
  from_phone_number_id: 'phnum_1',
  calls: [
    {
      to_phone_number: '+12125550101',
      conversation_config_override: { agent: { first_message: 'Hello "Zoë" 👋' } },
      variables: { first_name: 'Zoë', visits: 3, member: true },
    },
    { to_phone_number: '+442079460123' },
  ],
};
const created = { name: 'Reminders', tags: ['a'], conversation_config: { tts: { voice_id: 'v' } } };
const warmer = { conversation_config: { agent: { llm: { temperature: 0.5 } } } };
const imported = { label: 'Main', phone_number: '+12125550199', telephony_account_sid: 'sid', telephony_auth_token: 'token' };
const summary = { agent_id: 'agent_1', name: 'Reminders', tags: [], created_at_unix_secs: 1 };
const record = { transcript: [], audio: null, metadata: { start_time: 1 }, evaluation_results: {}, collected_data: {} };
const entries = [{ conversation_id: 'conv_1', metadata: { start_time: 1 } }, { conversation_id: 'conv_2' }];
const numbers = [{ phone_number_id: 'phnum_1', phone_number: '+12125550199', label: 'Main', agent_id: null }];
const signed_url = 'wss://127.0.0.1/v1/convai/conversation?signature=1';

/** The result is the answer itself where none is given. */
type Operation = [
  name: string,
  call: (client: ConvaiClient) => Promise<unknown>,
  asks: string,
  body: unknown,
  answer: unknown,
  result?: unknown,
];

const operations: Operation[] = [
  ['createAgent', (c) => c.createAgent(created), 'POST agents', created, { agent_id: 'agent_1', later_field: 1 }],
  ['listAgents', (c) => collect(c.listAgents()), 'GET agents?page_size=100', null, { agents: [summary], has_more: false }, [summary]],
  [
    'getAgent',
    (c) => c.getAgent('agent/1 ?'),
    'GET agents/agent%2F1%20%3F',
    null,
    { agent_id: 'agent/1 ?', conversation_config: { asr: {} } },
  ],
  ['updateAgent', (c) => c.updateAgent('agent_1', warmer), 'PATCH agents/agent_1', warmer, { agent_id: 'agent_1' }],
  ['deleteAgent', (c) => c.deleteAgent('agent_1'), 'DELETE agents/agent_1', null, {}, undefined],
  [
    'getConversation',
    (c) => c.getConversation('conv_1'),
    'GET conversations/conv_1',
    null,
    record,
    { conversation_id: 'conv_1', ...record },
  ],
  [
    'listConversations',
    (c) => collect(c.listConversations({ agentId: 'agent_1' })),
    'GET conversations?agent_id=agent_1&page_size=100',
    null,
    { conversations: entries },
    entries,
  ],
  ['deleteConversation', (c) => c.deleteConversation('conv_1'), 'DELETE conversations/conv_1', null, { deleted: true }, undefined],
  ['getSignedUrl', (c) => c.getSignedUrl('a'), 'GET conversation/get-signed-url?agent_id=a', null, { signed_url }, signed_url],
  ['getConversationToken', (c) => c.getConversationToken('a'), 'GET conversation/token?agent_id=a', null, { token: 'jwt' }, 'jwt'],
  ['listPhoneNumbers', (c) => c.listPhoneNumbers(), 'GET phone-numbers', null, numbers],
  ['importPhoneNumber', (c) => c.importPhoneNumber(imported), 'POST phone-numbers', imported, { phone_number_id: 'phnum_1' }],
  [
    'assignPhoneNumber',
    (c) => c.assignPhoneNumber('phnum_1', { agent_id: 'agent_1' }),
    'PATCH phone-numbers/phnum_1',
    { agent_id: 'agent_1' },
    { phone_number_id: 'phnum_1', agent_id: 'agent_1' },
  ],
  [
    'placeBatchCalls',
    (c) => c.placeBatchCalls(batch, { requestId: 'b1/1', mayBegin: () => true }),
    'POST phone-numbers/batch-calls',
    batch,
    { batch_id: 'batch_1', calls_initiated: 2 },
    expect.objectContaining({ batchId: 'batch_1', callsInitiated: 2 }),
  ],
];

test('there are 14 operations', () => {
  expect(operations).toHaveLength(14);
});

test.each(operations)('%s sends what the contract says, below any path, and reads the answer', async (...operation) => {
  const [, call, asks, body, answer, result] = operation;
  const service = await startHttpService((response) => answerJson(response, 200, answer));
  for (const [nth, prefix] of ['', '/some/prefix'].entries()) {
    const client = clientOf(service.baseUrl + (prefix && `${prefix}/`));
    expect(await call(client)).toEqual(operation.length === 6 ? result : answer);
    expect(service.seen).toHaveLength(nth + 1);
    const { method = '', url = '', headers, body: text = '' } = service.seen[nth] ?? {};
    expect(`${method} ${url}`).toBe(asks.replace(' ', ` ${prefix}/v1/convai/`));
    expect(headers?.['x-api-key']).toBe(testKey);
    expect(headers?.['content-type']).toBe(body === null ? undefined : 'application/json');
    expect(text === '' ? null : JSON.parse(text)).toEqual(body);
  }
});

test.each([
  ['200 with nothing', 200, undefined],
  ['200 with {}', 200, {}],
  ['204', 204, undefined],
])('%s confirms updates and deletions', async (_name, status, body) => {
  const service = await startHttpService((response) => answerJson(response, status, body));
  const client = clientOf(service.baseUrl);
  expect(await client.deleteAgent('a')).toBeUndefined();
  expect(await client.deleteConversation('c')).toBeUndefined();
  const empty = body === undefined ? null : {};
  expect(await client.updateAgent('a', {})).toEqual(empty);
  expect(await client.assignPhoneNumber('p', { agent_id: 'a' })).toEqual(empty);
  expect(service.seen).toHaveLength(4);
});

test('a deletion confirmed in words is a deletion', async () => {
  const service = await startHttpService((response) => response.end('deleted'));
  expect(await clientOf(service.baseUrl).deleteAgent('a')).toBeUndefined();
});

test('lists are read bare, wrapped, and over pages with a cursor', async () => {
  const service = await startHttpService((response, { url }, nth) => {
    if (url.startsWith('/v1/convai/phone-numbers')) answerJson(response, 200, { phone_numbers: [{ phone_number_id: 'p' }] });
    else if (url.startsWith('/v1/convai/agents')) answerJson(response, 200, [{ agent_id: 'a' }]);
    else answerJson(response, 200, { conversations: [{ conversation_id: `c${nth}` }], has_more: true, next_cursor: 'x+/=&' });
  });
  const client = clientOf(service.baseUrl);
  expect(await client.listPhoneNumbers()).toEqual([{ phone_number_id: 'p' }]);
  expect(await collect(client.listAgents())).toEqual([{ agent_id: 'a' }]);
  // The service repeats its cursor: the list ends after the page that the cursor led to.
  expect(await collect(client.listConversations())).toEqual([{ conversation_id: 'c3' }, { conversation_id: 'c4' }]);
  expect(new URL(service.seen[3]?.url ?? '', service.baseUrl).searchParams.get('cursor')).toBe('x+/=&');
});

test('a page tells whether there is more, and the time at the service, or that it does not know', async () => {
  const date = 'Sun, 06 Nov 1994 08:49:37 GMT';
  const service = await startHttpService((response, _request, nth) => {
    response.sendDate = false;
    if (nth === 1) answerJson(response, 200, { conversations: [], has_more: true, next_cursor: 'n' }, { date });
    else answerJson(response, 200, { conversations: entries });
  });
  let real = 100;
  const client = clientOf(service.baseUrl, { nowReal: () => (real += 1) });
  expect(await client.listConversationsPage({ agentId: 'a', cursor: 'c', pageSize: 7 })).toEqual({
    conversations: [],
    unusable: [],
    hasMore: true,
    nextCursor: 'n',
    serviceDate: { serverMs: Date.parse(date), sentAtMs: 101, receivedAtMs: 102 },
  });
  expect(service.seen[0]?.url).toBe('/v1/convai/conversations?agent_id=a&cursor=c&page_size=7');
  const unknown = { unusable: [], hasMore: null, nextCursor: null, serviceDate: null };
  expect(await client.listConversationsPage({})).toEqual({ conversations: entries, ...unknown });
});

test.each<[string, (client: ConvaiClient) => Promise<unknown>, RegExp]>([
  ['an agent without a name', (c) => c.createAgent({ name: '' }), /name/],
  ['an unknown key', (c) => c.createAgent({ name: 'a', nickname: 'b' } as never), /nickname/],
  [
    'a temperature out of range',
    (c) => c.updateAgent('a', { conversation_config: { agent: { llm: { temperature: 1.1 } } } }),
    /conversation_config\.agent\.llm\.temperature/,
  ],
  [
    'a new agent with a custom model without its address',
    (c) => c.createAgent({ name: 'a', conversation_config: { agent: { llm: { model_id: 'custom' } } } }),
    /custom_llm/,
  ],
  [
    'a voice without its id on create',
    (c) => c.createAgent({ name: 'a', conversation_config: { tts: { model_id: 'm' } } as never }),
    /voice_id/,
  ],
  [
    'a cleared field of a new agent',
    (c) => c.createAgent({ name: 'a', conversation_config: { tts: null } } as never),
    /conversation_config\.tts/,
  ],
  ['an empty id', (c) => c.deleteAgent(''), /id in the path/],
  ['an id that climbs', (c) => c.getConversation('..'), /id in the path/],
  [
    'a number that is not E.164',
    (c) => c.importPhoneNumber({ ...imported, phone_number: '2125550199' }),
    /phone_number: must be an E\.164/,
  ],
  ['an assignment to nobody', (c) => c.assignPhoneNumber('p', { agent_id: '' }), /agent_id/],
])('%s is refused before anything is sent', async (_name, call, problem) => {
  const service = await startHttpService((response) => answerJson(response, 200, {}));
  const error = await rejectionOf(call(clientOf(service.baseUrl)), RequestInvalidError);
  expect(error.message).toMatch(problem);
  expect(error.knowledge).toBe('not_sent');
  expect(service.connections()).toBe(0);
});

test.each([
  [
    'may name a custom model and leave its address as it is',
    { conversation_config: { agent: { llm: { model_id: 'custom', custom_llm: { extra_headers: { authorization: 'x' } } } } } },
  ],
  [
    'may clear fields at every depth, and name what the contract does not',
    {
      name: 'Renamed',
      tags: [],
      platform_settings: { data_collection: { day: null } },
      conversation_config: {
        tts: null,
        asr: null,
        agent: { first_message: null, prompt: { prompt: null }, llm: { custom_llm: { extra_headers: { a: null } } } },
      },
    },
  ],
])('an update %s', async (_what, body) => {
  const service = await startHttpService((response) => answerJson(response, 200, {}));
  await clientOf(service.baseUrl).updateAgent('a', body);
  expect(JSON.parse(service.seen[0]?.body ?? '')).toEqual(body);
});

test.each<[string, (client: ConvaiClient) => Promise<unknown>, unknown]>([
  ['an agent without its id', (c) => c.createAgent({ name: 'a' }), { id: 'x' }],
  ['no list', (c) => c.listConversationsPage({}), { items: [] }],
  ['a transcript that is no list', (c) => c.getConversation('c'), { transcript: 'hello' }],
  ['a signed address of the wrong kind', (c) => c.getSignedUrl('a'), { signed_url: 'https://127.0.0.1' }],
  ['no token', (c) => c.getConversationToken('a'), { token: '' }],
  ['no list of numbers', (c) => c.listPhoneNumbers(), { label: 'x' }],
])('%s is a bad response that names the place', async (_name, call, body) => {
  const service = await startHttpService((response) => answerJson(response, 200, body));
  const error = await rejectionOf(call(clientOf(service.baseUrl)), BadResponseError);
  expect(error.status).toBe(200);
  expect(error.problems.length).toBeGreaterThan(0);
});

test('a missing resource is a refusal with status 404', async () => {
  const service = await startHttpService((response) => answerJson(response, 404, { detail: { status: 'not_found' } }));
  const error = await rejectionOf(clientOf(service.baseUrl).getConversation('gone'), RefusedError);
  expect(error).toMatchObject({ status: 404, method: 'GET', path: '/v1/convai/conversations/gone' });
  expect(service.seen).toHaveLength(1);
});

const page = <Item>(items: Item[], hasMore: boolean | null, nextCursor: string | null): Page<Item> => ({ items, hasMore, nextCursor });

test.each<[string, Record<string, Page<number>>, number[], (string | null)[]]>([
  [
    'are followed by cursor to the end',
    { first: page([1, 2], true, 'a'), a: page([3], true, 'b'), b: page([4], false, null) },
    [1, 2, 3, 4],
    [null, 'a', 'b'],
  ],
  ['without any paging fields are one', { first: page([1], null, null) }, [1], [null]],
  ['with a cursor alone go on', { first: page([1], null, 'a'), a: page([2], null, null) }, [1, 2], [null, 'a']],
  ['with has_more and no cursor end', { first: page([1], true, null) }, [1], [null]],
  ['with a cursor after has_more false end', { first: page([1], false, 'a') }, [1], [null]],
  [
    'that repeat a cursor end, also when other cursors stand between',
    { first: page([1], true, 'a'), a: page([2], true, 'b'), b: page([3], true, 'a') },
    [1, 2, 3],
    [null, 'a', 'b'],
  ],
  ['of which one is empty go on', { first: page([], true, 'a'), a: page([1], false, null) }, [1], [null, 'a']],
])('pages %s', async (_what, pages, items, cursors) => {
  const asked: (string | null)[] = [];
  const read = iteratePages(async (cursor) => {
    asked.push(cursor);
    const found = pages[cursor ?? 'first'];
    if (found === undefined) throw new Error(`unexpected cursor ${cursor}`);
    return found;
  });
  expect([await collect(read), asked]).toEqual([items, cursors]);
});

test('an endless row of empty pages with fresh cursors ends', async () => {
  let n = 0;
  expect(await collect(iteratePages(async () => page([], true, `c${(n += 1)}`)))).toEqual([]);
  expect(n).toBe(20);
});

test.each<[unknown, Page<number> | undefined]>([
  [[1], page([1], null, null)],
  [{ things: [] }, page([], null, null)],
  [{ things: [1], has_more: true, next_cursor: 'x' }, page([1], true, 'x')],
  [{ things: [1], has_more: 'yes', next_cursor: '' }, page([1], null, null)],
  [{ other: [1] }, undefined],
  [{ things: {} }, undefined],
  ['text', undefined],
  [null, undefined],
  [undefined, undefined],
])('reads a page from %j', (body, expected) => {
  expect(readPage(body, 'things')).toEqual(expected);
});
