import { expect } from 'vitest';
import { speakingMs } from '../../../src/sandbox/core/state/talk.ts';
import { ServiceClock } from '../../../src/sandbox/core/clock/clock.ts';
import { startTestSandbox, testWith, type Json, type ManualClock, type TestSandbox } from '../harness.ts';
import { connect, converse, listening, pass, signedUrl, type SocketClient } from './socket-client.ts';

const quick = { sockets: { pacing: 'fast' } } as const;
const test = testWith(quick);
const greeting = 'Good day, what is your name?';
const textOnly = { conversation: { text_only: true }, agent: { first_message: greeting } };

async function record(sandbox: TestSandbox, conversationId: string): Promise<Json> {
  return await sandbox.read(`/v1/convai/conversations/${conversationId}`);
}

/** Lets agent and analysis finish, and reads the record. */
async function finished(sandbox: TestSandbox, conversationId: string): Promise<Json> {
  await pass(sandbox, 20_000);
  return record(sandbox, conversationId);
}

async function say(client: SocketClient, text: string): Promise<string> {
  client.send({ type: 'user_message', text });
  return (await client.next('agent_response')).agent_response_event.agent_response;
}

test('a conversation over a signed address begins with metadata and the first message, in text and sound', async ({ sandbox }) => {
  const client = await connect(await signedUrl(sandbox, 'agent_reminders'));
  expect(client.socket.protocol).toBe('convai');
  client.send({ type: 'conversation_initiation_client_data' });
  const audio = await client.next('audio');
  expect(client.events.slice(0, 2)).toEqual([
    {
      type: 'conversation_initiation_metadata',
      conversation_initiation_metadata_event: {
        conversation_id: expect.stringMatching(/^conv_/),
        agent_output_audio_format: 'pcm_16000',
        user_input_audio_format: 'pcm_16000',
      },
    },
    { type: 'agent_response', agent_response_event: { agent_response: 'Hello, I am calling about your appointment.', event_id: 1 } },
  ]);
  expect(audio.audio_event.event_id).toBe(1);
  // A quarter of a second of 16-bit samples at 16 kHz.
  expect(Buffer.from(audio.audio_event.audio_base_64, 'base64')).toHaveLength(8_000);
  const spec = await startTestSandbox({ ...quick, dialect: 'spec' });
  const address = await signedUrl(spec, 'agent_reminders');
  expect(new URL(address).host).toBe(new URL(spec.url).host);
  const plain = await connect(address, { protocols: [] });
  expect(plain.socket.protocol).toBe('');
  plain.send({ type: 'conversation_initiation_client_data' });
  await plain.next('conversation_initiation_metadata');
});

test('the pieces of sound make up the whole sentence, and the alignment tells every character once', async ({ sandbox }) => {
  const agentId = await sandbox.createAgent({
    tts: { voice_id: 'voice_one', agent_output_audio_format: 'ulaw_8000' },
    agent: { first_message: greeting },
  });
  const client = await converse(sandbox, agentId);
  await client.next('audio');
  await client.settle();
  const pieces = client.heard('audio').map(({ audio_event }) => audio_event);
  const bytes = pieces.reduce((sum, piece) => sum + Buffer.from(piece.audio_base_64, 'base64').length, 0);
  // Tones last as long as speaking does; µ-law has 8 bytes a millisecond.
  expect(bytes).toBe(speakingMs(greeting) * 8);
  expect(pieces.flatMap(({ alignment }) => alignment.chars).join('')).toBe(greeting);
  for (const { alignment } of pieces) {
    expect(alignment.char_start_times_ms.every((ms: number) => ms >= 0 && ms <= 250)).toBe(true);
    expect(alignment.char_durations_ms).toHaveLength(alignment.chars.length);
  }
});

