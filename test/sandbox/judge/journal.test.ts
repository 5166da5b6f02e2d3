import { expect, test } from 'vitest';
import { startTestSandbox, type Json, type TestSandbox } from '../harness.ts';

const agents = '/v1/convai/agents';

async function entriesOf(sandbox: TestSandbox, query = ''): Promise<Json[]> {
  return (await sandbox.get(`/_sandbox/journal${query}`)).body.entries;
}

test('no secret that goes through the service is in the journal', async () => {
  const planted = 'planted-7f3a';
  const sandbox = await startTestSandbox({ apiKeys: [`${planted}-key`] });
  const headers = { 'x-api-key': `${planted}-key`, authorization: `Bearer ${planted}` };
  const send = (method: string, path: string, body?: unknown) => sandbox.request(method, path, body, { headers });
  const number = { label: 'A', phone_number: '+12125550110', telephony_account_sid: 'AC1' };
  await send('POST', '/v1/convai/phone-numbers', { ...number, telephony_auth_token: `${planted}-token` });
  await send('GET', `${agents}?cursor=${planted}-key`);
  await send('GET', `/v1/convai/conversations/conv_x/audio?expires=1&signature=${planted}`);
  await send('GET', `/v1/convai/conversation?agent_id=a&conversation_signature=${planted}`);
  const told = await entriesOf(sandbox);
  expect(told).toHaveLength(4);
  expect(JSON.stringify(told)).not.toContain(planted);
});

test.each([
  ['POST', '/v1/convai/phone-number/batch-calls', 'POST /v1/convai/phone-numbers/batch-calls'],
  ['POST', '/v1/convai/batch-calls', 'POST /v1/convai/phone-numbers/batch-calls'],
  ['POST', '/v1/convai/phone-numbers/batch_calls', 'POST /v1/convai/phone-numbers/batch-calls'],
  ['POST', '/convai/agents', 'POST /v1/convai/agents'],
  ['GET', '/v1/agents', 'GET /v1/convai/agents'],
  ['GET', '/V1/Convai/Agents', 'GET /v1/convai/agents'],
  ['GET', '/v1/convai/agent/agent_7', 'GET /v1/convai/agents/{agent_id}'],
  ['DELETE', '/v1/convai/conversation/conv_1', 'DELETE /v1/convai/conversations/{conversation_id}'],
  ['GET', '/v1/convai/conversation/get_signed_urls', 'GET /v1/convai/conversation/get-signed-url'],
  ['GET', '/_sandbox/jornal', 'GET /_sandbox/journal'],
])('%s %s is answered with a question: did you mean %s?', async (method, path, meant) => {
  const sandbox = await startTestSandbox({ dialect: 'spec' });
  const answer = await sandbox.request(method, path, method === 'POST' ? {} : undefined);
  expect([404, 405]).toContain(answer.status);
  if (answer.status === 404) expect(answer.body.detail.message).toContain(`Did you mean ${meant}?`);
  const kept = await entriesOf(sandbox, '?unmatched=true');
  const entry = { path, unmatched: true, hint: meant, operation: null, status: answer.status };
  expect(kept).toMatchObject(path.startsWith('/_sandbox') ? [] : [entry]);
});

test.each(['/x', '/favicon.png', `/v1/${'a'.repeat(300)}`, '/wp-login.php'])('for %s nothing is guessed', async (path) => {
  const sandbox = await startTestSandbox({ dialect: 'spec' });
  await sandbox.get(path);
  for (const entry of await entriesOf(sandbox)) expect(entry.hint).toBeNull();
});

test('the journal is filtered by operation, status and whether anything is served there', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.get(agents);
  await sandbox.get(`${agents}/agent_none`);
  await sandbox.get('/v1/convai/nothing');
  await sandbox.request('POST', agents, {});
  const sequences = async (query: string): Promise<number[]> => (await entriesOf(sandbox, query)).map(({ sequence }) => sequence);
  expect(await sequences('?operation=list_agents')).toEqual([1]);
  expect(await sequences('?status=404')).toEqual([2, 3]);
  expect(await sequences('?status=4xx')).toEqual([2, 3, 4]);
  expect(await sequences('?unmatched=true')).toEqual([3]);
  expect(await sequences('?unmatched=false&status=4xx&since=2')).toEqual([4]);
  const first = (await sandbox.get('/_sandbox/journal?status=4xx&limit=2')).body;
  expect([first.entries.length, first.next]).toEqual([2, 3]);
  expect((await sandbox.get(`/_sandbox/journal?status=4xx&since=${first.next}`)).body.entries).toMatchObject([{ sequence: 4 }]);
});

test.each(['operation=dial', 'status=700', 'unmatched=perhaps', 'format=ndjson', 'since=-1'])('the journal refuses ?%s', async (query) => {
  const sandbox = await startTestSandbox();
  expect((await sandbox.get(`/_sandbox/journal?${query}`)).status).toBe(422);
});

test('what the sandbox serves beside the service is no part of the journal', async () => {
  const sandbox = await startTestSandbox();
  expect((await sandbox.get('/openapi.json')).status).toBe(200);
  await sandbox.get('/_sandbox/health');
  expect(await entriesOf(sandbox)).toEqual([]);
});

test('a reset forgets the entries', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.get(agents);
  await sandbox.request('POST', '/_sandbox/reset');
  expect(await entriesOf(sandbox)).toEqual([]);
  await sandbox.get(agents);
  expect(await entriesOf(sandbox)).toMatchObject([{ sequence: 2 }]);
});
