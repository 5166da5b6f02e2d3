import { expect, onTestFinished } from 'vitest';
import { contractFields, contractParameters } from './contract-fields.ts';
import type { OpenApiDocument } from '../../../src/sandbox/openapi/document.ts';
import {
  operationNames,
  operations,
  operationsOf as operationsOfDialect,
  type OperationName,
} from '../../../src/sandbox/core/operations.ts';
import type { Dialect } from '../../../src/sandbox/schemas/building-blocks.ts';
import { resolveSettings } from '../../../src/sandbox/core/settings/settings.ts';
import { Service } from '../../../src/sandbox/core/service/service.ts';
import { createServer } from '../../../src/sandbox/server.ts';
import { createManualClock, plainNumbers, startTestSandbox, test, type Json, type TestSandbox } from '../harness.ts';
import { describedAnswers } from '../model/described-answers.ts';
import { createValidator, documentOf, faultsOf, fieldsOf, follow, operationsOf, walk, type Schema } from './checks.ts';

const ofContract = ['spec', 'extended'] as const;
const dialects = [...ofContract, 'published'] as const;
const bases = ['documentation', 'types', 'code', 'choice'];

test.each(dialects)('/openapi.json of the %s dialect is served without a key', async (dialect) => {
  const sandbox = await startTestSandbox({ dialect });
  const { status, headers, body } = await sandbox.request('GET', '/openapi.json', undefined, { headers: { 'x-api-key': '' } });
  expect(status).toBe(200);
  expect(headers.get('content-type')).toMatch(/^application\/json/);
  expect(body).toEqual(documentOf(dialect));
});

test('a document that breaks a rule of the format is found', () => {
  const breakages: [(document: OpenApiDocument) => void, RegExp][] = [
    [(document) => void delete document.components.schemas['Agent'], /Agent leads nowhere/],
    [(document) => Object.assign(document.components, { securitySchemes: {} }), /security: apiKey is not declared/],
    [(document) => (operationsOf(document)[0]!.operation['operationId'] = 'get_agent'), /operationId is not unique/],
    [(document) => (operationsOf(document)[2]!.operation['parameters'] = []), /agent_id is not declared/],
    [(document) => (operationsOf(document)[0]!.operation['responses'] = {}), /no responses/],
    [(document) => (document.tags = []), /tag agents is not declared/],
  ];
  for (const [breakIt, says] of breakages) {
    const document = documentOf('spec');
    breakIt(document);
    expect(faultsOf(document).join('\n')).toMatch(says);
  }
});

/** Method and path of everything that is served under /v1/, from the router itself. */
function servedRoutes(dialect: Dialect): string[] {
  const service = new Service(resolveSettings({ dialect }), createManualClock());
  onTestFinished(() => service.close());
  const above: string[] = [];
  return createServer(service)
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods = ''] = /^([\s│]*)[├└]── (\S+)(?: \((.*)\))?$/.exec(line) ?? [];
      above.splice(indent.length / 4, Infinity, part);
      const path = above.join('').replaceAll(/:(\w+)/g, '{$1}');
      return path.startsWith('/v1/') && methods !== '' ? methods.split(', ').map((method) => `${method} ${path}`) : [];
    });
}

test.each(dialects)(
  'the %s document keeps the rules of OpenAPI 3.1, compiles, and has every route that is served and no other',
  (dialect) => {
    const document = documentOf(dialect);
    expect(faultsOf(document)).toEqual([]);
    const compile = createValidator(document);
    for (const name of Object.keys(document.components.schemas)) compile(`#/components/schemas/${name}`);
    const all = operationsOf(document);
    expect(all.map(({ method, path }) => `${method.toUpperCase()} ${path}`).toSorted()).toEqual(servedRoutes(dialect).toSorted());
    expect(all.length).toBe({ spec: 15, extended: 40, published: 39 }[dialect]);
    const numbered = all.filter(({ operation }) => 'x-operation-number' in operation);
    const described = numbered.map(({ path, method, operation }) => [operation['operationId'], method, path].join());
    const wanted = operationsOfDialect(dialect).map((name) => {
      const { method, path } = operations[name];
      return [name, method.toLowerCase(), path.replaceAll(/:(\w+)/g, '{$1}')].join();
    });
    expect(new Set(described)).toEqual(new Set(wanted));
  },
);

