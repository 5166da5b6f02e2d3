import { expect } from 'vitest';
import { z } from 'zod';
import { startTestSandbox, test } from '../harness.ts';

/*
 * What clients with generated types require (gaps A.3 to A.5): such a client fails on the whole answer where a required field is missing or
 * null. Written apart from the sandbox's own schemas.
 */
const text = z.string();
const whole = z.number().int();
const accessInfo = z.object({ is_creator: z.boolean(), creator_name: text, creator_email: text, role: text });
const summary = z.object({
  agent_id: text,
  name: text,
  voice_id: text,
  tags: z.array(text),
  created_at_unix_secs: whole,
  access_info: accessInfo,
});
const workflow = z.object({ edges: z.looseObject({}), nodes: z.looseObject({}), prevent_subagent_loops: z.boolean() });
const agent = z.object({
  agent_id: text,
  name: text,
  conversation_config: z.looseObject({}),
  metadata: z.object({ created_at_unix_secs: whole, updated_at_unix_secs: whole }),
  workflow: workflow.optional(),
});
const record = z.object({
  agent_id: text,
  conversation_id: text,
  status: text,
  transcript: z.array(z.object({ role: z.enum(['user', 'agent']), time_in_call_secs: whole })),
  has_audio: z.boolean(),
  has_user_audio: z.boolean(),
  has_response_audio: z.boolean(),
  has_auxiliary_audio: z.boolean(),
  metadata: z.object({
    start_time_unix_secs: whole,
    call_duration_secs: whole,
    phone_call: z.object({
      direction: z.enum(['inbound', 'outbound']),
      phone_number_id: text,
      agent_number: text,
      external_number: text,
      call_sid: text.min(1),
      stream_sid: text.min(1),
    }),
  }),
});
const entry = z.object({
  agent_id: text,
  conversation_id: text,
  start_time_unix_secs: whole,
  call_duration_secs: whole,
  message_count: whole,
  status: text,
  call_successful: z.enum(['success', 'failure', 'unknown']),
});
const token = z.object({ token: text.min(1), conversation_id: text.min(1) });
const batch = z.object({
  id: text,
  name: text,
  agent_id: text,
  created_at_unix: whole,
  scheduled_time_unix: whole,
  last_updated_at_unix: whole,
  total_calls_dispatched: whole,
  total_calls_scheduled: whole,
  status: z.enum(['pending', 'in_progress', 'completed', 'failed', 'cancelled']),
  telephony_call_config: z.looseObject({}),
});

test('answers of the extended dialect have what clients with generated types require', async ({ sandbox }) => {
  const bare = await sandbox.post('/v1/convai/agents', { name: 'Bare' });
  const steps = await sandbox.post('/v1/convai/agents', { name: 'Steps', workflow: { nodes: { a: {} } } });
  const agents = (await sandbox.read('/v1/convai/agents')).agents;
  expect(z.array(summary).parse(agents)).toHaveLength(5);
  const read = async (id: string) => agent.parse(await sandbox.read(`/v1/convai/agents/${id}`));
  expect((await read(bare.body.agent_id)).workflow).toBeUndefined();
  expect((await read(steps.body.agent_id)).workflow).toEqual({ edges: {}, nodes: { a: {} }, prevent_subagent_loops: false });

  batch.parse(await sandbox.submit(['+12125550100', '+12125550102']));
  await sandbox.post('/_sandbox/inbound', { number: '+12125550199', from: '+12125550150' });
  sandbox.clock.advance(3_600_000);
  const listed = z.array(entry).parse((await sandbox.read('/v1/convai/conversations')).conversations);
  expect(listed).toHaveLength(3);
  for (const { conversation_id: id } of listed) record.parse(await sandbox.read(`/v1/convai/conversations/${id}`));

  const issued = await sandbox.read('/v1/convai/conversation/token?agent_id=agent_reminders');
  expect(token.parse(issued).conversation_id).toMatch(/^conv_/);
});

test('the spec dialect has none of it', async () => {
  const sandbox = await startTestSandbox({ dialect: 'spec' });
  const issued = await sandbox.read('/v1/convai/conversation/token?agent_id=agent_reminders');
  expect(Object.keys(issued)).toEqual(['token']);
});
