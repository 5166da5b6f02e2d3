import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeDeep } from '../../../src/sandbox/core/json.ts';
import { startTestSandbox, type Json, type TestSandbox } from '../harness.ts';
import { createModelAgent, holdConversation, interviewer, secret, startModelServer } from '../llm/model-server.ts';

const agents = '/v1/convai/agents';

async function create(sandbox: TestSandbox, config: Json = {}, more: Json = {}): Promise<string> {
  const { status, body } = await sandbox.request('POST', agents, { name: 'A', conversation_config: config, ...more });
  expect({ status, body }).toMatchObject({ status: 200 });
  return `${agents}/${body.agent_id}`;
}

async function patch(sandbox: TestSandbox, path: string, config: Json): Promise<{ status: number; body: Json }> {
  return sandbox.request('PATCH', path, { conversation_config: config });
}

/** Where a refusal points, without the `body` that all begin with. */
function places(body: Json): string[] {
  return body.detail.map(({ loc }: Json) => loc.slice(1).join('.'));
}

test.each(['spec', 'extended'] as const)('null takes a field out at any depth in the %s dialect', async (dialect) => {
  const sandbox = await startTestSandbox({ dialect });
  const path = await create(sandbox, {
    tts: { voice_id: 'v' },
    agent: { first_message: 'Hi.', prompt: { prompt: 'P' }, llm: { temperature: 0.2 } },
  });
  const cleared = await patch(sandbox, path, { tts: null, agent: { first_message: null, llm: { temperature: null } } });
  expect(cleared.body.conversation_config).toEqual({ agent: { prompt: { prompt: 'P' }, llm: {} } });
  const all = await sandbox.request('PATCH', path, { conversation_config: null });
  expect(all.body.conversation_config).toEqual({});
  const read = await sandbox.get(path);
  expect(read.body.conversation_config).toEqual({});
});

test('null takes one header of a custom model out and leaves the others', async () => {
  const sandbox = await startTestSandbox();
  const custom = { url: 'http://127.0.0.1:1/v1', extra_headers: { one: '1', two: '2' } };
  const path = await create(sandbox, { agent: { llm: { model_id: 'custom', custom_llm: custom } } });
  const patched = await patch(sandbox, path, { agent: { llm: { custom_llm: { extra_headers: { one: null } } } } });
  expect(Object.keys(patched.body.conversation_config.agent.llm.custom_llm.extra_headers)).toEqual(['two']);
});

test('an empty object changes nothing, whether there is something at its place or not', async () => {
  const sandbox = await startTestSandbox();
  const path = await create(sandbox, { agent: { first_message: 'Hi.' } });
  const { body: before } = await sandbox.get(path);
  for (const config of [{}, { tts: {} }, { agent: {} }, { agent: { llm: { custom_llm: {} }, prompt: {} } }])
    expect((await patch(sandbox, path, config)).body.conversation_config).toEqual(before.conversation_config);
});

test('a merge keeps what is not named, clears what is null, and never changes its arguments', () => {
  const leaf = fc.oneof(fc.integer(), fc.string(), fc.array(fc.integer(), { maxLength: 3 }));
  const key = fc.constantFrom('a', 'b', 'c');
  const { tree } = fc.letrec((tie) => ({ tree: fc.dictionary(key, fc.oneof({ depthSize: 'small' }, leaf, tie('tree')), { maxKeys: 3 }) }));
  const { change } = fc.letrec((tie) => ({
    change: fc.dictionary(key, fc.oneof({ depthSize: 'small' }, leaf, fc.constant(null), tie('change')), { maxKeys: 3 }),
  }));
  fc.assert(
    fc.property(tree, change, (base, asked) => {
      const [keptBase, keptAsked] = [structuredClone(base), structuredClone(asked)];
      const merged = mergeDeep(base as Json, asked as Json);
      expect([base, asked]).toEqual([keptBase, keptAsked]);
      expect(JSON.stringify(merged)).not.toContain('null');
      // Asking for the same once more changes nothing further.
      expect(mergeDeep(merged, asked as Json)).toEqual(merged);
      for (const [name, value] of Object.entries(base)) if (!Object.hasOwn(asked, name)) expect(merged[name]).toEqual(value);
    }),
    { seed: 7, numRuns: 500 },
  );
});

