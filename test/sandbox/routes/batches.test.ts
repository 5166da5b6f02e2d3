import { expect } from 'vitest';
import { test, type Json, type TestSandbox } from '../harness.ts';

const batches = '/v1/convai/batch-calling';
const hour = 3_600_000;

const recipients = ['+12125550100', '+12125550101'].map((phone_number, index) => ({
  id: `person_${index}`,
  phone_number,
  conversation_initiation_client_data: {
    dynamic_variables: { name: `Robin ${index}`, secret__code: 'open sesame' },
    conversation_config_override: { agent: { first_message: 'Hello {{name}}.' } },
  },
}));
const many = (count: number): string[] => Array.from({ length: count }, (_, nth) => `+121255501${30 + nth}`);

async function statusesOf(sandbox: TestSandbox, id: string): Promise<[string, Json]> {
  const { status, recipients: all } = await sandbox.read(`${batches}/${id}`);
  return [status, Object.fromEntries(all.map((each: Json) => [each.id, each.status]))];
}

test('a batch submitted in the form of comparable services is dialled, and can be followed to its end', async ({ sandbox }) => {
  const batch = await sandbox.submit(recipients);
  expect(batch).toMatchObject({
    name: 'Spring round',
    agent_id: 'agent_reminders',
    agent_name: 'Appointment reminders',
    phone_number_id: 'pn_main',
    phone_provider: 'telephony',
    total_calls_scheduled: 2,
    total_calls_dispatched: 2,
    total_calls_finished: 0,
    status: 'in_progress',
    retry_count: 0,
  });
  expect(sandbox.calls().map(({ openingLine }) => openingLine)).toEqual(['Hello Robin 0.', 'Hello Robin 1.']);
  expect(sandbox.journal()[0]).toMatchObject({ operation: 'batch_calls', callsRequested: 2, callsAccepted: 2 });
  expect(await statusesOf(sandbox, batch.id)).toEqual(['in_progress', { person_0: 'initiated', person_1: 'initiated' }]);
  sandbox.clock.advance(hour);
  expect(await statusesOf(sandbox, batch.id)).toEqual(['completed', { person_0: 'completed', person_1: 'failed' }]);
  const body = await sandbox.read(`${batches}/${batch.id}`);
  const record = await sandbox.read(`/v1/convai/conversations/${body.recipients[0].conversation_id}`);
  expect(record.metadata.batch_call.batch_call_id).toBe(batch.id);
  expect(JSON.stringify(body)).not.toContain('open sesame');
});

test('a retry dials again whom a call failed to reach and nobody else; each record names the recipient', async ({ sandbox }) => {
  const more = [{ id: 'later', phone_number: '+12125550110' }, { phone_number: '+12125550102' }];
  const { id } = await sandbox.submit([...recipients, ...more]);
  sandbox.clock.advance(hour);
  const retried = await sandbox.post(`${batches}/${id}/retry`);
  expect(retried.body).toMatchObject({ id, retry_count: 1, total_calls_scheduled: 4, status: 'in_progress' });
  sandbox.clock.advance(hour);
  const unnamed = sandbox.calls()[3]?.callId ?? '';
  const ends = { person_0: 'completed', person_1: 'failed', later: 'completed', [unnamed]: 'failed' };
  expect(await statusesOf(sandbox, id)).toEqual(['completed', ends]);
  const records = await Promise.all(sandbox.calls().map((_call, place) => sandbox.record(place)));
  const told = records.map(({ metadata }) => metadata.batch_call.batch_call_recipient_id);
  expect(sandbox.calls().map(({ to, nth }, place) => [to.slice(-4), nth, told[place]])).toEqual([
    ['0100', 1, 'person_0'],
    ['0101', 1, 'person_1'],
    ['0110', 1, 'later'],
    ['0102', 1, unnamed],
    ['0101', 2, 'person_1'],
    ['0110', 2, 'later'],
    ['0102', 2, unnamed],
  ]);
});

test('calls held back by the limit of their batch are taken back with it', async ({ sandbox }) => {
  const { id } = await sandbox.submit(many(4), { target_concurrency_limit: 1 });
  await sandbox.post(`${batches}/${id}/cancel`);
  sandbox.clock.advance(hour);
  expect(sandbox.calls().map(({ dialedAt }) => dialedAt !== null)).toEqual([true, false, false, false]);
  expect(JSON.stringify(await sandbox.read('/_sandbox/idle'))).not.toMatch(/"(queued|waiting)":[1-9]/);
  const retried = await sandbox.post(`${batches}/${id}/retry`);
  expect(retried.body).toMatchObject({ total_calls_finished: 1, status: 'in_progress', target_concurrency_limit: 1 });
  expect(sandbox.calls().filter(({ dialedAt, endedAt }) => dialedAt !== null && endedAt === null)).toHaveLength(1);
  sandbox.clock.advance(hour);
  expect((await statusesOf(sandbox, id))[0]).toBe('completed');
});

test('batches are listed newest first, whichever way they came, each once while others come and go', async ({ sandbox }) => {
  const ids = [(await sandbox.submit(recipients)).id, (await sandbox.batch(['+12125550150'])).body.batch_id];
  ids.push((await sandbox.submit(recipients, { agent_id: 'agent_survey' })).id);
  const first = await sandbox.read(`${batches}/workspace?limit=2`);
  expect(first).toMatchObject({ has_more: true, batch_calls: [{ id: ids[2] }, { id: ids[1], name: ids[1] }] });
  await sandbox.submit(recipients);
  expect((await sandbox.delete(`${batches}/${ids[2]}`)).status).toBe(200);
  const second = await sandbox.read(`${batches}/workspace?limit=2&last_doc=${first.next_doc}`);
  expect(second).toMatchObject({ has_more: false, next_doc: null, batch_calls: [{ id: ids[0] }] });
  expect((await sandbox.read(`${batches}/workspace?agent_id=agent_survey`)).batch_calls).toEqual([]);
  expect((await sandbox.read(`${batches}/workspace?last_doc=x`)).detail[0].loc).toEqual(['query', 'last_doc']);
});

test('a batch that is not there, or no more, is 404, and needs a key', async ({ sandbox }) => {
  const { id } = await sandbox.submit(recipients);
  await sandbox.delete(`${batches}/${id}`);
  const headers = { 'x-api-key': 'sk_wrong' };
  for (const [method, path] of [
    ['GET', ''],
    ['POST', '/cancel'],
    ['POST', '/retry'],
    ['DELETE', ''],
  ] as const) {
    for (const each of [id, 'batch_none']) {
      const answer = await sandbox.request(method, `${batches}/${each}${path}`);
      expect(answer).toMatchObject({ status: 404, body: { detail: { code: 'batch_not_found' } } });
    }
    expect((await sandbox.request(method, `${batches}/${id}${path}`, undefined, { headers })).status).toBe(401);
  }
});