test('in real time a sentence is sent as it is heard, on the clock of the service', async () => {
  const sandbox = await startTestSandbox();
  const client = await converse(sandbox, 'agent_reminders');
  const pieces = (): number => client.heard('audio').length;
  await client.next('audio');
  expect(pieces()).toBe(1);
  await pass(sandbox, 500);
  await client.settle();
  expect(pieces()).toBe(3);
  await pass(sandbox, 5_000, 1_000);
  await client.settle();
  expect(pieces()).toBe(Math.ceil(speakingMs('Hello, I am calling about your appointment.') / 250));
});

test('a conversation becomes a record like any other: in progress while it is held, then evaluated, with a recording', async () => {
  const sandbox = await startTestSandbox({ ...quick });
  const client = await converse(sandbox, 'agent_reminders', { source_info: { source: 'test', version: '1' } });
  await client.next('agent_response');
  expect(await client.record()).toMatchObject({
    status: 'in-progress',
    audio: null,
    transcript: [{ speaker: 'agent', text: 'Hello, I am calling about your appointment.' }],
  });
  const listed = await sandbox.get('/v1/convai/conversations?agent_id=agent_reminders');
  expect(listed.body.conversations.map((entry: Json) => entry.conversation_id)).toEqual([client.conversationId]);
  await pass(sandbox, 4_000);
  await say(client, 'Hello?');
  await pass(sandbox, 6_000);
  await say(client, 'I would like to reschedule, please.');
  await pass(sandbox, 4_000);
  expect(await client.closed).toEqual({ code: 1000, reason: 'end_call tool was called.' });
  const done = await finished(sandbox, client.conversationId);
  expect(done).toMatchObject({
    status: 'done',
    termination_reason: 'end_call tool was called.',
    metadata: {
      authorization_method: 'signed_url',
      conversation_initiation_source: 'websocket',
      source_info: { source: 'test', version: '1' },
      text_only: false,
    },
    evaluation_results: { goal_reached: { result: 'success' } },
    collected_data: { appointment: { value: 'reschedule' }, opt_out: { value: false } },
  });
  expect(done.metadata.phone_call).toBeUndefined();
  expect(done.transcript.map((turn: Json) => [turn.speaker, turn.time_in_call_secs])).toEqual([
    ['agent', 0],
    ['user', 4],
    ['agent', 4],
    ['user', 10],
    ['agent', 10],
  ]);
  const audio = await sandbox.get(new URL(done.audio).pathname);
  expect(audio.status).toBe(200);
  expect((await sandbox.delete(`/v1/convai/conversations/${client.conversationId}`)).status).toBe(200);
  expect((await sandbox.get(`/v1/convai/conversations/${client.conversationId}`)).status).toBe(404);
});

test('initiation data set variables and override settings for this conversation alone', async ({ sandbox }) => {
  const agentId = await sandbox.createAgent({ agent: { first_message: 'Hello {{name}}.', prompt: { prompt: 'You know {{name}}.' } } });
  const client = await converse(sandbox, agentId, {
    dynamic_variables: { name: 'Robin', secret__pin: '4711' },
    conversation_config_override: { agent: { first_message: 'Welcome back, {{name}}!' } },
    user_id: 'user-7',
  });
  const { agent_response_event: said } = await client.next('agent_response');
  expect(said.agent_response).toBe('Welcome back, Robin!');
  const kept = await client.record();
  expect(kept.conversation_initiation_client_data).toMatchObject({
    dynamic_variables: { name: 'Robin', secret__pin: '[redacted]' },
    conversation_config_override: { agent: { first_message: 'Welcome back, {{name}}!' } },
  });
  const agent = await sandbox.read(`/v1/convai/agents/${agentId}`);
  expect(agent.conversation_config.agent.first_message).toBe('Hello {{name}}.');
});