test('what the document says of a backup model is what happens', async ({ sandbox }) => {
  const fits = createValidator(documentOf('extended'))('#/components/schemas/CreateAgentRequest');
  const [model = ''] = (await sandbox.read('/_sandbox/models')).models
    .filter(({ hosted_by: by }: Json) => by !== 'caller')
    .map(({ model_id: id }: Json) => id);
  const told: [boolean, boolean][] = [];
  for (const preference of [undefined, 'default', 'Disabled', 'override', 'Custom', 'CUSTOM', 'sometimes'])
    for (const order of [undefined, [model], []])
      for (const id of [undefined, model, 'nobody']) {
        const backup = { preference, order, model_id: id };
        const body = { name: 'A', conversation_config: { agent: { llm: { backup_llm_config: backup } } } };
        const plain = JSON.parse(JSON.stringify(body));
        const { status } = await sandbox.post('/v1/convai/agents', plain);
        expect({ backup, status }).toEqual({ backup, status: fits(plain) ? 200 : 422 });
        told.push([status === 200, preference === undefined]);
      }
  expect(new Set(told.map(String)).size).toBe(4);
});

test.each(ofContract)('what the %s document says of cursors and forbidden keys is what happens', async (dialect) => {
  const sandbox = await startTestSandbox({ dialect });
  const document = documentOf(dialect);
  const list = '/v1/convai/conversations';
  const parameters = follow(document, `#/paths/${list.replaceAll('/', '~1')}/get/parameters`) as Schema[];
  const cursor = parameters.find(({ name }) => name === 'cursor');
  expect(follow(cursor, '#/schema/description')).toMatch(/`next_cursor` of this list and filter; others are 422/);
  await sandbox.batch(['+12125550100', '+12125550101']);
  const { next_cursor: next } = await sandbox.read(`${list}?page_size=1`);
  const statuses = [`cursor=${next}`, `cursor=${next}&agent_id=agent_survey`, 'cursor=x', 'cursor='].map(
    async (query) => (await sandbox.get(`${list}?${query}`)).status,
  );
  expect(await Promise.all(statuses)).toEqual([200, 422, 422, 422]);
  expect(follow(document, '#/components/responses/BadRequest/description')).toMatch(/`__proto__`.*`constructor`/);
  for (const key of ['"__proto__":{}', '"constructor":{"prototype":{}}']) {
    const body = `{"agent_id":"agent_survey","from_phone_number_id":"pn_main","calls":[{"to_phone_number":"+12125550100","variables":{${key}}}]}`;
    const refused = await sandbox.post('/v1/convai/phone-numbers/batch-calls', body);
    expect([refused.status, refused.body.detail.code]).toEqual([400, 'forbidden_key']);
  }
});

test.each(ofContract)('every field that the contract names is in the %s document, marked as such', (dialect) => {
  const { components, paths } = documentOf(dialect);
  for (const [name, fields] of Object.entries(contractFields)) {
    const found = [...fieldsOf(components.schemas[name])].filter(({ source }) => source === 'contract');
    expect({ name, fields: [...new Set(found.map(({ field }) => field))].sort() }).toEqual({ name, fields: [...fields].sort() });
  }
  for (const [name, parameters] of Object.entries(contractParameters)) {
    const path = operations[name as OperationName].path;
    const described = paths[path]?.['get']?.['parameters'] as Schema[];
    const marked = described.filter((parameter) => parameter['x-source'] === 'contract');
    expect(marked.map((parameter) => parameter['name'])).toEqual(parameters);
  }
});

test('every field says where it comes from, and every assumption what it rests on', () => {
  const document = documentOf('extended');
  const inBodies = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
    [...fieldsOf(schema)].map(({ field, ...rest }) => ({ field: `${name} ${field}`, ...rest })),
  );
  const numbered = operationsOf(document).filter(({ operation }) => 'x-operation-number' in operation);
  const inQueries = numbered.flatMap(({ operation }) =>
    ((operation['parameters'] ?? []) as Schema[]).map((parameter) => ({
      field: `${String(operation['operationId'])} ${String(parameter['name'])}`,
      source: parameter['x-source'],
      basis: parameter['x-basis'],
    })),
  );
  const fields = [...inBodies, ...inQueries];
  expect(inBodies.length).toBeGreaterThan(120);
  expect(inQueries.length).toBeGreaterThan(15);
  const isKnown = ({ source, basis }: { source: unknown; basis: unknown }): boolean =>
    source === 'contract' ? basis === undefined : source === 'assumption' && bases.includes(String(basis));
  expect(fields.filter((field) => !isKnown(field))).toEqual([]);
  expect(new Set(fields.map(({ basis }) => basis))).toEqual(new Set([...bases, undefined]));
  expect(fields).toContainEqual({ field: 'AgentList next_cursor', source: 'assumption', basis: 'documentation' });
  expect(fields).toContainEqual({ field: 'list_conversations agent_id', source: 'contract', basis: undefined });
});

