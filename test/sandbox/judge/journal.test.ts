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
