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

interface Operation {
  name: string;
  call: (client: ConvaiClient) => Promise<unknown>;
  request: { method: string; url: string; body: unknown };
  answer: unknown;
  result: unknown;
}

const operations: Operation[] = [
  {
    name: 'createAgent',
    call: (client) => client.createAgent({ name: 'Reminders', tags: ['a'], conversation_config: { tts: { voice_id: 'v' } } }),
    request: {
      method: 'POST',
      url: '/v1/convai/agents',
      body: { name: 'Reminders', tags: ['a'], conversation_config: { tts: { voice_id: 'v' } } },
    },
    answer: { agent_id: 'agent_1', later_field: 1 },
    result: { agent_id: 'agent_1', later_field: 1 },
  },
  {
    name: 'listAgents',
    call: (client) => collect(client.listAgents()),
    request: { method: 'GET', url: '/v1/convai/agents?page_size=100', body: null },
    answer: {
      agents: [{ agent_id: 'agent_1', name: 'Reminders', tags: [], created_at_unix_secs: 1 }],
      has_more: false,
    },
    result: [{ agent_id: 'agent_1', name: 'Reminders', tags: [], created_at_unix_secs: 1 }],
  },
  {
    name: 'getAgent',
    call: (client) => client.getAgent('agent/1 ?'),
    request: { method: 'GET', url: '/v1/convai/agents/agent%2F1%20%3F', body: null },
    answer: { agent_id: 'agent/1 ?', conversation_config: { asr: {} } },
    result: { agent_id: 'agent/1 ?', conversation_config: { asr: {} } },
  },
  {
    name: 'updateAgent',
    call: (client) => client.updateAgent('agent_1', { conversation_config: { agent: { llm: { temperature: 0.5 } } } }),
    request: {
      method: 'PATCH',
      url: '/v1/convai/agents/agent_1',
      body: { conversation_config: { agent: { llm: { temperature: 0.5 } } } },
    },
    answer: { agent_id: 'agent_1' },
    result: { agent_id: 'agent_1' },
  },
  {
    name: 'deleteAgent',
    call: (client) => client.deleteAgent('agent_1'),
    request: { method: 'DELETE', url: '/v1/convai/agents/agent_1', body: null },
    answer: {},
    result: undefined,
  },
  {
    name: 'getConversation',
    call: (client) => client.getConversation('conv_1'),
    request: { method: 'GET', url: '/v1/convai/conversations/conv_1', body: null },
    answer: { transcript: [], audio: null, metadata: { start_time: 1 }, evaluation_results: {}, collected_data: {} },
    result: {
      conversation_id: 'conv_1',
      transcript: [],
      audio: null,
      metadata: { start_time: 1 },
      evaluation_results: {},
      collected_data: {},
    },
  },
  {
    name: 'listConversations',
    call: (client) => collect(client.listConversations({ agentId: 'agent_1' })),
    request: { method: 'GET', url: '/v1/convai/conversations?agent_id=agent_1&page_size=100', body: null },
    answer: {
      conversations: [{ conversation_id: 'conv_1', metadata: { start_time: 1 } }, { conversation_id: 'conv_2' }],
    },
    result: [{ conversation_id: 'conv_1', metadata: { start_time: 1 } }, { conversation_id: 'conv_2' }],
  },
  {
    name: 'deleteConversation',
    call: (client) => client.deleteConversation('conv_1'),
    request: { method: 'DELETE', url: '/v1/convai/conversations/conv_1', body: null },
    answer: { deleted: true },
    result: undefined,
  },
  {
    name: 'getSignedUrl',
    call: (client) => client.getSignedUrl('agent_1'),
    request: { method: 'GET', url: '/v1/convai/conversation/get-signed-url?agent_id=agent_1', body: null },
    answer: { signed_url: 'wss://127.0.0.1/v1/convai/conversation?signature=1' },
    result: 'wss://127.0.0.1/v1/convai/conversation?signature=1',
  },
  {
    name: 'getConversationToken',
    call: (client) => client.getConversationToken('agent_1'),
    request: { method: 'GET', url: '/v1/convai/conversation/token?agent_id=agent_1', body: null },
    answer: { token: 'jwt', conversation_id: 'conv_1' },
    result: 'jwt',
  },
  {
    name: 'listPhoneNumbers',
    call: (client) => client.listPhoneNumbers(),
    request: { method: 'GET', url: '/v1/convai/phone-numbers', body: null },
    answer: [{ phone_number_id: 'phnum_1', phone_number: '+12125550199', label: 'Main', agent_id: null }],
    result: [{ phone_number_id: 'phnum_1', phone_number: '+12125550199', label: 'Main', agent_id: null }],
  },
  {
    name: 'importPhoneNumber',
    call: (client) =>
      client.importPhoneNumber({
        label: 'Main',
        phone_number: '+12125550199',
        telephony_account_sid: 'sid',
        telephony_auth_token: 'token',
      }),
    request: {
      method: 'POST',
      url: '/v1/convai/phone-numbers',
      body: {
        label: 'Main',
        phone_number: '+12125550199',
        telephony_account_sid: 'sid',
        telephony_auth_token: 'token',
      },
    },
    answer: { phone_number_id: 'phnum_1' },
    result: { phone_number_id: 'phnum_1' },
  },
  {
    name: 'assignPhoneNumber',
    call: (client) => client.assignPhoneNumber('phnum_1', { agent_id: 'agent_1' }),
    request: { method: 'PATCH', url: '/v1/convai/phone-numbers/phnum_1', body: { agent_id: 'agent_1' } },
    answer: { phone_number_id: 'phnum_1', agent_id: 'agent_1' },
    result: { phone_number_id: 'phnum_1', agent_id: 'agent_1' },
  },
  {
    name: 'placeBatchCalls',
    call: (client) => client.placeBatchCalls(batch, { requestId: 'b1/1', mayBegin: () => true }),
    request: { method: 'POST', url: '/v1/convai/phone-numbers/batch-calls', body: batch },
    answer: { batch_id: 'batch_1', calls_initiated: 2 },
    result: expect.objectContaining({ batchId: 'batch_1', callsInitiated: 2 }),
  },
];