/** Sends every example, in an order in which each is accepted. */
test.each(ofContract)('every example fits its schema, and the sandbox accepts it in the %s dialect', async (dialect) => {
  const sandbox = await startTestSandbox({ dialect });
  const document = documentOf(dialect);
  const compile = createValidator(document);
  let sent = 0;
  for (const { path, method, operation } of operationsOf(document)) {
    const content = follow(operation, '#/requestBody/content/application~1json') as Schema | undefined;
    // What comparable services have goes without examples.
    if (content?.['example'] === undefined) continue;
    const fits = compile((content['schema'] as { $ref: string }).$ref);
    expect({ path, fits: fits(content['example']), errors: fits.errors }).toEqual({ path, fits: true, errors: null });
    const target = path.replace('{agent_id}', 'agent_reminders').replace('{phone_number_id}', 'pn_main');
    const { status, body } = await sandbox.request(method.toUpperCase(), target, content['example']);
    expect({ path, status, body }).toMatchObject({ path, status: 200 });
    sent += 1;
  }
  expect(sent).toBe(5);
});

interface Seen {
  operation: OperationName;
  status: number;
  body: Json;
}

/** Asks for every operation in many states of the service, and for every refusal that it has. */
async function askEverything(sandbox: TestSandbox): Promise<Seen[]> {
  const seen: Seen[] = [];
  const ask = async (operation: OperationName, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await sandbox.request(operations[operation].method, path, body, { headers });
    seen.push({ operation, status: answer.status, body: answer.body });
    return answer.body;
  };
  const root = '/v1/convai';
  const { agent_id: agent } = await ask('create_agent', `${root}/agents`, {
    name: 'Own',
    tags: ['a'],
    conversation_config: {
      tts: { voice_id: 'voice_calm' },
      agent: { llm: { model_id: 'custom', custom_llm: { url: 'http://127.0.0.1:1/v1', extra_headers: { a: 'b' } } } },
    },
  });
  await ask('create_agent', `${root}/agents`, { name: 'Bare' });
  await ask('list_agents', `${root}/agents`);
  await ask('list_agents', `${root}/agents?page_size=1`);
  for (const id of [agent, 'agent_reminders']) await ask('get_agent', `${root}/agents/${id}`);
  await ask('update_agent', `${root}/agents/${agent}`, { conversation_config: { agent: { llm: { temperature: 1 } } } });
  const { phone_number_id: number } = await ask('import_phone_number', `${root}/phone-numbers`, {
    label: 'Own',
    phone_number: '+12125550123',
    telephony_account_sid: 's',
    telephony_auth_token: 't',
  });
  await ask('assign_phone_number', `${root}/phone-numbers/${number}`, { agent_id: agent });
  await ask('list_phone_numbers', `${root}/phone-numbers`);
  const magic = Array.from({ length: 16 }, (_, nth) => `+121255501${String(nth).padStart(2, '0')}`);
  const calls = [...magic, ...plainNumbers(20)].map((to) => ({ to_phone_number: to, variables: { day: 'Monday', nth: 1 } }));
  const batches = `${root}/phone-numbers/batch-calls`;
  await ask('batch_calls', batches, { agent_id: 'agent_reminders', from_phone_number_id: 'pn_main', calls });
  await ask('batch_calls', batches, {
    agent_id: 'agent_survey',
    from_phone_number_id: 'pn_unverified',
    calls: [{ to_phone_number: '+12125550100', conversation_config_override: { agent: { first_message: 'Hi' } } }],
  });
  for (const waitMs of [0, 5_000, 30_000, 120_000, 7_200_000]) {
    sandbox.clock.advance(waitMs);
    await ask('list_conversations', `${root}/conversations?page_size=100`);
    for (const { conversationId } of sandbox.calls())
      if (conversationId !== null) await ask('get_conversation', `${root}/conversations/${conversationId}`);
  }
  const { conversations } = await ask('list_conversations', `${root}/conversations?page_size=1&agent_id=agent_reminders`);
  await ask('get_signed_url', `${root}/conversation/get-signed-url?agent_id=agent_survey`);
  await ask('get_token', `${root}/conversation/token?agent_id=agent_survey`);
  await ask('delete_conversation', `${root}/conversations/${conversations[0].conversation_id}`);
  await ask('delete_agent', `${root}/agents/${agent}`);
  await ask('list_phone_numbers', `${root}/phone-numbers`);
  for (const name of operationNames) {
    const path = operations[name].path.replaceAll(/:\w+/g, 'nothing');
    const hasBody = ['POST', 'PATCH'].includes(operations[name].method);
    await ask(name, path, hasBody ? {} : undefined, { 'x-api-key': 'sk_wrong' });
    await ask(name, path, hasBody ? {} : undefined, { 'x-api-key': 'sk_sandbox_forbidden' });
    await ask(name, path, hasBody ? {} : undefined, { 'x-api-key': 'sk_sandbox_ratelimited' });
    await ask(name, `${path}?nonsense=1`, hasBody ? { nonsense: 1 } : undefined);
    if (path.endsWith('/nothing')) await ask(name, path, hasBody ? { agent_id: 'agent_survey' } : undefined);
    if (hasBody) await ask(name, path, 'text', { 'content-type': 'text/plain' });
    if (hasBody) await ask(name, path, '{"half":');
  }
  await ask('update_agent', `${root}/agents/nothing`, { conversation_config: {} });
  await ask('import_phone_number', `${root}/phone-numbers`, {
    label: 'Twice',
    phone_number: '+12125550199',
    telephony_account_sid: 's',
    telephony_auth_token: 't',
  });
  await ask('get_signed_url', `${root}/conversation/get-signed-url?agent_id=nothing`);
  await ask('batch_calls', batches, { agent_id: 'nothing', from_phone_number_id: 'pn_main', calls: calls.slice(0, 1) });
  await ask('create_agent', `${root}/agents`, { name: 'x'.repeat(6_000_000) });
  return seen;
}

