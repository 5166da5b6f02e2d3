import { expect } from 'vitest';
import { contractFields, contractParameters } from './contract-fields.ts';
import type { OpenApiDocument } from '../../../src/sandbox/openapi/document.ts';
import { routes, routesOf, type OperationName } from '../../../src/sandbox/core/operations.ts';
import { batchOf, startTestSandbox, test } from '../harness.ts';
import {
  createApp,
  createValidator,
  documentOf,
  faultsOf,
  fieldsOf,
  follow,
  installed,
  operationsOf,
  routesIn,
  walk,
  type Schema,
} from './checks.ts';

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

test.each(dialects)(
  'the %s document keeps the rules of OpenAPI 3.1, compiles, and has every route that is served and no other',
  async (dialect) => {
    const document = documentOf(dialect);
    expect(faultsOf(document)).toEqual([]);
    const compile = createValidator(document);
    for (const name of Object.keys(document.components.schemas)) compile(`#/components/schemas/${name}`);
    const all = operationsOf(document);
    expect(routesIn(document)).toEqual(await installed(createApp({ dialect }), / \/v1\//));
    expect(all.length).toBe({ spec: 15, extended: 40, published: 39 }[dialect]);
    const numbered = all.filter(({ operation }) => 'x-operation-number' in operation);
    const described = numbered.map(({ path, method, operation }) => [operation['operationId'], method, path].join());
    const operations = routesOf(dialect).filter(({ number, isAlias }) => number !== undefined && !isAlias);
    const wanted = operations.map(({ name, method, path }) => [name, method.toLowerCase(), path.replaceAll(/:(\w+)/g, '{$1}')].join());
    expect(new Set(described)).toEqual(new Set(wanted));
  },
);

test('what the document says of a backup model is what happens, of an agent and in an override', async () => {
  const sandbox = await startTestSandbox({ rateLimit: { requestsPerSecond: null } });
  const compile = createValidator(documentOf('extended'));
  const model = 'svc_open_small';
  const [create, batch] = ['CreateAgentRequest', 'BatchCallsRequest'].map((name) => compile(`#/components/schemas/${name}`));
  const told = new Set<string>();
  for (const preference of [undefined, 'default', 'Disabled', 'override', 'Custom', 'CUSTOM', 'sometimes'])
    for (const order of [undefined, [model], []])
      for (const id of [undefined, model, 'nobody']) {
        const config = JSON.parse(JSON.stringify({ agent: { llm: { backup_llm_config: { preference, order, model_id: id } } } }));
        const agent = { name: 'A', conversation_config: config };
        const calls = [{ to_phone_number: '+12125550150', conversation_config_override: config }];
        const called = { agent_id: 'agent_survey', from_phone_number_id: 'pn_main', calls };
        const data = { conversation_initiation_client_data: { conversation_config_override: config } };
        const answers = await Promise.all([
          sandbox.post('/v1/convai/agents', agent),
          sandbox.post('/v1/convai/phone-numbers/batch-calls', called),
          sandbox.post('/v1/convai/batch-calling/submit', batchOf([{ phone_number: '+12125550150', ...data }])),
        ]);
        const fits = create!(agent);
        expect({ config, fits: batch!(called) }).toEqual({ config, fits });
        expect({ config, statuses: answers.map(({ status }) => status) }).toEqual({ config, statuses: Array(3).fill(fits ? 200 : 422) });
        told.add(`${fits} ${preference === undefined}`);
      }
  expect(told.size).toBe(4);
  const missing = { agent: { llm: { backup_llm_config: { preference: 'override' } } } };
  const { body } = await sandbox.batch(['+12125550150'], {
    calls: [{ to_phone_number: '+12125550150', conversation_config_override: missing }],
  });
  const loc = ['body', 'calls', 0, 'conversation_config_override', 'agent', 'llm', 'backup_llm_config', 'order'];
  expect(body.detail).toEqual([{ loc, msg: 'Required when preference is override: which models, in which order.', type: 'missing' }]);
});

test.each(ofContract)('every field that the contract names is in the %s document, marked as such', (dialect) => {
  const { components, paths } = documentOf(dialect);
  for (const [name, fields] of Object.entries(contractFields)) {
    const found = [...fieldsOf(components.schemas[name])].filter(({ source }) => source === 'contract');
    expect({ name, fields: [...new Set(found.map(({ field }) => field))].sort() }).toEqual({ name, fields: [...fields].sort() });
  }
  for (const [name, parameters] of Object.entries(contractParameters)) {
    const path = routes[name as OperationName].path;
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
  // The alias of operation 1 takes its example, too.
  expect(sent).toBe(dialect === 'spec' ? 5 : 6);
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
