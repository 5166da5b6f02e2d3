import { expect, test } from 'vitest';
import { contractFields, contractParameters } from './contract-fields.ts';
import type { OpenApiDocument } from '../../../src/sandbox/openapi/document.ts';
import { operationNames, operations, type OperationName } from '../../../src/sandbox/core/operations.ts';
import { plainNumbers, startTestSandbox, type Json, type TestSandbox } from '../harness.ts';
import {
  closed,
  createValidator,
  documentOf,
  faultsOf,
  fieldsOf,
  follow,
  operationsOf,
  walk,
  type Schema,
} from './checks.ts';

const dialects = ['spec', 'extended'] as const;

test.each(dialects)('/openapi.json of the %s dialect is served without a key', async (dialect) => {
  const sandbox = await startTestSandbox({ dialect });
  const { status, headers, body } = await sandbox.request('GET', '/openapi.json', undefined, {
    headers: { 'x-api-key': '' },
  });
  expect(status).toBe(200);
  expect(headers.get('content-type')).toMatch(/^application\/json/);
  expect(body).toEqual(documentOf(dialect));
});

test.each(dialects)('the document of the %s dialect keeps the rules of OpenAPI 3.1', (dialect) => {
  expect(faultsOf(documentOf(dialect))).toEqual([]);
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

test.each(dialects)('the %s document has the 14 operations at their paths, and every schema compiles', (dialect) => {
  const document = documentOf(dialect);
  const described = operationsOf(document).map(({ path, method, operation }) => [
    operation['operationId'],
    method,
    path,
  ]);
  const wanted = operationNames.map((name) => [
    name,
    operations[name].method.toLowerCase(),
    operations[name].path.replaceAll(/:(\w+)/g, '{$1}'),
  ]);
  expect(new Set(described.map(String))).toEqual(new Set(wanted.map(String)));
  const compile = createValidator(document);
  for (const name of Object.keys(document.components.schemas)) compile(`#/components/schemas/${name}`);
});

test.each(dialects)('every field that the contract names is in the %s document, marked as such', (dialect) => {
  const { components, paths } = documentOf(dialect);
  for (const [name, fields] of Object.entries(contractFields)) {
    const found = [...fieldsOf(components.schemas[name])].filter(({ source }) => source === 'contract');
    expect({ name, fields: [...new Set(found.map(({ field }) => field))].sort() }).toEqual({
      name,
      fields: [...fields].sort(),
    });
  }
  for (const [name, parameters] of Object.entries(contractParameters)) {
    const path = operations[name as OperationName].path;
    const described = paths[path]?.['get']?.['parameters'] as Schema[];
    const marked = described.filter((parameter) => parameter['x-source'] === 'contract');
    expect(marked.map((parameter) => parameter['name'])).toEqual(parameters);
  }
});

test('the contract names this many fields in each schema', () => {
  expect(
    Object.fromEntries(Object.entries(contractFields).map(([name, fields]) => [name, new Set(fields).size])),
  ).toEqual({
    CreateAgentRequest: 16,
    UpdateAgentRequest: 14,
    ImportPhoneNumberRequest: 4,
    AssignPhoneNumberRequest: 1,
    BatchCallsRequest: 18,
    AgentCreated: 1,
    AgentList: 5,
    Agent: 18,
    ConversationRecord: 7,
    ConversationList: 4,
    SignedUrl: 1,
    ConversationToken: 1,
    PhoneNumberList: 4,
    PhoneNumber: 4,
    PhoneNumberImported: 1,
    BatchPlaced: 2,
  });
});

test('every field says where it comes from', () => {
  const { components } = documentOf('extended');
  const fields = Object.entries(components.schemas).flatMap(([name, schema]) =>
    [...fieldsOf(schema)].map(({ field, source }) => ({ field: `${name} ${field}`, source })),
  );
  expect(fields.length).toBeGreaterThan(150);
  expect(fields.filter(({ source }) => source !== 'contract' && source !== 'assumption')).toEqual([]);
  expect(fields).toContainEqual({ field: 'AgentList next_cursor', source: 'assumption' });
});

/** Sends every example, in an order in which each is accepted. */
test.each(dialects)('every example fits its schema, and the sandbox accepts it in the %s dialect', async (dialect) => {
  const sandbox = await startTestSandbox({ dialect });
  const document = documentOf(dialect);
  const compile = createValidator(document);
  let sent = 0;
  for (const { path, method, operation } of operationsOf(document)) {
    const content = follow(operation, '#/requestBody/content/application~1json') as Schema | undefined;
    if (content === undefined) continue;
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
  const calls = [...magic, ...plainNumbers(20)].map((to) => ({
    to_phone_number: to,
    variables: { day: 'Monday', nth: 1 },
  }));
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
  const { conversations } = await ask(
    'list_conversations',
    `${root}/conversations?page_size=1&agent_id=agent_reminders`,
  );
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

test.each(dialects)(
  'every answer of every operation fits the %s document, which describes all of it',
  async (dialect) => {
    const sandbox = await startTestSandbox({ dialect });
    const seen = await askEverything(sandbox);
    const document = closed(documentOf(dialect));
    const compile = createValidator(document);
    const byId = new Map(operationsOf(document).map(({ operation }) => [operation['operationId'], operation]));
    const known = new Map<string, ReturnType<typeof compile>>();
    const misfits = seen.flatMap(({ operation, status, body }) => {
      const raw = follow(byId.get(operation), `#/responses/${status}`) as { $ref?: string } | undefined;
      const described = (raw?.$ref === undefined ? raw : follow(document, raw.$ref)) as Schema | undefined;
      if (described === undefined) return [`${operation} ${status}: not described`];
      const ref = follow(described, '#/content/application~1json/schema/$ref') as string | undefined;
      if (ref === undefined) return body === undefined ? [] : [`${operation} ${status}: has a body`];
      const fits = known.get(ref) ?? compile(ref);
      known.set(ref, fits);
      if (fits(body)) return [];
      return (fits.errors ?? []).map(
        (error) => `${operation} ${status} ${error.instancePath}: ${error.message} ${JSON.stringify(error.params)}`,
      );
    });
    const hint = 'describe it in src/sandbox/openapi/response-schemas.ts or conversation-schemas.ts';
    expect([...new Set(misfits.map((misfit) => misfit.replaceAll(/\/\d+\//g, '/n/')))], hint).toEqual([]);
    const statuses = (name: OperationName) =>
      new Set(seen.filter(({ operation }) => operation === name).map(({ status }) => status));
    for (const name of operationNames)
      expect([...statuses(name)]).toEqual(expect.arrayContaining([401, 403, 422, 429]));
    expect([...statuses('import_phone_number')]).toEqual(expect.arrayContaining([200, 400, 409, 415]));
    expect([...statuses('create_agent')]).toContain(413);
    expect([...statuses('get_conversation')]).toEqual(expect.arrayContaining([200, 404]));
    const states = new Set(
      seen.filter(({ operation }) => operation === 'get_conversation').map(({ body }) => body?.status),
    );
    if (dialect === 'extended')
      expect([...states]).toEqual(expect.arrayContaining(['initiated', 'in-progress', 'done', 'failed']));
  },
);

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