test.each(ofContract)('every answer of every operation fits the %s document, which describes all of it', async (dialect) => {
  const sandbox = await startTestSandbox({ dialect });
  const seen = await askEverything(sandbox);
  const misfit = describedAnswers(dialect);
  const misfits = seen.flatMap(({ operation, status, body }) => misfit(operation, status, body) ?? []);
  const hint = 'describe it in src/sandbox/convai/openapi/response-schemas.ts';
  expect([...new Set(misfits.map((each) => each.replaceAll(/\/\d+\//g, '/n/')))], hint).toEqual([]);
  const statuses = (name: OperationName) => new Set(seen.filter(({ operation }) => operation === name).map(({ status }) => status));
  for (const name of operationNames) expect([...statuses(name)]).toEqual(expect.arrayContaining([401, 403, 422, 429]));
  expect([...statuses('import_phone_number')]).toEqual(expect.arrayContaining([200, 400, 409, 415]));
  expect([...statuses('create_agent')]).toContain(413);
  expect([...statuses('get_conversation')]).toEqual(expect.arrayContaining([200, 404]));
  const states = new Set(seen.filter(({ operation }) => operation === 'get_conversation').map(({ body }) => body?.status));
  if (dialect === 'extended') expect([...states]).toEqual(expect.arrayContaining(['initiated', 'in-progress', 'done', 'failed']));
});

test('no number in the documents is a real one, and no example holds a credential', () => {
  const text = JSON.stringify(dialects.map(documentOf));
  const numbers = text.match(/\+\d{8,15}\b/g) ?? [];
  expect(numbers.length).toBeGreaterThan(0);
  expect(numbers.filter((number) => !/^\+1\d{3}55501\d{2}$|^\+442079460\d{3}$/.test(number))).toEqual([]);
  expect(text).not.toContain('sk_sandbox');
});

test('the documents have no schema that allows anything by accident', () => {
  for (const dialect of dialects) {
    const empty = [...walk(documentOf(dialect).components.schemas)].filter(({ path, value }) => {
      const isField = /\/properties\/\w+$/.test(path);
      return isField && Object.keys(value).filter((key) => !key.startsWith('x-') && key !== 'description').length === 0;
    });
    // Collected values and refused input are whatever was said or sent.
    expect(empty.filter(({ path }) => !/\/(value|input)$/.test(path)).map(({ path }) => path)).toEqual([]);
  }
});
