import type { FastifyInstance } from 'fastify';
import { expect, onTestFinished } from 'vitest';
import { createServer } from '../../../src/sandbox/server.ts';
import type { OpenApiDocument } from '../../../src/sandbox/openapi/document.ts';
import { Service } from '../../../src/sandbox/core/service/service.ts';
import { resolveSettings } from '../../../src/sandbox/core/settings/settings.ts';
import { createManualClock, startTestSandbox, test, type Json } from '../harness.ts';
import { createValidator, faultsOf, operationsOf, type Schema } from './checks.ts';

const controlToken = 'a-token-of-the-control-plane';
const bearer = { authorization: `Bearer ${controlToken}` };

function createApp(): FastifyInstance {
  const service = new Service(resolveSettings({}), createManualClock());
  const app = createServer(service);
  onTestFinished(async () => {
    service.close();
    await app.close();
  });
  return app;
}

/** `GET /_sandbox/calls` for every route that is installed there, as the router itself prints them. */
async function installed(app: FastifyInstance): Promise<string[]> {
  await app.ready();
  const above: string[] = [];
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods = ''] = /^(.*?[├└]── )(\S+) \((.*)\)$/.exec(line) ?? [];
      const depth = indent.length / 4 - 1;
      above.splice(depth, Infinity, part);
      const path = above.join('').replaceAll('//', '/');
      return methods === '' ? [] : methods.split(', ').map((method) => `${method} ${path}`);
    })
    .filter((route) => / \/_sandbox(\/|$)/.test(route))
    .sort();
}

async function described(app: FastifyInstance): Promise<string[]> {
  const document = (await app.inject('/_sandbox/openapi.json')).json<OpenApiDocument>();
  return operationsOf(document)
    .map(({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`)
    .sort();
}

async function documentOf(options: Parameters<typeof startTestSandbox>[0] = {}): Promise<OpenApiDocument> {
  const sandbox = await startTestSandbox(options);
  return (await sandbox.request('GET', '/_sandbox/openapi.json', undefined, { headers: bearer })).body;
}

test('the document names every control that is installed, and the index tells each in a sentence', async () => {
  const app = createApp();
  const routes = await installed(app);
  expect(routes.length).toBeGreaterThan(50);
  expect(routes).toContain('GET /_sandbox');
  expect(routes).toContain('POST /_sandbox/telephony/:phone_number_id/voice');
  expect(await described(app)).toEqual(routes);
  const { controls } = (await app.inject('/_sandbox')).json<{ controls: Record<string, string>[] }>();
  expect(controls.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(routes);
  expect(controls.filter(({ says = '' }) => !/^[A-Z].{8,}\.$/.test(says))).toEqual([]);
});

test('a control that is installed past the document is found', async () => {
  const app = createApp();
  app.get('/_sandbox/secret-passage', async () => ({}));
  const routes = await installed(app);
  const known = await described(app);
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
  expect(free.map(({ path }) => path).sort()).toEqual(['/_sandbox/health', '/_sandbox/telephony/{phone_number_id}/voice']);
});

/** Bodies that the sandbox takes, and ones that it refuses. */
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
