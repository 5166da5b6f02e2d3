import * as fc from 'fast-check';
import { expect } from 'vitest';
import { mergeDeep } from '../../../src/sandbox/core/json.ts';
import { startTestSandbox, test, type Json, type TestSandbox } from '../harness.ts';
import { createModelAgent, holdConversation, interviewer, secret, startModelServer } from '../llm/model-server.ts';

const agents = '/v1/convai/agents';

async function create(sandbox: TestSandbox, config: Json = {}, more: Json = {}): Promise<string> {
  const { status, body } = await sandbox.post(agents, { name: 'A', conversation_config: config, ...more });
  expect({ status, body }).toMatchObject({ status: 200 });
  return `${agents}/${body.agent_id}`;
}

async function patch(sandbox: TestSandbox, path: string, config: Json): Promise<{ status: number; body: Json }> {
  return sandbox.patch(path, { conversation_config: config });
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
  expect((await patch(sandbox, path, null)).body.conversation_config).toEqual({});
  expect((await sandbox.read(path)).conversation_config).toEqual({});
});

test('a PATCH changes only what it sends, at every depth, and an empty object changes nothing', async ({ sandbox }) => {
  const custom_llm = { url: 'http://127.0.0.1:1/v1', extra_headers: { a: '1', b: '2' } };
  const llm = { model_id: 'custom', custom_llm, temperature: 0.2 };
  const own = { first_message: 'Hi.', prompt: { prompt: 'P' }, llm };
  const path = await create(sandbox, { agent: own });
  const before = (await sandbox.read(path)).conversation_config;
  for (const nothing of [{}, { tts: {} }, { agent: {} }, { agent: { llm: { custom_llm: {} }, prompt: {} } }])
    expect((await patch(sandbox, path, nothing)).body.conversation_config).toEqual(before);
  const change = { tts: { voice_id: 'v2' }, agent: { llm: { custom_llm: { extra_headers: { a: null, b: '3' } } } } };
  expect((await patch(sandbox, path, change)).body.conversation_config).toEqual({
    // The model of speech that counts where none is named.
    tts: { voice_id: 'v2', model_id: 'svc_flash_v2' },
    agent: { ...own, llm: { ...llm, custom_llm: { ...custom_llm, extra_headers: { b: '[redacted]' } } } },
  });
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

test.for<[string, Json, Json, string]>(
  // prettier-ignore
  [
    ['tts without a voice', { tts: { voice_id: 'v' } }, { tts: { voice_id: null } }, 'conversation_config.tts.voice_id'],
    ['a custom model that has none', {}, { agent: { llm: { model_id: 'custom' } } }, 'conversation_config.agent.llm.custom_llm'],
    ['tts added without a voice', {}, { tts: { model_id: 'm' } }, 'conversation_config.tts.voice_id'],
    ['a custom model without its address', { agent: { llm: { model_id: 'custom', custom_llm: { url: 'http://127.0.0.1:1' } } } },
      { agent: { llm: { custom_llm: { url: null } } } }, 'conversation_config.agent.llm.custom_llm'],
    ['a chosen order of backups without the order', {}, { agent: { llm: { backup_llm_config: { preference: 'override' } } } },
      'conversation_config.agent.llm.backup_llm_config.order'],
    ['a custom backup without its model', {}, { agent: { llm: { backup_llm_config: { preference: 'custom' } } } },
      'conversation_config.agent.llm.backup_llm_config.model_id'],
  ],
)('a change that would leave %s is refused and changes nothing', async ([_what, config, change, place], { sandbox }) => {
  const path = await create(sandbox, config);
  const before = await sandbox.read(path);
  const refused = await patch(sandbox, path, change);
  expect({ status: refused.status, places: places(refused.body) }).toEqual({ status: 422, places: [place] });
  expect(await sandbox.read(path)).toEqual(before);
});

test('a change that leaves a data-collection item without its type is refused', async ({ sandbox }) => {
  const path = `${agents}/agent_survey`;
  const refused = await sandbox.patch(path, { platform_settings: { data_collection: { reason: { type: null } } } });
  expect({ status: refused.status, places: places(refused.body) }).toEqual({
    status: 422,
    places: ['platform_settings.data_collection.reason.type'],
  });
  const gone = await sandbox.patch(path, { platform_settings: { data_collection: { reason: null } } });
  expect(Object.keys(gone.body.platform_settings.data_collection)).toEqual(['satisfaction', 'opt_out']);
});

test('two changes at once lose nothing', async ({ sandbox }) => {
  const path = await create(sandbox);
  const turn = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`key_${index}`, index]));
  const answers = await Promise.all(Object.entries(turn).map(([name, value]) => patch(sandbox, path, { turn: { [name]: value } })));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  expect((await sandbox.read(path)).conversation_config.turn).toEqual(turn);
});

