import { expect } from 'vitest';
import { startTestSandbox, test, type Json, type TestSandbox } from '../harness.ts';
import { createModelAgent, holdConversation, interviewer, secret, startModelServer } from '../llm/model-server.ts';

const agents = '/v1/convai/agents';

async function create(sandbox: TestSandbox, config: Json = {}, more: Json = {}): Promise<string> {
  return `${agents}/${await sandbox.createAgent(config, more)}`;
}

async function patch(sandbox: TestSandbox, path: string, config: Json): Promise<{ status: number; body: Json }> {
  return sandbox.patch(path, { conversation_config: config });
}

function places(body: Json): string[] {
  return body.detail.map(({ loc }: Json) => loc.slice(1).join('.'));
}

const backups = { agent: { llm: { backup_llm_config: { preference: 'override' } } } };

test.for<[string, Json, string]>([
  ['a custom model that has none', { agent: { llm: { model_id: 'custom' } } }, 'agent.llm.custom_llm'],
  ['a chosen order of backups without the order', backups, 'agent.llm.backup_llm_config.order'],
  [
    'a custom backup without it',
    { agent: { llm: { backup_llm_config: { preference: 'custom' } } } },
    'agent.llm.backup_llm_config.model_id',
  ],
])('a change that would leave %s is refused and changes nothing', async ([_what, change, place], { sandbox }) => {
  const path = await create(sandbox);
  const before = await sandbox.read(path);
  const refused = await patch(sandbox, path, change);
  expect([refused.status, places(refused.body)]).toEqual([422, [`conversation_config.${place}`]]);
  expect(await sandbox.read(path)).toEqual(before);
});

test('a data-collection item is taken out whole, and keeps its type', async ({ sandbox }) => {
  const change = (reason: Json) => sandbox.patch(`${agents}/agent_survey`, { platform_settings: { data_collection: { reason } } });
  const refused = await change({ type: null });
  expect([refused.status, places(refused.body)]).toEqual([422, ['platform_settings.data_collection.reason.type']]);
  expect(Object.keys((await change(null)).body.platform_settings.data_collection)).toEqual(['satisfaction', 'opt_out']);
});

test('two changes at once lose nothing', async ({ sandbox }) => {
  const path = await create(sandbox);
  const turn = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`key_${index}`, index]));
  const answers = await Promise.all(Object.entries(turn).map(([name, value]) => patch(sandbox, path, { turn: { [name]: value } })));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  expect((await sandbox.read(path)).conversation_config.turn).toEqual(turn);
});

test('tags can be read back, lists are replaced whole, and a prompt may be long', async ({ sandbox }) => {
  const path = await create(sandbox, {}, { tags: ['a', 'b'] });
  expect(await sandbox.read(path)).toMatchObject({ name: 'A', tags: ['a', 'b'] });
  expect((await sandbox.patch(path, { tags: ['c'] })).body.tags).toEqual(['c']);
  expect((await sandbox.patch(path, { tags: null })).body.tags).toEqual([]);
  const prompt = 'x'.repeat(1_000_000);
  await patch(sandbox, path, { agent: { prompt: { prompt } } });
  expect((await sandbox.read(path)).conversation_config.agent.prompt.prompt).toBe(prompt);
});

test.each(['spec', 'extended'] as const)('a temperature is shown in three bands in the %s dialect', async (dialect) => {
  const sandbox = await startTestSandbox({ dialect });
  const bands = { Low: [0, 0.3, 0.34], Medium: [0.35, 0.4, 0.7, undefined], High: [0.75, 0.8, 1] };
  for (const [band, temperatures] of Object.entries(bands))
    for (const temperature of temperatures) {
      const path = await create(sandbox, { agent: { llm: temperature === undefined ? {} : { temperature } } });
      expect([temperature, (await sandbox.read(path)).metadata.temperature_band]).toEqual([temperature, band]);
    }
});

test('what was read can be sent back as a change, and the credentials behind it stay what they were', async ({ sandbox }) => {
  const model = await startModelServer(interviewer);
  const agentId = await createModelAgent(sandbox, model.url);
  const path = `${agents}/${agentId}`;
  const before = await sandbox.read(path);
  expect(before.conversation_config.agent.llm.custom_llm.extra_headers).toEqual({ authorization: '[redacted]', 'x-team': '[redacted]' });
  const { name, tags, conversation_config, platform_settings, workflow } = before;
  const sent = { name, tags, conversation_config, platform_settings, workflow };
  const { status, body: after } = await sandbox.patch(path, sent);
  expect({ status, after }).toEqual({ status: 200, after: before });
  await holdConversation(sandbox, agentId);
  expect(model.requests[0]?.headers).toMatchObject({ authorization: secret, 'x-team': 'chairs' });
});