test('there are 14 operations', () => {
  expect(operations).toHaveLength(14);
});

test.each(operations)('$name sends what the contract says and reads the answer', async ({ call, request, answer, result }) => {
  const service = await startHttpService((response) => answerJson(response, 200, answer));
  expect(await call(clientOf(service.baseUrl))).toEqual(result);
  expect(service.seen).toHaveLength(1);
  const [seen] = service.seen;
  expect(seen?.method).toBe(request.method);
  expect(seen?.url).toBe(request.url);
  expect(seen?.headers['x-api-key']).toBe(testKey);
  expect(seen?.url).not.toContain(testKey);
  expect(seen?.headers['content-type']).toBe(request.body === null ? undefined : 'application/json');
  expect(seen?.body === '' ? null : JSON.parse(seen?.body ?? '')).toEqual(request.body);
});

test.each(operations)('$name fits below a path prefix with a trailing slash', async ({ call, request, answer }) => {
  const service = await startHttpService((response) => answerJson(response, 200, answer));
  await call(clientOf(`${service.baseUrl}/some/prefix/`));
  expect(service.seen[0]?.url).toBe(`/some/prefix${request.url}`);
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
  const service = await startHttpService((response, request, nth) => {
    if (request.url.startsWith('/v1/convai/phone-numbers')) {
      answerJson(response, 200, { phone_numbers: [{ phone_number_id: 'p' }] });
    } else if (request.url.startsWith('/v1/convai/agents')) {
      answerJson(response, 200, [{ agent_id: 'a' }]);
    } else {
      const next = { has_more: true, next_cursor: 'x+/=&' };
      answerJson(response, 200, { conversations: [{ conversation_id: `c${nth}` }], ...next });
    }
  });
  const client = clientOf(service.baseUrl);
  expect(await client.listPhoneNumbers()).toEqual([{ phone_number_id: 'p' }]);
  expect(await collect(client.listAgents())).toEqual([{ agent_id: 'a' }]);
  // The service repeats its cursor: the list ends after the page that the cursor led to.
  expect(await collect(client.listConversations())).toEqual([{ conversation_id: 'c3' }, { conversation_id: 'c4' }]);
  expect(new URL(service.seen[3]?.url ?? '', service.baseUrl).searchParams.get('cursor')).toBe('x+/=&');
});

