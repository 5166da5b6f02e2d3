import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import * as library from '../../../src/service/convai/index.ts';
import { operationNames } from '../../../src/sandbox/core/operations.ts';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { installPackage, programOf, type InstalledPackage } from './installed-package.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
let installed: InstalledPackage;

beforeAll(async () => {
  installed = await installPackage();
});
afterAll(() => installed.remove());

test('the library offers what is documented, and nothing else by accident', () => {
  expect(Object.keys(library).sort()).toEqual([
    'BadResponseError',
    'ConvaiError',
    'ConvaiOptionsError',
    'NotSentError',
    'OutcomeUnknownError',
    'RateLimitedError',
    'RefusedError',
    'RequestInvalidError',
    'createConvaiClient',
    'parseBaseUrl',
    'parseServiceTime',
  ]);
});

test('what package.json exports is in the files that are published', () => {
  const { exports, files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, Record<string, string>>;
    files: string[];
  };
  const targets = Object.values(exports['./convai'] ?? {});
  expect(targets).toEqual(['./dist/src/service/convai/index.d.ts', './dist/src/service/convai/index.js']);
  expect(files).toContain('dist');
});

const consumer = `
import {
  createConvaiClient, RefusedError, type Agent, type BatchCallsRequest, type ConvaiClient, type Knowledge,
} from 'carillon/convai';

const client: ConvaiClient = createConvaiClient({ baseUrl: 'http://127.0.0.1:4010', apiKey: 'k' });
export async function use(): Promise<Knowledge | null> {
  const { agent_id }: { agent_id: string } = await client.createAgent({ name: 'a' });
  const agent: Agent | null = await client.updateAgent(agent_id, {
    conversation_config: { agent: { first_message: null, llm: { temperature: null } } },
  });
  const extra: unknown = agent?.['metadata'];
  const body: BatchCallsRequest = { agent_id, from_phone_number_id: 'p', calls: [{ to_phone_number: '+12125550100' }] };
  const { callsInitiated }: { callsInitiated: number } =
    await client.placeBatchCalls(body, { requestId: 'r', mayBegin: () => true });
  for await (const { conversation_id } of client.listConversations()) conversation_id satisfies string;
  try {
    await client.deleteAgent(agent_id);
    return callsInitiated === 0 && extra === null ? null : 'unknown';
  } catch (error) {
    return error instanceof RefusedError && error.status === 404 ? error.knowledge : null;
  }
}
`;

test('a project that installs the package gets its types', async () => {
  expect(await installed.check('consumer.ts', consumer)).toEqual({ code: 0, output: '' });
});

test('the example of a docstring is a program', async () => {
  const source = readFileSync(join(root, 'src/service/convai/client.ts'), 'utf8');
  const [, example = ''] = /@example\n \* ```ts\n([^]*?) \* ```\n/.exec(source) ?? [];
  expect(example).toContain('createConvaiClient');
  expect(await installed.check('example.ts', example.replace(/^ \* ?/gm, ''))).toEqual({ code: 0, output: '' });
});

test.each([
  ['a new agent without a name', `await client.createAgent({ tags: [] });`, /'name' is missing/],
  [
    'a temperature in words',
    `await client.updateAgent('a', { conversation_config: { agent: { llm: { temperature: 'hot' } } } });`,
    /not assignable/,
  ],
  [
    'a batch without a request id',
    `await client.placeBatchCalls({ agent_id: 'a', from_phone_number_id: 'p', calls: [] }, {});`,
    /requestId/,
  ],
  ['an inner module', `import 'carillon/dist/src/service/convai/client.js';`, /Cannot find module/],
])('the types refuse %s', async (_name, line, says) => {
  const begin = `import { createConvaiClient } from 'carillon/convai';\nexport const client = createConvaiClient({ baseUrl: '', apiKey: '' });\n`;
  const { code, output } = await installed.check('wrong.ts', begin + line);
  expect(code).not.toBe(0);
  expect(output).toMatch(says);
});

test('every example of the page runs as one program, and together they use all 14 operations', async () => {
  const sandbox = await startSandbox({ speed: 600, seed: 'docs' });
  onTestFinished(() => sandbox.close());
  const page = readFileSync(join(root, 'docs/convai.md'), 'utf8');
  const env = { SVC_BASE_URL: sandbox.url, SVC_API_KEY: 'sk_sandbox_ok' };
  const { code, output } = await installed.run('examples.ts', programOf(page), env);
  expect(output).toMatch(/there is no such agent/);
  expect(code).toBe(0);
  const used = sandbox.journal().map(({ operation }) => operation);
  expect(new Set(used)).toEqual(new Set(operationNames));
  expect(sandbox.calls().map(({ to }) => to)).toEqual(['+12125550100', '+442079460101']);
  expect(output).not.toContain('not-a-real-token');
});

test('an example that does not work is found', async () => {
  const { code, output } = await installed.run(
    'broken.ts',
    `import { createConvaiClient } from 'carillon/convai';\nawait createConvaiClient({ baseUrl: 'nowhere', apiKey: 'k' }).getAgent('a');`,
    {},
  );
  expect(code).toBe(1);
  expect(output).toMatch(/ConvaiOptionsError/);
});