test.each<[string, Json, Json, string]>(
  // prettier-ignore
  [
    ['tts without a voice', { tts: { voice_id: 'v' } }, { tts: { voice_id: null } }, 'conversation_config.tts.voice_id'],
    ['tts added without a voice', {}, { tts: { model_id: 'm' } }, 'conversation_config.tts.voice_id'],
    ['a custom model without its address', { agent: { llm: { model_id: 'custom', custom_llm: { url: 'http://127.0.0.1:1' } } } },
      { agent: { llm: { custom_llm: { url: null } } } }, 'conversation_config.agent.llm.custom_llm'],
    ['a chosen order of backups without the order', {}, { agent: { llm: { backup_llm_config: { preference: 'override' } } } },
      'conversation_config.agent.llm.backup_llm_config.order'],
    ['a custom backup without its model', {}, { agent: { llm: { backup_llm_config: { preference: 'custom' } } } },
      'conversation_config.agent.llm.backup_llm_config.model_id'],
  ],
)('a change that would leave %s is refused and changes nothing', async (_what, config, change, place) => {
  const sandbox = await startTestSandbox();
  const path = await create(sandbox, config);
  const { body: before } = await sandbox.get(path);
  const refused = await patch(sandbox, path, change);
  expect({ status: refused.status, places: places(refused.body) }).toEqual({ status: 422, places: [place] });
  expect((await sandbox.get(path)).body).toEqual(before);
});

test('a change that leaves a data-collection item without its type is refused', async () => {
  const sandbox = await startTestSandbox();
  const path = `${agents}/agent_survey`;
  const refused = await sandbox.request('PATCH', path, { platform_settings: { data_collection: { reason: { type: null } } } });
  expect({ status: refused.status, places: places(refused.body) }).toEqual({
    status: 422,
    places: ['platform_settings.data_collection.reason.type'],
  });
  const gone = await sandbox.request('PATCH', path, { platform_settings: { data_collection: { reason: null } } });
  expect(Object.keys(gone.body.platform_settings.data_collection)).toEqual(['satisfaction', 'opt_out']);
});

test('two changes at once lose nothing', async () => {
  const sandbox = await startTestSandbox();
  const path = await create(sandbox);
  const turn = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`key_${index}`, index]));
  const answers = await Promise.all(Object.entries(turn).map(([name, value]) => patch(sandbox, path, { turn: { [name]: value } })));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  expect((await sandbox.get(path)).body.conversation_config.turn).toEqual(turn);
});

test('lists are replaced whole', async () => {
  const sandbox = await startTestSandbox();
  const path = await create(sandbox, {}, { tags: ['a', 'b'] });
  expect((await sandbox.request('PATCH', path, { tags: ['c'] })).body.tags).toEqual(['c']);
  expect((await sandbox.request('PATCH', path, { tags: null })).body.tags).toEqual([]);
});

test('in the spec dialect a change speaks of conversation_config alone', async () => {
  const sandbox = await startTestSandbox({ dialect: 'spec' });
  const path = await create(sandbox);
  for (const change of [{ name: 'B' }, { tags: [] }, { workflow: {} }, { platform_settings: {} }])
    expect((await sandbox.request('PATCH', path, change)).status).toBe(422);
  const prompt = await patch(sandbox, path, { agent: { prompt: { tools: [] } } });
  expect(places(prompt.body)).toEqual(['conversation_config.agent.prompt.tools']);
});

test.each<[number | undefined, string]>([
  [0, 'Low'],
  [0.3, 'Low'],
  [0.34, 'Low'],
  [0.35, 'Medium'],
  [0.4, 'Medium'],
  [0.7, 'Medium'],
  [0.75, 'High'],
  [0.8, 'High'],
  [1, 'High'],
  [undefined, 'Medium'],
])('a temperature of %s is shown as %s', async (temperature, band) => {
  for (const dialect of ['spec', 'extended'] as const) {
    const sandbox = await startTestSandbox({ dialect });
    const path = await create(sandbox, { agent: { llm: temperature === undefined ? {} : { temperature } } });
    expect((await sandbox.get(path)).body.metadata.temperature_band).toBe(band);
  }
});

