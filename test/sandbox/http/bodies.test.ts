import { gzipSync } from 'node:zlib';
import { fetch } from 'undici';
import { expect, test } from 'vitest';
import { isNestedDeeper } from '../../../src/sandbox/http/json-text.ts';
import { startTestSandbox, type Json, type TestSandbox } from '../harness.ts';

const agents = '/v1/convai/agents';

function nested(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
}

test.each([
  ['', 0, false],
  ['1', 0, false],
  ['{}', 0, true],
  ['[[]]', 1, true],
  ['[[],[],[]]', 2, false],
  ['["[[[[", "\\"[[[["]', 1, false],
  [nested(100), 100, false],
  [nested(101), 100, true],
])('whether %j is nested more than %i deep: %s', (text, levels, deeper) => {
  expect(isNestedDeeper(text, levels)).toBe(deeper);
});

test.for(['spec', 'extended'] as const)('a body nested 8,000 deep is refused, and nothing is lost: %s', async (dialect) => {
  const sandbox = await startTestSandbox({ dialect });
  const bodies = [`{"name":"A","platform_settings":${nested(8_000)}}`, nested(8_000), '['.repeat(24_000)];
  for (const body of bodies) {
    const answer = await sandbox.request('POST', agents, body);
    expect({ status: answer.status, ...answer.body.detail[0] }).toMatchObject({ status: 422, type: 'too_deep' });
  }
  expect((await sandbox.get('/_sandbox/export')).status).toBe(200);
  expect((await sandbox.get(agents)).body.agents).toHaveLength(2);
});

test('what is nested 90 deep is kept, exported and imported', async () => {
  const sandbox = await startTestSandbox();
  const made = await sandbox.request('POST', agents, `{"name":"A","platform_settings":${nested(90)}}`);
  expect(made.status).toBe(200);
  const { body } = await sandbox.get('/_sandbox/export');
  expect((await sandbox.request('POST', '/_sandbox/import', body)).status).toBeLessThan(300);
  expect((await sandbox.get(`${agents}/${made.body.agent_id}`)).status).toBe(200);
});

async function post(sandbox: TestSandbox, body: Uint8Array, headers: Record<string, string> = {}): Promise<Json> {
  const response = await fetch(sandbox.url + agents, {
    method: 'POST',
    headers: { 'x-api-key': 'sk_sandbox_ok', 'content-type': 'application/json', ...headers },
    body,
  });
  const { detail } = (await response.json()) as Json;
  return { ...detail, status: response.status };
}

test('a poisoned key, a compressed body and one that is no UTF-8 are refused for what they are', async () => {
  const sandbox = await startTestSandbox();
  const bytes = (text: string) => new TextEncoder().encode(text);
  expect(await post(sandbox, bytes('{"name":"A","__proto__":{"x":1}}'))).toMatchObject({
    status: 400,
    code: 'forbidden_key',
    message: expect.stringContaining('__proto__'),
  });
  expect(await post(sandbox, gzipSync('{"name":"A"}'), { 'content-encoding': 'gzip' })).toMatchObject({
    status: 415,
    code: 'unsupported_content_encoding',
    message: expect.stringContaining('gzip'),
  });
  const invalid = Uint8Array.from([...bytes('{"name":"A'), 0xff, 0xc3, ...bytes('"}')]);
  expect(await post(sandbox, invalid)).toMatchObject({ status: 400, code: 'invalid_encoding' });
  expect((await sandbox.get(agents)).body.agents).toHaveLength(2);
});
