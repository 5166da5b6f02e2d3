import { expect } from 'vitest';
import { plainNumbers, type Json } from '../harness.ts';
import { conversations, people, startPublished, test, type PublishedSandbox, type Recipient } from './caller.ts';

const many: Recipient[] = plainNumbers(12).map((phone_number) => ({ phone_number }));

function onTheLine(sandbox: PublishedSandbox): number {
  return sandbox.calls().filter(({ dialedAt, endedAt }) => dialedAt !== null && endedAt === null).length;
}

/** The most calls on the line at once until all are over. */
async function mostAtOnce(sandbox: PublishedSandbox): Promise<number> {
  let most = onTheLine(sandbox);
  while (sandbox.calls().some(({ endedAt }) => endedAt === null)) {
    sandbox.clock.advance(5_000);
    await sandbox.get('/_sandbox/health');
    most = Math.max(most, onTheLine(sandbox));
  }
  return most;
}

test('batches without a limit share half of the lines', async () => {
  const sandbox = await startPublished({ concurrency: 8 });
  await sandbox.submit(many.slice(0, 3));
  await sandbox.submit(many.slice(3));
  expect(await mostAtOnce(sandbox)).toBe(4);
});

test('and of the lines of their agent 70 %', async () => {
  const sandbox = await startPublished({ concurrency: 20 });
  await sandbox.patch('/v1/convai/agents/agent_reminders', {
    platform_settings: { call_limits: { agent_concurrency_limit: 3 } },
  });
  await sandbox.submit(many);
  expect(await mostAtOnce(sandbox)).toBe(2);
});

test('a batch with a limit has that instead, beside the others', async () => {
  const sandbox = await startPublished({ concurrency: 8 });
  await sandbox.submit(many.slice(0, 6), { target_concurrency_limit: 3 });
  await sandbox.submit(many.slice(6));
  expect(onTheLine(sandbox)).toBe(7);
  await mostAtOnce(sandbox);
  const limited = sandbox.calls().slice(0, 6);
  for (const { dialedAt: at } of limited)
    expect(limited.filter(({ dialedAt, endedAt }) => dialedAt! <= at! && at! < endedAt!).length).toBeLessThanOrEqual(3);
});

test('what waits for capacity is dialled whatever the hour is', async () => {
  const sandbox = await startPublished({ concurrency: 2 });
  const { id } = await sandbox.submit(Array.from({ length: 900 }, (_, nth) => ({ phone_number: `+1${201 + nth}5550102` })));
  sandbox.clock.advance(7 * 3_600_000);
  await sandbox.statuses(id);
  const dialled = sandbox.calls().flatMap(({ dialedAt }) => (dialedAt === null ? [] : [dialedAt]));
  const hours = new Set(dialled.map((at) => new Date(at).getUTCHours()));
  expect([...hours]).toEqual([12, 13, 14, 15, 16, 17, 18]);
  expect(dialled.length).toBeLessThan(900);
});

test('a call rings no longer than the batch says', async ({ sandbox }) => {
  await sandbox.submit(people('0102', '0103', '0101'), { telephony_call_config: { ringing_timeout_secs: 3 } });
  sandbox.clock.advance(60_000);
  await sandbox.get('/_sandbox/health');
  const [unanswered, machine, busy] = sandbox.calls();
  for (const call of [unanswered!, machine!]) {
    expect(call.result).toBe('no_answer');
    expect(call.endedAt! - call.dialedAt!).toBe(3_000);
  }
  expect(busy!.result).toBe('busy');
});

const clientData = (data: Json): Recipient[] => [{ ...people('0100')[0]!, conversation_initiation_client_data: data }];
const greeting = { conversation_config_override: { agent: { first_message: 'Hello {{name}}.' } } };

test.each<[string, Json, Json, string | null]>([
  ['an override that is permitted', {}, { ...greeting, dynamic_variables: { name: 'Robin' } }, null],
  ['no override', {}, {}, null],
  ['an override that is not permitted', {}, { conversation_config_override: { tts: { voice_id: 'other' } } }, 'tts.voice_id'],
  [
    'a prompt that is not permitted',
    {},
    { conversation_config_override: { agent: { prompt: { prompt: 'Sing.' } } } },
    'agent.prompt.prompt',
  ],
  ['a body for the model that is not permitted', {}, { custom_llm_extra_body: { tier: 1 } }, 'custom_llm_extra_body'],
  ['a start of the workflow that is not permitted', {}, { starting_workflow_node_id: 'n' }, 'starting_workflow_node_id'],
  ['a line whose variable is not given', {}, greeting, 'name'],
  ['a variable for which the agent has a value', { name: 'you' }, greeting, null],
])('a conversation begins or fails by %s', async (_what, placeholders, data, field) => {
  const sandbox = await startPublished();
  await sandbox.patch('/v1/convai/agents/agent_reminders', {
    conversation_config: { agent: { dynamic_variables: { dynamic_variable_placeholders: placeholders } } },
  });
  await sandbox.submit(clientData(data));
  sandbox.clock.advance(3_600_000);
  const [{ body }] = [await sandbox.get(`${conversations}/${sandbox.calls()[0]!.conversationId}`)];
  if (field === null) expect([body.status, body.metadata.error]).toEqual(['done', null]);
  else {
    expect(body).toMatchObject({
      status: 'failed',
      transcript: [],
      metadata: { error: { code: 1008, reason: expect.stringContaining(field) } },
    });
    // The telephone rang, and somebody picked up.
    expect(sandbox.calls()[0]!.endedAt! - sandbox.calls()[0]!.dialedAt!).toBeGreaterThan(3_000);
  }
});

test('elsewhere the gate is open, as in the contract, and can be closed', async () => {
  const forbidden = clientData({ conversation_config_override: { tts: { voice_id: 'other' } } });
  for (const [strictStart, result] of [
    [false, 'answered'],
    [true, 'failed'],
  ] as const) {
    const sandbox = await startPublished({ dialect: 'extended', strictStart });
    await sandbox.submit(forbidden);
    sandbox.clock.advance(3_600_000);
    expect(sandbox.calls()[0]!.result).toBe(result);
  }
});