test.each([-0.01, 1.01, '0.5', null])('a temperature of %j is refused on creation', async (temperature) => {
  const sandbox = await startTestSandbox();
  const config = { agent: { llm: { temperature } } };
  const { status, body } = await sandbox.request('POST', agents, { name: 'A', conversation_config: config });
  expect({ status, places: places(body) }).toEqual({ status: 422, places: ['conversation_config.agent.llm.temperature'] });
});

test('what was read can be sent back as a change, and the credentials behind it stay what they were', async () => {
  const sandbox = await startTestSandbox();
  const model = await startModelServer(interviewer);
  const agentId = await createModelAgent(sandbox, model.url);
  const path = `${agents}/${agentId}`;
  const { body: before } = await sandbox.get(path);
  expect(before.conversation_config.agent.llm.custom_llm.extra_headers).toEqual({ authorization: '[redacted]', 'x-team': '[redacted]' });
  const { name, tags, conversation_config, platform_settings, workflow } = before;
  const sent = { name, tags, conversation_config, platform_settings, workflow };
  const { status, body: after } = await sandbox.request('PATCH', path, sent);
  expect({ status, after }).toEqual({ status: 200, after: before });
  await holdConversation(sandbox, agentId);
  expect(model.requests[0]?.headers).toMatchObject({ authorization: secret, 'x-team': 'chairs' });
});

test('a masked header value means nothing where none is kept', async () => {
  const sandbox = await startTestSandbox();
  const custom = { url: 'http://127.0.0.1:1/v1', extra_headers: { 'x-new': '[redacted]' } };
  const config = { agent: { llm: { model_id: 'custom', custom_llm: custom } } };
  const place = 'conversation_config.agent.llm.custom_llm.extra_headers.x-new';
  const created = await sandbox.request('POST', agents, { name: 'A', conversation_config: config });
  expect({ status: created.status, places: places(created.body) }).toEqual({ status: 422, places: [place] });
  const patched = await patch(sandbox, `${agents}/agent_survey`, config);
  expect({ status: patched.status, places: places(patched.body) }).toEqual({ status: 422, places: [place] });
});

test.each([
  ['a header that breaks the line', { extra_headers: { a: 'x\r\ny: z' } }],
  ['a header name with a space', { extra_headers: { 'a b': 'x' } }],
  ['a password in the address', { url: 'http://user:pass-word@127.0.0.1/v1' }],
  ['an address that is none of the web', { url: 'file:///tmp/model' }],
])('%s is refused without repeating it', async (_what, custom) => {
  const sandbox = await startTestSandbox();
  const llm = { model_id: 'custom', custom_llm: { url: 'http://127.0.0.1:1/v1', ...custom } };
  const { status, body } = await patch(sandbox, `${agents}/agent_survey`, { agent: { llm } });
  expect(status).toBe(422);
  expect(JSON.stringify(body)).not.toMatch(/y: z|pass-word/);
});

test('knowledge and tools attached to the prompt are shown with the agent', async () => {
  const sandbox = await startTestSandbox();
  const knowledge_base = [{ type: 'text', id: 'doc_1', name: 'Prices', usage_mode: 'auto' }];
  const tools = [
    { type: 'client', name: 'show_map', description: 'Shows a map.', parameters: { type: 'object', properties: {} } },
    { type: 'webhook', name: 'stock', api_schema: { url: 'http://127.0.0.1:1', method: 'POST' } },
    { type: 'system', name: 'end_call' },
  ];
  const path = await create(sandbox, { agent: { prompt: { prompt: 'P', knowledge_base, tools } } });
  const { body } = await sandbox.get(path);
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
  const sandbox = await startTestSandbox({ seedData: false });
  await create(sandbox, {}, { name: 'Cedar', tags: ['tree', 'tall'] });
  await create(sandbox, {}, { name: 'apple', tags: ['tree'] });
  await create(sandbox, {}, { name: 'Basil', tags: ['herb'], platform_settings: { archived: true } });
  expect(await named(sandbox, '')).toEqual(['Basil', 'apple', 'Cedar']);
  expect(await named(sandbox, 'sort_direction=asc')).toEqual(['Cedar', 'apple', 'Basil']);
  expect(await named(sandbox, 'sort_by=name&sort_direction=asc')).toEqual(['Basil', 'Cedar', 'apple']);
  expect(await named(sandbox, 'search=A')).toEqual(['Basil', 'apple', 'Cedar']);
  expect(await named(sandbox, 'search=ap')).toEqual(['apple']);
  expect(await named(sandbox, 'tags=tall&tags=herb')).toEqual(['Basil', 'Cedar']);
  expect(await named(sandbox, 'archived=true')).toEqual(['Basil']);
  expect(await named(sandbox, 'archived=false')).toEqual(['apple', 'Cedar']);
  for (const query of ['archived=maybe', 'sort_by=age', 'page_size=0', 'page_size=101', 'page_size=x'])
    expect((await sandbox.get(`${agents}?${query}`)).status).toBe(422);
  const spec = await startTestSandbox({ dialect: 'spec' });
  expect((await spec.get(`${agents}?search=a`)).status).toBe(422);
});