test('a variable that the agent needs and nobody gave ends the conversation with 1008', async ({ sandbox }) => {
  const agentId = await sandbox.createAgent({ agent: { first_message: 'Hello {{name}}.' } });
  const client = await connect(await signedUrl(sandbox, agentId));
  client.send({ type: 'conversation_initiation_client_data', dynamic_variables: { other: 1 } });
  expect((await client.next('error')).error_event).toMatchObject({
    code: 1008,
    error_type: 'missing_dynamic_variable',
    message: 'The agent needs name: send them as dynamic_variables.',
  });
  expect(await client.closed).toEqual({ code: 1008, reason: 'missing_dynamic_variable' });
  const [entry] = (await sandbox.read(`/v1/convai/conversations?agent_id=${agentId}`)).conversations;
  expect((await finished(sandbox, entry.conversation_id)).status).toBe('failed');
});

test('a client that never sends initiation data gets its conversation after a while, though the clock stands', async () => {
  const sandbox = await startTestSandbox({ sockets: { pacing: 'fast', initiationWaitMs: 50 } });
  const client = await connect(await signedUrl(sandbox, 'agent_reminders'));
  await client.next('conversation_initiation_metadata');
  await client.next('agent_response');
});

test('however fast the service time runs, a client has its five seconds for the first message', async () => {
  const clock = new ServiceClock({ speed: 200 });
  const sandbox = await startTestSandbox({ ...quick, clock: clock as unknown as ManualClock });
  const agentId = await sandbox.createAgent({ agent: { first_message: 'Hello {{name}}.' } });
  const client = await connect(await signedUrl(sandbox, agentId));
  const connectedAt = clock.now();
  await expect.poll(() => clock.now() - connectedAt, { interval: 5 }).toBeGreaterThan(25_000);
  await client.settle();
  expect(client.events).toEqual([]);
  client.send({ type: 'conversation_initiation_client_data', dynamic_variables: { name: 'Robin' } });
  await client.next('conversation_initiation_metadata');
});

test('a first message that came while the sandbox was busy is not too late', async () => {
  const sandbox = await startTestSandbox({ sockets: { pacing: 'fast', initiationWaitMs: 100 } });
  const agentId = await sandbox.createAgent({ agent: { first_message: 'Hello {{name}}.' } });
  const client = await connect(await signedUrl(sandbox, agentId));
  client.send({ type: 'conversation_initiation_client_data', dynamic_variables: { name: 'Robin' } });
  // Both share this process: neither reads anything before the time is over.
  for (const until = performance.now() + 300; performance.now() < until;);
  await client.next('conversation_initiation_metadata');
  expect((await client.next('agent_response')).agent_response_event.agent_response).toBe('Hello Robin.');
});

test('a client that begins with something else gets its conversation at once, and may not initiate it later', async ({ sandbox }) => {
  const client = await connect(await signedUrl(sandbox, 'agent_reminders'));
  client.send({ type: 'user_activity' });
  await client.next('conversation_initiation_metadata');
  client.send({ type: 'conversation_initiation_client_data' });
  expect(await client.closed).toEqual({ code: 1008, reason: 'invalid_message' });
});

test('in a conversation by text there is no sound, words come in parts, and it ends when the agent has said goodbye', async () => {
  const sandbox = await startTestSandbox();
  const agentId = await sandbox.createAgent(textOnly, {
    platform_settings: { data_collection: { name: { type: 'string', description: greeting } } },
  });
  const client = await converse(sandbox, agentId);
  await client.next('agent_response');
  expect(await say(client, 'Robin Example')).toContain('Thank you');
  expect(await client.closed).toEqual({ code: 1000, reason: 'end_call tool was called.' });
  const parts = client.heard('agent_chat_response_part').map((event) => event.text_response_part);
  const first = parts.filter(({ event_id }) => event_id === parts[0].event_id);
  expect(first.map(({ text }) => text).join('')).toBe(greeting);
  expect(first.map(({ type }) => type)).toEqual(['start', 'delta', 'delta', 'delta', 'delta', 'delta', 'delta', 'stop']);
  expect(client.heard('audio')).toEqual([]);
  const done = await finished(sandbox, client.conversationId);
  expect(done).toMatchObject({ status: 'done', collected_data: { name: { value: 'Robin Example' } } });
  expect(done.metadata.text_only).toBe(true);
});

