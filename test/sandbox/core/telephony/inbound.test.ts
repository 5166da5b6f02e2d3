import { fetch } from 'undici';
import { expect, test } from 'vitest';
import { noon, startTestSandbox, type Json, type TestSandbox } from '../../harness.ts';

const onHold = { clock: 'manual', epochMs: noon } as const;
const caller = '+12125550150';

function callIn(sandbox: TestSandbox, number: Json): Promise<{ status: number; body: Json }> {
  return sandbox.request('POST', '/_sandbox/inbound', { ...number, from: caller });
}

test('a call that comes in is answered by the agent of the number, at once', async () => {
  const sandbox = await startTestSandbox(onHold);
  const { body } = await callIn(sandbox, { number: '+12125550199' });
  expect(body).toEqual({
    answered: true,
    conversation_id: expect.any(String),
    agent_id: 'agent_reminders',
    reason: null,
  });
  await sandbox.advance(3_600_000);
  const record = (await sandbox.get(`/v1/convai/conversations/${body.conversation_id}`)).body;
  expect(record).toMatchObject({ agent_id: 'agent_reminders', status: 'done' });
  expect(record.metadata.phone_call).toMatchObject({
    direction: 'inbound',
    external_number: caller,
    phone_number_id: 'pn_main',
  });
});

test('another agent answers from the moment it is assigned', async () => {
  const sandbox = await startTestSandbox(onHold);
  await sandbox.request('PATCH', '/v1/convai/phone-numbers/pn_main', { agent_id: 'agent_survey' });
  expect((await callIn(sandbox, { phone_number_id: 'pn_main' })).body.agent_id).toBe('agent_survey');
});

test('nobody answers where no agent is assigned, or where it was deleted', async () => {
  const sandbox = await startTestSandbox(onHold);
  const unanswered = { answered: false, conversation_id: null, agent_id: null, reason: 'no_agent' };
  expect((await callIn(sandbox, { phone_number_id: 'pn_unverified' })).body).toEqual(unanswered);
  await sandbox.request('DELETE', '/v1/convai/agents/agent_reminders');
  expect((await callIn(sandbox, { phone_number_id: 'pn_main' })).body).toEqual(unanswered);
  expect((await sandbox.get('/v1/convai/conversations')).body.conversations).toEqual([]);
});

test('a verified caller id takes no calls', async () => {
  const sandbox = await startTestSandbox(onHold);
  const { body: number } = await sandbox.request('POST', '/_sandbox/numbers', {
    phone_number: '+13135550120',
    label: 'Caller id',
    type: 'verified_caller_id',
    agent_id: 'agent_survey',
  });
  expect((await callIn(sandbox, { phone_number_id: number.phone_number_id })).body).toMatchObject({
    answered: false,
    reason: 'outbound_only',
  });
});

test('calls in and out share the lines', async () => {
  const sandbox = await startTestSandbox({ ...onHold, concurrency: 2 });
  expect((await callIn(sandbox, { phone_number_id: 'pn_main' })).body.answered).toBe(true);
  await sandbox.batch(['+12125550100', '+12125550102']);
  expect(sandbox.calls().map(({ state }) => state)).toEqual(['dialing', 'queued']);
  expect((await callIn(sandbox, { phone_number_id: 'pn_main' })).body).toMatchObject({
    answered: false,
    reason: 'no_free_line',
  });
  await sandbox.advance(3_600_000);
  expect((await callIn(sandbox, { phone_number_id: 'pn_main' })).body.answered).toBe(true);
});

test('an unknown number is said to be unknown', async () => {
  const sandbox = await startTestSandbox(onHold);
  expect((await callIn(sandbox, { number: '+12125550111' })).status).toBe(404);
  expect((await callIn(sandbox, {})).status).toBe(422);
});

test('the webhook that import configures is there, and answers the provider alone', async () => {
  const sandbox = await startTestSandbox(onHold);
  const { numbers } = (await sandbox.get('/_sandbox/numbers')).body;
  const address: string = numbers[0].webhook_url;
  expect(address).toBe(`${sandbox.url}/_sandbox/telephony/pn_main/voice`);
  const form = new URLSearchParams({
    CallSid: 'CA1',
    AccountSid: 'AC1',
    From: caller,
    To: '+12125550199',
    Direction: 'inbound',
    CallStatus: 'ringing',
  });
  for (const headers of [{}, { 'x-telephony-signature': 'forged' }]) {
    const response = await fetch(address, { method: 'POST', body: form, headers });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ detail: { code: 'invalid_telephony_signature' } });
  }
  const json = await sandbox.request('POST', '/_sandbox/telephony/pn_main/voice', { From: caller });
  expect(json.status).toBe(403);
  expect((await sandbox.get('/v1/convai/conversations')).body.conversations).toEqual([]);
});

test('forms are taken by the webhook alone', async () => {
  const sandbox = await startTestSandbox(onHold);
  const response = await fetch(`${sandbox.url}/v1/convai/agents`, {
    method: 'POST',
    body: new URLSearchParams({ name: 'x' }),
    headers: { 'x-api-key': 'sk_sandbox_ok' },
  });
  expect(response.status).toBe(415);
});