test('a cursor belongs to one list with one filter, and to one life of the service', async () => {
  const sandbox = await startTestSandbox();
  const { body } = await sandbox.get(`${agents}?page_size=1`);
  const cursor = body.next_cursor;
  const refusals = [`search=a&cursor=${cursor}`, `sort_by=name&cursor=${cursor}`, 'cursor=nonsense', 'cursor='];
  for (const query of refusals)
    expect(await sandbox.get(`${agents}?${query}`)).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', 'cursor'] }] } });
  expect((await sandbox.get(`/v1/convai/conversations?cursor=${cursor}`)).status).toBe(422);
  await sandbox.request('POST', '/_sandbox/reset');
  expect((await sandbox.get(`${agents}?page_size=1&cursor=${cursor}`)).status).toBe(422);
});

test('whatever is created and deleted while a list is read, agents that stay are listed once', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('create' as const), name: fc.constantFrom('a', 'b', 'c', 'd') }),
    fc.record({ do: fc.constant('delete' as const), index: fc.nat(30) }),
    fc.record({ do: fc.constant('read' as const) }),
  );
  const sorting = fc.constantFrom('', '&sort_direction=asc', '&sort_by=name', '&sort_by=name&sort_direction=asc');
  const sandbox = await startTestSandbox({ seedData: false });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), sorting, fc.integer({ min: 1, max: 4 }), async (steps, sorted, size) => {
      await sandbox.request('POST', '/_sandbox/reset');
      const staying = new Set<string>();
      for (const name of ['c', 'a', 'b', 'c', 'a', 'd']) staying.add((await create(sandbox, {}, { name })).split('/').at(-1)!);
      const ids = [...staying];
      const seen: string[] = [];
      let cursor: string | null = '';
      const read = async (): Promise<boolean> => {
        if (cursor === null) return false;
        const { body }: { body: Json } = await sandbox.get(
          `${agents}?page_size=${size}${sorted}${cursor === '' ? '' : `&cursor=${cursor}`}`,
        );
        seen.push(...body.agents.map((agent: Json) => agent.agent_id));
        expect(body.has_more).toBe(body.next_cursor !== null);
        cursor = body.next_cursor;
        return cursor !== null;
      };
      await read();
      for (const each of steps) {
        if (each.do === 'read') await read();
        if (each.do === 'create') ids.push((await create(sandbox, {}, { name: each.name })).split('/').at(-1)!);
        if (each.do === 'delete') {
          const id = ids[each.index % ids.length]!;
          staying.delete(id);
          await sandbox.request('DELETE', `${agents}/${id}`);
        }
      }
      let more = true;
      while (more) more = await read();
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen).toEqual(expect.arrayContaining([...staying]));
    }),
    { seed: 11, numRuns: 40 },
  );
});

test('a summary has what upstream promises of it', async () => {
  const sandbox = await startTestSandbox();
  const { body } = await sandbox.get(agents);
  expect(body.agents[0]).toEqual({
    agent_id: 'agent_survey',
    name: 'Satisfaction survey',
    tags: ['sandbox'],
    created_at: '2030-01-15T12:00:00.000Z',
    created_at_unix_secs: Date.UTC(2030, 0, 15, 12) / 1000,
    voice_id: 'voice_calm',
    archived: false,
    access_info: { is_creator: true, creator_name: 'Sandbox', creator_email: 'sandbox@example.test', role: 'admin' },
  });
});