test("an agent's list of client events says which are sent", async ({ sandbox }) => {
  const agentId = await sandbox.createAgent({ agent: { first_message: greeting }, conversation: { client_events: ['agent_response'] } });
  const client = await converse(sandbox, agentId);
  await say(client, 'Robin');
  await client.settle();
  expect(new Set(client.events.map(({ type }) => type))).toEqual(new Set(['conversation_initiation_metadata', 'agent_response']));
});

test('who speaks while the agent does interrupts it: the rest is not sent, and what was heard is told', async () => {
  const sandbox = await startTestSandbox();
  const client = await converse(sandbox, 'agent_reminders');
  await client.next('audio');
  await pass(sandbox, 1_000);
  client.send({ type: 'user_message', text: 'Who is this?' });
  expect((await client.next('interruption')).interruption_event).toEqual({ event_id: 1 });
  expect((await client.next('agent_response_correction')).agent_response_correction_event).toEqual({
    original_agent_response: 'Hello, I am calling about your appointment.',
    corrected_agent_response: 'Hello, I am',
    event_id: 1,
  });
  await pass(sandbox, 2_000, 500);
  await client.settle();
  const { agent_response_event: answer } = (await client.next('agent_response'), await client.next('agent_response'));
  expect(answer.agent_response).toContain('This is');
  expect(client.events.filter(({ type, audio_event }) => type === 'audio' && audio_event.event_id === 1)).toHaveLength(5);
  const { transcript } = await client.record();
  const original = 'Hello, I am calling about your appointment.';
  expect(transcript.slice(0, 2)).toMatchObject([
    { interrupted: true, text: 'Hello, I am', original_message: original },
    { speaker: 'user', text: 'Who is this?' },
  ]);
});

test('the agent asks again whenever nobody answers within the turn timeout, but not who is active', async ({ sandbox }) => {
  // The agent speaks for a little more than three seconds.
  const client = await listening(sandbox);
  await pass(sandbox, 6_000);
  client.send({ type: 'user_activity' });
  await client.settle();
  await pass(sandbox, 6_000);
  await client.settle();
  const said = (): string[] => client.heard('agent_response').map((event) => event.agent_response_event.agent_response);
  expect(said()).toHaveLength(1);
  await pass(sandbox, 1_000);
  await client.settle();
  expect(said()).toEqual(['Hello, I am calling about your appointment.', 'Hello, can you hear me?']);
  client.send({ type: 'user_activity' });
  await client.settle();
  // Asking takes two seconds, and every silence seven.
  await pass(sandbox, 30_000, 1_000);
  await client.settle();
  expect(said().slice(1)).toEqual(Array(4).fill('Hello, can you hear me?'));
  client.send({ type: 'user_message', text: 'Who is this?' });
  await client.settle();
  await pass(sandbox, 5_000, 1_000);
  await client.settle();
  expect(said().at(-1)).toContain('This is');
});

test.for<[string, Json, number, number, string]>([
  [
    'after the silence that its agent allows, however often it has asked',
    { agent: { first_message: 'Hello.' }, turn: { turn_timeout: 5, silence_end_call_timeout: 15 } },
    40_000,
    1_000,
    'Nobody spoke.',
  ],
  ['after its longest duration', { conversation: { max_duration_seconds: 20 } }, 20_000, 5_000, 'Maximum duration reached.'],
])('a conversation ends %s', async ([_what, config, ms, stepMs, reason], { sandbox }) => {
  const client = await converse(sandbox, await sandbox.createAgent(config));
  await pass(sandbox, ms, stepMs);
  expect(await client.closed).toEqual({ code: 1000, reason });
  const done = await finished(sandbox, client.conversationId);
  expect(done.metadata.duration).toBeLessThanOrEqual(20);
});

test('a client that leaves ends the conversation, and its line is free again', async () => {
  const sandbox = await startTestSandbox({ ...quick, concurrency: 1 });
  const client = await converse(sandbox, 'agent_reminders');
  await pass(sandbox, 5_000);
  client.socket.close(1000);
  await client.closed;
  const done = await finished(sandbox, client.conversationId);
  expect(done).toMatchObject({ status: 'done', termination_reason: 'Call ended by remote party', metadata: { duration: 5 } });
  await converse(sandbox, 'agent_reminders');
});