test('a page tells whether there is more, and the time at the service', async () => {
  const date = 'Sun, 06 Nov 1994 08:49:37 GMT';
  const service = await startHttpService((response) =>
    answerJson(response, 200, { conversations: [], has_more: true, next_cursor: 'n' }, { date }),
  );
  let real = 100;
  const client = clientOf(service.baseUrl, { nowReal: () => (real += 1) });
  const page = await client.listConversationsPage({ agentId: 'a', cursor: 'c', pageSize: 7 });
  expect(page).toEqual({
    conversations: [],
    unusable: [],
    hasMore: true,
    nextCursor: 'n',
    serviceDate: { serverMs: Date.UTC(1994, 10, 6, 8, 49, 37), sentAtMs: 101, receivedAtMs: 102 },
  });
  expect(service.seen[0]?.url).toBe('/v1/convai/conversations?agent_id=a&cursor=c&page_size=7');
});

test('a page of a list without paging fields or Date header says that it does not know', async () => {
  const service = await startHttpService((response) => {
    response.sendDate = false;
    answerJson(response, 200, { conversations: [{ conversation_id: 'c' }] });
  });
  const page = await clientOf(service.baseUrl).listConversationsPage({});
  expect(page).toEqual({
    conversations: [{ conversation_id: 'c' }],
    unusable: [],
    hasMore: null,
    nextCursor: null,
    serviceDate: null,
  });
});

const invalidRequests: { name: string; call: (client: ConvaiClient) => Promise<unknown>; problem: RegExp }[] = [
  { name: 'an agent without a name', call: (c) => c.createAgent({ name: '' }), problem: /name/ },
  {
    name: 'an unknown key',
    call: (c) => c.createAgent({ name: 'a', nickname: 'b' } as never),
    problem: /nickname/,
  },
  {
    name: 'a temperature out of range',
    call: (c) => c.updateAgent('a', { conversation_config: { agent: { llm: { temperature: 1.1 } } } }),
    problem: /conversation_config\.agent\.llm\.temperature/,
  },
  {
    name: 'a new agent with a custom model without its address',
    call: (c) => c.createAgent({ name: 'a', conversation_config: { agent: { llm: { model_id: 'custom' } } } }),
    problem: /custom_llm/,
  },
  {
    name: 'a voice without its id on create',
    call: (c) => c.createAgent({ name: 'a', conversation_config: { tts: { model_id: 'm' } } as never }),
    problem: /voice_id/,
  },
  {
    name: 'a cleared field of a new agent',
    call: (c) => c.createAgent({ name: 'a', conversation_config: { tts: null } } as never),
    problem: /conversation_config\.tts/,
  },
  { name: 'an empty id', call: (c) => c.deleteAgent(''), problem: /id in the path/ },
  { name: 'an id that climbs', call: (c) => c.getConversation('..'), problem: /id in the path/ },
  {
    name: 'a number that is not E.164',
    call: (c) =>
      c.importPhoneNumber({
        label: 'l',
        phone_number: '2125550199',
        telephony_account_sid: 's',
        telephony_auth_token: 't',
      }),
    problem: /phone_number: must be an E\.164/,
  },
  { name: 'an assignment to nobody', call: (c) => c.assignPhoneNumber('p', { agent_id: '' }), problem: /agent_id/ },
];

test.each(invalidRequests)('$name is refused before anything is sent', async ({ call, problem }) => {
  const service = await startHttpService((response) => answerJson(response, 200, {}));
  const error = await rejectionOf(call(clientOf(service.baseUrl)), RequestInvalidError);
  expect(error.message).toMatch(problem);
  expect(error.knowledge).toBe('not_sent');
  expect(service.connections()).toBe(0);
});

test('a partial update may name a custom model and leave its address as it is', async () => {
  const service = await startHttpService((response) => answerJson(response, 200, {}));
  const llm = { model_id: 'custom', custom_llm: { extra_headers: { authorization: 'x' } } };
  await clientOf(service.baseUrl).updateAgent('a', { conversation_config: { agent: { llm } } });
  expect(JSON.parse(service.seen[0]?.body ?? '')).toEqual({ conversation_config: { agent: { llm } } });
});

test('an update may clear fields at every depth, and name what the contract does not', async () => {
  const service = await startHttpService((response) => answerJson(response, 200, {}));
  const body = {
    name: 'Renamed',
    tags: [],
    platform_settings: { data_collection: { day: null } },
    conversation_config: {
      tts: null,
      asr: null,
      agent: { first_message: null, prompt: { prompt: null }, llm: { custom_llm: { extra_headers: { a: null } } } },
    },
  };
  await clientOf(service.baseUrl).updateAgent('a', body);
  expect(JSON.parse(service.seen[0]?.body ?? '')).toEqual(body);
});