test('what a custom model may not have is refused without repeating it', async ({ sandbox }) => {
  for (const custom of [
    { extra_headers: { a: 'x\r\ny: z' } },
    { extra_headers: { 'a b': 'x' } },
    { url: 'http://user:pass-word@127.0.0.1/v1' },
    { url: 'file:///tmp/model' },
  ]) {
    const llm = { model_id: 'custom', custom_llm: { url: 'http://127.0.0.1:1/v1', ...custom } };
    const { status, body } = await patch(sandbox, `${agents}/agent_survey`, { agent: { llm } });
    expect([custom, status]).toEqual([custom, 422]);
    expect(JSON.stringify(body)).not.toMatch(/y: z|pass-word/);
  }
});

test('knowledge and tools attached to the prompt are shown with the agent', async ({ sandbox }) => {
  const knowledge_base = [{ type: 'text', id: 'doc_1', name: 'Prices', usage_mode: 'auto' }];
  const tools = [
    { type: 'client', name: 'show_map', description: 'Shows a map.', parameters: { type: 'object', properties: {} } },
    { type: 'webhook', name: 'stock', api_schema: { url: 'http://127.0.0.1:1', method: 'POST' } },
    { type: 'system', name: 'end_call' },
  ];
  const path = await create(sandbox, { agent: { prompt: { prompt: 'P', knowledge_base, tools } } });
  const body = await sandbox.read(path);
  expect(body).toMatchObject({ knowledge_base, tools, conversation_config: { agent: { prompt: { knowledge_base, tools } } } });
  const twice = await patch(sandbox, path, { agent: { prompt: { tools: [tools[0], tools[0]] } } });
  expect(places(twice.body)).toEqual(['conversation_config.agent.prompt.tools.1.name']);
  const strange = await patch(sandbox, path, { agent: { prompt: { tools: [{ type: 'magic', name: 'a b' }] } } });
  expect(places(strange.body)).toEqual(['conversation_config.agent.prompt.tools.0.type', 'conversation_config.agent.prompt.tools.0.name']);
});

async function named(sandbox: TestSandbox, query: string): Promise<string[]> {
  const { status, body } = await sandbox.get(`${agents}?${query}`);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body.agents.map(({ name }: Json) => name);
}

test('the list can be searched, filtered and sorted', async () => {
  const seeded = await startTestSandbox();
  expect((await seeded.read(agents)).agents[0]).toMatchObject({ agent_id: 'agent_survey', voice_id: 'voice_calm', archived: false });
  const sandbox = await startTestSandbox({ seedData: false });
  await create(sandbox, {}, { name: 'Cedar', tags: ['tree', 'tall'] });
  await create(sandbox, {}, { name: 'apple', tags: ['tree'] });
  await create(sandbox, {}, { name: 'Basil', tags: ['herb'], platform_settings: { archived: true } });
  for (const [query, names] of [
    ['', ['Basil', 'apple', 'Cedar']],
    ['sort_direction=asc', ['Cedar', 'apple', 'Basil']],
    ['sort_by=name&sort_direction=asc', ['Basil', 'Cedar', 'apple']],
    ['search=A', ['Basil', 'apple', 'Cedar']],
    ['search=ap', ['apple']],
    ['tags=tall&tags=herb', ['Basil', 'Cedar']],
    ['archived=true', ['Basil']],
    ['archived=false', ['apple', 'Cedar']],
  ] as const)
    expect([query, await named(sandbox, query)]).toEqual([query, names]);
  // An agent that is made while the pages are read stands in none of them, or in its place.
  for (const sorting of ['sort_direction=asc', 'sort_by=name', 'sort_by=name&sort_direction=asc']) {
    const whole = await named(sandbox, sorting);
    const first = await sandbox.read(`${agents}?page_size=2&${sorting}`);
    await sandbox.createAgent({}, { name: 'Basil' });
    const rest = await named(sandbox, `${sorting}&cursor=${first.next_cursor}`);
    expect([...first.agents.map(({ name }: Json) => name), ...rest].filter((name) => name !== 'Basil')).toEqual(
      whole.filter((name) => name !== 'Basil'),
    );
  }
  for (const query of ['archived=maybe', 'sort_by=age', 'page_size=0', 'page_size=101', 'page_size=x'])
    expect((await sandbox.get(`${agents}?${query}`)).status).toBe(422);
  const spec = await startTestSandbox({ dialect: 'spec' });
  expect((await spec.get(`${agents}?search=a`)).status).toBe(422);
});