test('tags can be read back, and lists are replaced whole', async ({ sandbox }) => {
  const path = await create(sandbox, {}, { tags: ['a', 'b'] });
  expect(await sandbox.read(path)).toMatchObject({ name: 'A', tags: ['a', 'b'] });
  expect((await sandbox.patch(path, { tags: ['c'] })).body.tags).toEqual(['c']);
  expect((await sandbox.patch(path, { tags: null })).body.tags).toEqual([]);
});

test('in the spec dialect a change speaks of conversation_config alone', async () => {
  const sandbox = await startTestSandbox({ dialect: 'spec' });
  const path = await create(sandbox);
  for (const change of [{ name: 'B' }, { tags: [] }, { workflow: {} }, { platform_settings: {} }])
    expect((await sandbox.patch(path, change)).status).toBe(422);
  const prompt = await patch(sandbox, path, { agent: { prompt: { tools: [] } } });
  expect(places(prompt.body)).toEqual(['conversation_config.agent.prompt.tools']);
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
  for (const query of ['archived=maybe', 'sort_by=age', 'page_size=0', 'page_size=101', 'page_size=x'])
    expect((await sandbox.get(`${agents}?${query}`)).status).toBe(422);
  const spec = await startTestSandbox({ dialect: 'spec' });
  expect((await spec.get(`${agents}?search=a`)).status).toBe(422);
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
      await sandbox.post('/_sandbox/reset');
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
          await sandbox.delete(`${agents}/${id}`);
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

test('a summary has what upstream promises of it', async ({ sandbox }) => {
  const body = await sandbox.read(agents);
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

test('names and tags of every script come back as they were sent, and can be searched for', async ({ sandbox }) => {
  for (const name of ['𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠜎', '\u202eשלום עולם\u202c', '👩‍👩‍👧‍👦🇬🇧', 'e\u0301\u0323']) {
    const path = await create(sandbox, {}, { name, tags: [name] });
    expect(await sandbox.read(path)).toMatchObject({ name, tags: [name] });
    expect(await named(sandbox, `search=${encodeURIComponent(name)}`)).toEqual([name]);
  }
  const prompt = 'x'.repeat(1_000_000);
  const path = await create(sandbox, { agent: { prompt: { prompt } } });
  expect((await sandbox.read(path)).conversation_config.agent.prompt.prompt).toBe(prompt);
});

test('what is deleted is gone from every reading, and the conduct report tells of use after it', async ({ sandbox }) => {
  await sandbox.batch(['+12125550150']);
  const conversation = `/v1/convai/conversations/${sandbox.calls()[0]?.conversationId}`;
  for (const path of [conversation, `${agents}/agent_survey`, `${agents}/agent_reminders`]) {
    const answers = [await sandbox.get(path), await sandbox.delete(path), await sandbox.delete(path), await sandbox.get(path)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 404]);
  }
  expect((await sandbox.read('/v1/convai/conversations')).conversations).toEqual([]);
  const [main] = await sandbox.read('/v1/convai/phone-numbers');
  expect(main).toMatchObject({ phone_number_id: 'pn_main', agent_id: null });
  const inbound = await sandbox.post('/_sandbox/inbound', { phone_number_id: 'pn_main', from: '+442079460123' });
  expect(inbound.body.answered).toBe(false);
  const before = sandbox.violations('deleted_use').length;
  const answers = [
    await sandbox.patch(`${agents}/agent_survey`, { conversation_config: {} }),
    await sandbox.patch('/v1/convai/phone-numbers/pn_main', { agent_id: 'agent_survey' }),
    await sandbox.get('/v1/convai/conversation/token?agent_id=agent_survey'),
    await sandbox.get('/v1/convai/conversation/get-signed-url?agent_id=agent_survey'),
    await sandbox.batch(['+12125550150'], { agent_id: 'agent_survey' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
  expect(sandbox.violations('deleted_use').length - before).toBeGreaterThanOrEqual(answers.length - 1);
  expect(sandbox.calls()).toHaveLength(1);
});

test.for(['get-signed-url', 'token'])('%s gives a new credential each time, good once and not for long', async (name, { sandbox }) => {
  const path = `/v1/convai/conversation/${name}`;
  const issue = async (): Promise<string> => {
    const { token, signed_url } = await sandbox.read(`${path}?agent_id=agent_survey`);
    return token ?? new URL(signed_url).searchParams.get('conversation_signature');
  };
  const redeem = async (credential: string): Promise<boolean> =>
    (await sandbox.post('/_sandbox/credentials/redeem', { credential })).body.accepted;
  const [one, two] = [await issue(), await issue()];
  expect(one).not.toBe(two);
  expect([await redeem(one), await redeem(one)]).toEqual([true, false]);
  sandbox.clock.advance(15 * 60_000);
  expect(await redeem(two)).toBe(false);
  expect([(await sandbox.get(path)).status, (await sandbox.get(`${path}?agent_id=none`)).status]).toEqual([422, 404]);
});
