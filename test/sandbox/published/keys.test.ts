import { expect } from 'vitest';
import { batchOf, startTestSandbox, type Json } from '../harness.ts';
import { batches, conversations, people, startPublished, test } from './caller.ts';

const operation14 = '/v1/convai/phone-numbers/batch-calls';

test('the published API has no operation 14, whatever the key and the method', async ({ sandbox }) => {
  const calls = [{ to_phone_number: '+12125550100' }];
  for (const headers of [{}, { 'xi-api-key': 'sk_wrong' }]) {
    const answer = await sandbox.request(
      'POST',
      operation14,
      { agent_id: 'agent_reminders', from_phone_number_id: 'pn_main', calls },
      { headers },
    );
    expect(answer).toMatchObject({ status: 404, body: { detail: { code: 'route_not_found' } } });
  }
  expect(sandbox.calls()).toEqual([]);
  expect((await sandbox.read('/openapi.json')).paths).not.toHaveProperty([operation14]);
});

test.each<[string, Record<string, string>, string | null]>([
  ['the published header', { 'xi-api-key': 'sk_sandbox_ok' }, null],
  ["the contract's header", { 'x-api-key': 'sk_sandbox_ok', 'xi-api-key': '' }, 'needs_authorization'],
  ['no header', { 'xi-api-key': '' }, 'needs_authorization'],
  ['a key that is none', { 'xi-api-key': 'sk_wrong' }, 'invalid_api_key'],
  ['both headers', { 'xi-api-key': 'sk_sandbox_ok', 'x-api-key': 'sk_wrong' }, null],
])('%s, on every path of the published API', async (_what, headers, status) => {
  const sandbox = await startPublished();
  for (const path of ['/v1/convai/agents', conversations, `${batches}/workspace`]) {
    const answer = await sandbox.request('GET', path, undefined, { headers });
    if (status === null) expect(answer.status).toBe(200);
    else expect(answer).toMatchObject({ status: 401, body: { detail: { status, code: 'unauthorized', message: expect.any(String) } } });
  }
});

test('a key that was revoked has both codes too', async ({ sandbox }) => {
  sandbox.addFaults([{ operation: 7, effect: { type: 'revoke_key' } }]);
  await sandbox.get(conversations);
  const body = await sandbox.read(`${batches}/workspace`);
  expect(body.detail).toMatchObject({ status: 'invalid_api_key', code: 'unauthorized' });
});

test.each(['extended', 'published'] as const)('what is wrong with a batch is said before the key is looked at: %s', async (dialect) => {
  const sandbox = await startTestSandbox({ dialect });
  const none = { headers: { 'x-api-key': '' } };
  const ask = (method: string, path: string, body?: Json) => sandbox.request(method, path, body, none);
  expect((await ask('POST', `${batches}/submit`, batchOf([]))).status).toBe(422);
  expect((await ask('GET', `${batches}/workspace?limit=none`)).status).toBe(422);
  expect((await ask('POST', `${batches}/submit`, batchOf(people('0100')))).status).toBe(401);
  expect((await ask('GET', `${conversations}?page_size=none`)).status).toBe(dialect === 'published' ? 422 : 401);
  expect(sandbox.calls()).toEqual([]);
});

test('the contract knows neither the published header nor its paths, and the extended dialect knows both', async () => {
  const spec = await startTestSandbox({ dialect: 'spec' });
  const key = { headers: { 'x-api-key': '', 'xi-api-key': 'sk_sandbox_ok' } };
  expect((await spec.request('GET', '/v1/convai/agents', undefined, key)).body.detail.code).toBe('missing_api_key');
  const extended = await startTestSandbox();
  expect((await extended.request('POST', `${batches}/submit`, batchOf(people('0100')), key)).status).toBe(200);
  expect((await extended.batch(['+12125550100'])).status).toBe(200);
});