test('pings tell how long the last answer took', async ({ sandbox }) => {
  const client = await converse(sandbox, 'agent_reminders', {}, { answersPings: false });
  await pass(sandbox, 10_000);
  const first = await client.next('ping');
  expect(first.ping_event).toEqual({ event_id: expect.any(Number), ping_ms: null });
  sandbox.clock.advance(120);
  client.send({ type: 'pong', event_id: first.ping_event.event_id });
  await client.settle();
  await pass(sandbox, 9_880);
  expect((await client.next('ping')).ping_event.ping_ms).toBe(120);
});

test('what a client tells beside the conversation is kept with its record', async ({ sandbox }) => {
  const client = await converse(sandbox, 'agent_reminders');
  client.send({ type: 'contextual_update', text: 'The page shows invoices.', context_id: 'page' });
  client.send({ type: 'feedback', event_id: 1, score: 'like' });
  client.send({ type: 'feedback', event_id: 2, score: 'like' });
  client.send({ type: 'feedback', event_id: 3, score: 'dislike' });
  await client.settle();
  const { metadata } = await client.record();
  expect(metadata.feedback).toEqual({ type: 'thumbs', overall_score: 'like', likes: 2, dislikes: 1 });
  expect(metadata.contextual_updates).toEqual([{ time: '2030-01-15T12:00:00.000Z', text: 'The page shows invoices.', context_id: 'page' }]);
});

test('words that come while the agent thinks are answered together, and interrupt nothing', async () => {
  const sandbox = await startTestSandbox();
  const client = await listening(sandbox);
  client.send({ type: 'user_message', text: 'One moment.' });
  await client.settle();
  client.send({ type: 'user_message', text: 'Who is this?' });
  await client.settle();
  await pass(sandbox, 3_000, 500);
  await client.settle();
  const { transcript } = await client.record();
  expect(transcript.map((turn: Json) => turn.speaker)).toEqual(['agent', 'user', 'user', 'agent']);
  expect(client.heard('interruption')).toEqual([]);
});

test('a reset ends the conversations that are held', async ({ sandbox }) => {
  const client = await converse(sandbox, 'agent_reminders');
  await sandbox.post('/_sandbox/reset');
  expect(await client.closed).toEqual({ code: 1001, reason: 'The sandbox was reset.' });
});

test('a call that is hung up from outside closes its socket, and what was said stays', async ({ sandbox }) => {
  const client = await listening(sandbox);
  await client.next('agent_response');
  await say(client, 'Who is this?');
  await pass(sandbox, 100);
  const [call] = (await sandbox.read('/_sandbox/calls?direction=inbound')).calls;
  await sandbox.post(`/_sandbox/calls/${call.callId}/course`, { hang_up: 'now' });
  expect((await client.closed).code).toBe(1000);
  const { transcript } = await finished(sandbox, client.conversationId);
  expect(transcript.map((turn: Json) => [turn.speaker, turn.interrupted])).toEqual([
    ['agent', false],
    ['user', false],
    ['agent', true],
  ]);
});

test('a restored state has no sockets: conversations that were held in it have ended, with what was said', async ({ sandbox }) => {
  const client = await listening(sandbox);
  await say(client, 'Who is this?');
  const { body: snapshot } = await sandbox.post('/_sandbox/snapshots', {});
  await sandbox.post(`/_sandbox/snapshots/${snapshot.snapshot_id}/restore`);
  expect((await client.closed).code).toBe(1001);
  const kept = await finished(sandbox, client.conversationId);
  expect(kept).toMatchObject({ status: 'done', termination_reason: 'The connection was lost.' });
  expect(kept.transcript.slice(0, 2)).toMatchObject([{ speaker: 'agent' }, { speaker: 'user', text: 'Who is this?' }]);
});
