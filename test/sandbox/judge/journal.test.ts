import { expect } from 'vitest';
import { plainNumbers, startTestSandbox, test, type Json, type TestSandbox } from '../harness.ts';

const agents = '/v1/convai/agents';

async function entriesOf(sandbox: TestSandbox, query = ''): Promise<Json[]> {
  return (await sandbox.read(`/_sandbox/journal${query}`)).entries;
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

test('the journal is filtered by operation, status and whether anything is served there', async ({ sandbox }) => {
  await sandbox.get(agents);
  await sandbox.get(`${agents}/agent_none`);
  await sandbox.get('/v1/convai/nothing');
  await sandbox.post(agents, {});
  const sequences = async (query: string): Promise<number[]> => (await entriesOf(sandbox, query)).map(({ sequence }) => sequence);
  expect(await sequences('?operation=list_agents')).toEqual([1]);
  expect(await sequences('?status=404')).toEqual([2, 3]);
  expect(await sequences('?status=4xx')).toEqual([2, 3, 4]);
  expect(await sequences('?unmatched=true')).toEqual([3]);
  expect(await sequences('?unmatched=false&status=4xx&since=2')).toEqual([4]);
  const first = await sandbox.read('/_sandbox/journal?status=4xx&limit=2');
  expect([first.entries.length, first.next]).toEqual([2, 3]);
  expect((await sandbox.read(`/_sandbox/journal?status=4xx&since=${first.next}`)).entries).toMatchObject([{ sequence: 4 }]);
});

test('what is no filter is refused, and what the sandbox serves beside the service is no part of the journal', async ({ sandbox }) => {
  for (const query of ['operation=dial', 'status=700', 'unmatched=perhaps', 'format=ndjson', 'since=-1'])
    expect([query, (await sandbox.get(`/_sandbox/journal?${query}`)).status]).toEqual([query, 422]);
  expect((await sandbox.get('/openapi.json')).status).toBe(200);
  await sandbox.get('/_sandbox/health');
  expect(await entriesOf(sandbox)).toEqual([]);
});

test('a reset forgets the entries', async ({ sandbox }) => {
  await sandbox.get(agents);
  await sandbox.post('/_sandbox/reset');
  expect(await entriesOf(sandbox)).toEqual([]);
  await sandbox.get(agents);
  expect(await entriesOf(sandbox)).toMatchObject([{ sequence: 2 }]);
});

test('the journal tells every request of the service once, from where it is asked', async ({ sandbox }) => {
  const { body } = await sandbox.batch(plainNumbers(2), {}, 'b1/1');
  await sandbox.get('/v1/convai/agents');
  await sandbox.get('/_sandbox/calls');
  const all = await sandbox.read('/_sandbox/journal');
  expect(all.entries).toMatchObject([
    {
      sequence: 1,
      method: 'POST',
      operation: 'batch_calls',
      requestId: 'b1/1',
      apiKey: '[redacted]',
      batchId: body.batch_id,
      callsAccepted: 2,
      status: 200,
      parallel: 1,
      ending: 'sent',
      at: sandbox.clock.now(),
    },
    { sequence: 2, method: 'GET', path: '/v1/convai/agents', operation: 'list_agents', requestId: null },
  ]);
  expect((await sandbox.read('/_sandbox/journal?since=1')).entries.map((entry: { sequence: number }) => entry.sequence)).toEqual([2]);
  expect(await sandbox.read(`/_sandbox/journal?since=${all.next}`)).toEqual({ entries: [], next: all.next });
  expect(JSON.stringify(all)).not.toContain('sk_sandbox_ok');
});
