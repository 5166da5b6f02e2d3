import { expect } from 'vitest';
import { startTestSandbox, test, type Json, type TestSandbox } from '../harness.ts';

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
const many = (count: number): Json[] => Array.from({ length: count }, (_, nth) => ({ phone_number: `+121255501${30 + nth}` }));

async function submit(sandbox: TestSandbox, more: Json = {}): Promise<Json> {
  const whole = { call_name: 'Spring round', agent_id: 'agent_reminders', agent_phone_number_id: 'pn_main', recipients, ...more };
  const { status, body } = await sandbox.post(`${batches}/submit`, whole);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body;
}

async function statusesOf(sandbox: TestSandbox, id: string): Promise<[string, Json]> {
  const { status, recipients: all } = await sandbox.read(`${batches}/${id}`);
  return [status, Object.fromEntries(all.map((each: Json) => [each.id, each.status]))];
}

test('a batch submitted in the form of comparable services is dialled, and can be followed to its end', async ({ sandbox }) => {
  const batch = await submit(sandbox);
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
  const { id } = await submit(sandbox, { recipients: [...recipients, ...more] });
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

test('a batch has at most target_concurrency_limit calls on the line, and holds up no other', async () => {
  const sandbox = await startTestSandbox({ concurrency: 6 });
  const onTheLine = (batchId: string): number =>
    sandbox.calls().filter((call) => call.batchId === batchId && call.dialedAt !== null && call.endedAt === null).length;
  const { id } = await submit(sandbox, { recipients: many(9), target_concurrency_limit: 2 });
  const other = await sandbox.batch(['+12125550140', '+12125550141', '+12125550142']);
  expect([onTheLine(id), onTheLine(other.body.batch_id)]).toEqual([2, 3]);
  const most = [];
  for (let minute = 0; minute < 60; minute += 1) {
    sandbox.clock.advance(10_000);
    most.push(onTheLine(id));
  }
  expect(Math.max(...most)).toBe(2);
  const ofBatch = sandbox.calls().filter(({ batchId }) => batchId === id);
  expect(ofBatch.filter(({ endedAt }) => endedAt === null)).toEqual([]);
  const dialled = ofBatch.map(({ dialedAt }) => dialedAt ?? Infinity);
  expect(dialled).toEqual(dialled.toSorted((one, two) => one - two));
});

test('calls held back by the limit of their batch are taken back with it', async ({ sandbox }) => {
  const { id } = await submit(sandbox, { recipients: many(4), target_concurrency_limit: 1 });
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

test('a cancelled batch dials nobody any more, and goes on with those on the line', async () => {
  const sandbox = await startTestSandbox({ concurrency: 1 });
  const { id } = await submit(sandbox);
  const cancelled = await sandbox.post(`${batches}/${id}/cancel`);
  expect(cancelled.body).toMatchObject({ status: 'cancelled', total_calls_dispatched: 1 });
  sandbox.clock.advance(hour);
  expect(await statusesOf(sandbox, id)).toEqual(['cancelled', { person_0: 'completed', person_1: 'cancelled' }]);
  // The line is free for others.
  await sandbox.batch(['+12125550100']);
  expect(sandbox.calls().map(({ dialedAt }) => dialedAt === null)).toEqual([false, true, false]);
});

test('a batch for later is dialled at its time, unless it is cancelled before', async ({ sandbox }) => {
  const at = Math.floor(sandbox.clock.now() / 1000) + 600;
  const batch = await submit(sandbox, { scheduled_time_unix: at, timezone: 'Europe/London' });
  expect(batch.scheduled_time_unix).toBe(at);
  const other = await submit(sandbox, { scheduled_time_unix: at });
  await sandbox.post(`${batches}/${other.id}/cancel`);
  const status = async (): Promise<string> => (await statusesOf(sandbox, batch.id))[0];
  expect(await status()).toBe('pending');
  sandbox.clock.advance(599_000);
  expect(await status()).toBe('pending');
  sandbox.clock.advance(1_000);
  expect(await status()).toBe('in_progress');
  sandbox.clock.advance(hour);
  expect(await statusesOf(sandbox, other.id)).toEqual(['cancelled', { person_0: 'cancelled', person_1: 'cancelled' }]);
  expect(sandbox.calls().map(({ dialedAt }) => dialedAt)).toEqual([at * 1000, at * 1000, null, null]);
});

test('batches are listed newest first, whichever way they came, each once while others come and go', async ({ sandbox }) => {
  const ids = [(await submit(sandbox)).id, (await sandbox.batch(['+12125550150'])).body.batch_id];
  ids.push((await submit(sandbox, { agent_id: 'agent_survey' })).id);
  const first = await sandbox.read(`${batches}/workspace?limit=2`);
  expect(first).toMatchObject({ has_more: true, batch_calls: [{ id: ids[2] }, { id: ids[1], name: ids[1] }] });
  await submit(sandbox);
  expect((await sandbox.delete(`${batches}/${ids[2]}`)).status).toBe(200);
  const second = await sandbox.read(`${batches}/workspace?limit=2&last_doc=${first.next_doc}`);
  expect(second).toMatchObject({ has_more: false, next_doc: null, batch_calls: [{ id: ids[0] }] });
  expect((await sandbox.read(`${batches}/workspace?agent_id=agent_survey`)).batch_calls).toEqual([]);
  expect((await sandbox.read(`${batches}/workspace?last_doc=x`)).detail[0].loc).toEqual(['query', 'last_doc']);
});

test('a batch that is not there, or no more, is 404, and needs a key', async ({ sandbox }) => {
  const { id } = await submit(sandbox);
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