const badAnswers: [string, (client: ConvaiClient) => Promise<unknown>, unknown][] = [
  ['an agent without its id', (c) => c.createAgent({ name: 'a' }), { id: 'x' }],
  ['no list', (c) => c.listConversationsPage({}), { items: [] }],
  ['a transcript that is no list', (c) => c.getConversation('c'), { transcript: 'hello' }],
  ['a signed address of the wrong kind', (c) => c.getSignedUrl('a'), { signed_url: 'https://127.0.0.1' }],
  ['no token', (c) => c.getConversationToken('a'), { token: '' }],
  ['no list of numbers', (c) => c.listPhoneNumbers(), { label: 'x' }],
];

test.each(badAnswers)('%s is a bad response that names the place', async (_name, call, body) => {
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

async function collectAll(pages: Record<string, Page<number>>) {
  const asked: (string | null)[] = [];
  const items: number[] = [];
  for await (const item of iteratePages(async (cursor) => {
    asked.push(cursor);
    const page = pages[cursor ?? 'first'];
    if (page === undefined) throw new Error(`unexpected cursor ${cursor}`);
    return page;
  })) {
    items.push(item);
  }
  return { asked, items };
}

test('pages are followed by cursor to the end', async () => {
  const { asked, items } = await collectAll({
    first: { items: [1, 2], hasMore: true, nextCursor: 'a' },
    a: { items: [3], hasMore: true, nextCursor: 'b' },
    b: { items: [4], hasMore: false, nextCursor: null },
  });
  expect(items).toEqual([1, 2, 3, 4]);
  expect(asked).toEqual([null, 'a', 'b']);
});

test('a list without any paging fields is one page', async () => {
  expect((await collectAll({ first: { items: [1], hasMore: null, nextCursor: null } })).items).toEqual([1]);
});

test('a cursor alone is enough to go on', async () => {
  const { items } = await collectAll({
    first: { items: [1], hasMore: null, nextCursor: 'a' },
    a: { items: [2], hasMore: null, nextCursor: null },
  });
  expect(items).toEqual([1, 2]);
});

test('has_more without a cursor ends the list', async () => {
  expect((await collectAll({ first: { items: [1], hasMore: true, nextCursor: null } })).asked).toEqual([null]);
});

test('a cursor after has_more false is not followed', async () => {
  expect((await collectAll({ first: { items: [1], hasMore: false, nextCursor: 'a' } })).asked).toEqual([null]);
});

test('a repeated cursor ends the list, also when other cursors stand between', async () => {
  const { asked } = await collectAll({
    first: { items: [1], hasMore: true, nextCursor: 'a' },
    a: { items: [2], hasMore: true, nextCursor: 'b' },
    b: { items: [3], hasMore: true, nextCursor: 'a' },
  });
  expect(asked).toEqual([null, 'a', 'b']);
});

test('an endless row of empty pages with fresh cursors ends', async () => {
  let n = 0;
  const iterator = iteratePages(async () => ({ items: [] as number[], hasMore: true, nextCursor: `c${(n += 1)}` }));
  expect(await iterator.next()).toEqual({ done: true, value: undefined });
  expect(n).toBe(20);
});

test('one empty page in between does not end the list', async () => {
  const { items } = await collectAll({
    first: { items: [], hasMore: true, nextCursor: 'a' },
    a: { items: [1], hasMore: false, nextCursor: null },
  });
  expect(items).toEqual([1]);
});

test.each([
  [[1], { items: [1], hasMore: null, nextCursor: null }],
  [{ things: [] }, { items: [], hasMore: null, nextCursor: null }],
  [
    { things: [1], has_more: true, next_cursor: 'x' },
    { items: [1], hasMore: true, nextCursor: 'x' },
  ],
  [
    { things: [1], has_more: 'yes', next_cursor: '' },
    { items: [1], hasMore: null, nextCursor: null },
  ],
  [{ other: [1] }, undefined],
  [{ things: {} }, undefined],
  ['text', undefined],
  [null, undefined],
  [undefined, undefined],
])('reads a page from %j', (body, expected) => {
  expect(readPage(body, 'things')).toEqual(expected);
});
