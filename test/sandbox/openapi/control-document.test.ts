import type { FastifyInstance } from 'fastify';
import { expect } from 'vitest';
import type { OpenApiDocument } from '../../../src/sandbox/openapi/document.ts';
import { startTestSandbox, test, type Json } from '../harness.ts';
import { createApp, createValidator, faultsOf, installed, operationsOf, routesIn, type Schema } from './checks.ts';

const controlToken = 'a-token-of-the-control-plane';
const bearer = { authorization: `Bearer ${controlToken}` };

/** Paths of the controls. */
const controls = / \/_sandbox(\/|$)/;

const documentIn = async (app: FastifyInstance) => (await app.inject('/_sandbox/openapi.json')).json<OpenApiDocument>();

async function documentOf(options: Parameters<typeof startTestSandbox>[0] = {}): Promise<OpenApiDocument> {
  const sandbox = await startTestSandbox(options);
  return (await sandbox.request('GET', '/_sandbox/openapi.json', undefined, { headers: bearer })).body;
}

test('the document names every control that is installed, and the index tells each in a sentence', async () => {
  const app = createApp();
  const routes = await installed(app, controls);
  expect(routes.length).toBeGreaterThan(40);
  expect(routes).toContain('GET /_sandbox');
  expect(routesIn(await documentIn(app))).toEqual(routes);
  const index = (await app.inject('/_sandbox')).json<{ controls: Record<string, string>[] }>().controls;
  expect(index.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(routes);
  expect(index.filter(({ says = '' }) => !/^[A-Z].{8,}\.$/.test(says))).toEqual([]);
});

test('a control that is installed past the document is found', async () => {
  const app = createApp();
  app.get('/_sandbox/secret-passage', async () => ({}));
  const routes = await installed(app, controls);
  const known = routesIn(await documentIn(app));
  expect(routes.filter((route) => !known.includes(route))).toEqual(['GET /_sandbox/secret-passage']);
});

test.each([{}, { controlToken }, { dialect: 'spec' as const }])(
  'the document with %j keeps the rules of OpenAPI 3.1, and every schema compiles',
  async (options) => {
    const document = await documentOf(options);
    expect(faultsOf(document)).toEqual([]);
    const compile = createValidator(document);
    for (const name of Object.keys(document.components.schemas)) compile(`#/components/schemas/${name}`);
  },
);

test('the document asks for the token where the sandbox does', async () => {
  const open = await documentOf();
  expect(open.security).toEqual([]);
  const guarded = await documentOf({ controlToken });
  expect(guarded.security).toEqual([{ controlToken: [] }]);
  const free = operationsOf(guarded).filter(({ operation }) => operation['security'] !== undefined);
  expect(free.map(({ path }) => path).sort()).toEqual(['/_sandbox/health']);
});

test.each([
  ['POST', '/_sandbox/clock/advance', { until: 'idle' }, { until: 7 }],
  ['PUT', '/_sandbox/clock', { mode: 'realtime' }, { mode: 'warp' }],
  ['PUT', '/_sandbox/world', { people: [{ number: '+12125550142' }] }, { people: [{ number: 5 }] }],
  ['POST', '/_sandbox/faults', { operation: 14, effect: { type: 'reset', when: 'after' } }, [{ operation: 15 }]],
  ['POST', '/_sandbox/webhooks', { url: 'http://127.0.0.1:1/', secret: 'a-secret-of-the-test' }, { url: 'x' }],
  ['POST', '/_sandbox/numbers', { phone_number: '+12125550188', label: 'Console' }, { phone_number: '+12125550187' }],
  ['POST', '/_sandbox/gates', { point: 'batch_received' }, { point: 'never' }],
] as const)('%s %s takes and refuses what its schema does', async (method, path, good, bad) => {
  const sandbox = await startTestSandbox({ clock: 'manual' });
  const document = await sandbox.read('/_sandbox/openapi.json');
  const operation: Json = document.paths[path][method.toLowerCase()];
  const ref = operation.requestBody.content['application/json'].schema.$ref as string;
  const validate = createValidator(document)(ref);
  expect([validate(good), validate(bad)]).toEqual([true, false]);
  const answers = Object.keys(operation.responses as Schema).map(Number);
  for (const [body, isGood] of [
    [good, true],
    [bad, false],
  ] as const) {
    // prettier-ignore
    const { status } = await sandbox.request(method, path, body);
    expect([body, status < 300, answers.includes(status) || !isGood]).toEqual([body, isGood, true]);
  }
});

test('queries are described: what a parameter takes, and which must be given', async () => {
  const { paths } = await documentOf();
  const parameters = paths['/_sandbox/faults']?.['patch']?.['parameters'];
  expect(parameters).toEqual([{ name: 'id', in: 'query', required: true, schema: { type: 'string', minLength: 1 } }]);
  const idle = paths['/_sandbox/idle']?.['get']?.['parameters'] as Schema[];
  expect(idle).toMatchObject([{ name: 'wait', required: false, schema: { minimum: 0, maximum: 300 } }]);
});

test('a browser gets the index as lines of text', async ({ sandbox }) => {
  const accept = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8';
  const { headers, body } = await sandbox.request('GET', '/_sandbox', undefined, { headers: { accept } });
  expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(body).toMatch(/^GET {4}\/_sandbox\/calls +Lists the calls as they really are\.$/m);
  expect(await sandbox.read('/_sandbox')).toMatchObject({ sandbox: true, openapi: '/_sandbox/openapi.json' });
});
