import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, onTestFinished } from 'vitest';
import { startTestSandbox, test, type Json } from '../harness.ts';
import { createModelAgent, holdConversation, interviewer, secret, startModelServer, useTool } from './model-server.ts';

const everybodyAnswers = { answered: 1, busy: 0, no_answer: 0, voicemail: 0, failed: 0 };
const words = (record: Json, speaker: string): string[] =>
  record.transcript.filter((turn: Json) => turn.speaker === speaker).map(({ text }: Json) => text);

test('an agent says what the model behind its address answers, and ends the call when the model does', async ({ sandbox }) => {
  const model = await startModelServer(interviewer);
  const record = await holdConversation(sandbox, await createModelAgent(sandbox, model.url));
  expect(words(record, 'agent')).toEqual([
    'Hello Robin, this is a test.',
    'Question 1: how many chairs do you have?',
    'Question 2: how many chairs do you have?',
    'That was all. Goodbye.',
  ]);
  expect(record).toMatchObject({ status: 'done', termination_reason: 'end_call tool was called.' });
  expect(words(record, 'user').length).toBeGreaterThanOrEqual(3);
});

test('the model is asked as the contract says: prompt with variables, what was said, temperature, tools and headers', async ({
  sandbox,
}) => {
  const model = await startModelServer(interviewer);
  const llm = { custom_llm: { url: model.url, model_id: 'chairs-7b', extra_headers: { authorization: secret, 'x-team': 'chairs' } } };
  const prompt = { tools: [{ type: 'webhook', name: 'stock', api_schema: { url: 'http://127.0.0.1:9/stock' } }] };
  const record = await holdConversation(sandbox, await createModelAgent(sandbox, model.url, { prompt, llm }));
  const [first, second] = model.requests;
  expect(first).toMatchObject({
    path: '/v1/chat/completions',
    headers: { authorization: secret, 'x-team': 'chairs', 'content-type': 'application/json' },
    body: {
      model: 'chairs-7b',
      temperature: 0.3,
      stream: true,
      messages: [
        // A secret variable is never told to a model.
        { role: 'system', content: 'You ask Robin about chairs. {{secret__code}}' },
        { role: 'assistant', content: 'Hello Robin, this is a test.' },
        { role: 'user', content: record.transcript[1].text },
      ],
    },
  });
  expect(first?.body.max_tokens).toBeGreaterThan(0);
  expect(first?.body.tools.map((tool: Json) => tool.function.name)).toEqual(['end_call']);
  expect(JSON.stringify([record, model.requests])).not.toContain('open sesame');
  expect(record.conversation_initiation_client_data.dynamic_variables).toEqual({ name: 'Robin', secret__code: '[redacted]' });
  expect(second?.body.messages.slice(3)).toEqual([
    { role: 'assistant', content: 'Question 1: how many chairs do you have?' },
    { role: 'user', content: record.transcript[3].text },
  ]);
});

test("a call's own settings choose the model, its address and its headers for that call alone", async ({ sandbox }) => {
  const model = await startModelServer(interviewer);
  const other = await startModelServer((response) => useTool(response, 'end_call', { message: 'The other one.' }));
  const llm = { model_id: 'custom', custom_llm: { url: other.url, extra_headers: { 'x-team': 'tables' } } };
  const override = { conversation_config_override: { agent: { llm, prompt: { prompt: 'Only for {{name}}.' } } } };
  const agentId = await createModelAgent(sandbox, model.url);
  const record = await holdConversation(sandbox, agentId, override);
  expect(words(record, 'agent').at(-1)).toBe('The other one.');
  expect(other.requests[0]?.headers).toMatchObject({ authorization: secret, 'x-team': 'tables' });
  expect(other.requests[0]?.body.messages[0].content).toBe('Only for Robin.');
  expect(model.requests).toEqual([]);
  const hosted = await holdConversation(sandbox, 'agent_reminders', override);
  expect(words(hosted, 'agent').at(-1)).toBe('The other one.');
  expect(words(await holdConversation(sandbox, 'agent_reminders'), 'agent').at(-1)).not.toBe('The other one.');
});

test('a conversation is in progress, and nothing of it is made up, until the model has answered', async ({ sandbox }) => {
  let release = (): void => undefined;
  const model = await startModelServer((response) => {
    release = () => useTool(response, 'end_call', { message: 'At last.' });
  });
  const agentId = await createModelAgent(sandbox, model.url);
  const held = holdConversation(sandbox, agentId);
  await expect.poll(() => model.requests.length).toBe(1);
  sandbox.clock.advance(600_000);
  const [entry] = (await sandbox.read('/v1/convai/conversations')).conversations;
  const path = `/v1/convai/conversations/${entry.conversation_id}`;
  expect(await sandbox.read(path)).toMatchObject({ status: 'in-progress', transcript: [] });
  release();
  expect(await held).toMatchObject({ status: 'done' });
  expect(words(await sandbox.read(path), 'agent').at(-1)).toBe('At last.');
});

test('a model that takes its time holds no call beyond its longest duration', async ({ sandbox }) => {
  let givenUp = 0;
  const model = await startModelServer((response, request, nth) => {
    if (nth === 1) interviewer(response, request, nth);
    else response.on('close', () => (givenUp += 1));
  });
  const agentId = await createModelAgent(sandbox, model.url);
  const override = { conversation: { max_duration_seconds: 60 } };
  const call = { to_phone_number: '+12125550100', variables: { name: 'Robin' }, conversation_config_override: override };
  await sandbox.batch([], { agent_id: agentId, calls: [call] });
  await expect.poll(() => model.requests.length).toBe(2);
  sandbox.clock.advance(240_000);
  const body = await sandbox.record(0);
  expect(body).toMatchObject({ status: 'done', termination_reason: 'Maximum duration reached.' });
  expect(body.metadata.duration).toBe(60);
  expect(words(body, 'agent')).toEqual(['Hello Robin, this is a test.', 'Question 1: how many chairs do you have?']);
  expect(words(body, 'user')).toHaveLength(2);
  await expect.poll(() => givenUp).toBe(1);
});

test('one seed and one model give the same conversations again', async () => {
  const run = async (): Promise<Json[]> => {
    const sandbox = await startTestSandbox({ outcomeMix: everybodyAnswers });
    const model = await startModelServer(interviewer);
    const agentId = await createModelAgent(sandbox, model.url);
    const records = [];
    for (const number of ['+12125550100', '+12125550108', '+12125550131'])
      records.push(await holdConversation(sandbox, agentId, { number }));
    return records.map(({ conversation_id: id, transcript, metadata }) => ({ id, transcript, metadata }));
  };
  const first = await run();
  expect(first.flatMap(({ transcript }) => transcript).length).toBeGreaterThan(9);
  expect(await run()).toEqual(first);
});

test('an answering machine gets a message without any question to the model', async ({ sandbox }) => {
  const model = await startModelServer(interviewer);
  const record = await holdConversation(sandbox, await createModelAgent(sandbox, model.url), { number: '+12125550103' });
  expect(record.transcript.length).toBeGreaterThan(1);
  expect(model.requests).toEqual([]);
});

test('a reset gives up the conversations that are being held', async ({ sandbox }) => {
  let givenUp = 0;
  const model = await startModelServer((response) => {
    response.on('close', () => (givenUp += 1));
  });
  const agentId = await createModelAgent(sandbox, model.url);
  await sandbox.batch(['+12125550100'], { agent_id: agentId });
  await expect.poll(() => model.requests.length).toBe(1);
  sandbox.reset();
  await expect.poll(() => givenUp).toBe(1);
  model.answer = interviewer;
  const record = await holdConversation(sandbox, await createModelAgent(sandbox, model.url));
  expect(record.status).toBe('done');
});

test('many conversations are held at once, each with its own words', async () => {
  const sandbox = await startTestSandbox({ outcomeMix: everybodyAnswers });
  const model = await startModelServer((response, { body }) => {
    useTool(response, 'end_call', { message: `Only ${body.messages[0].content}` });
  });
  const agentId = await createModelAgent(sandbox, model.url, { prompt: { prompt: 'for {{who}}' } });
  const calls = Array.from({ length: 25 }, (_, index) => ({
    to_phone_number: `+121255501${String(30 + index)}`,
    variables: { who: `number ${index}` },
  }));
  await sandbox.batch([], { agent_id: agentId, calls });
  await expect.poll(() => sandbox.calls().filter((call) => call.transcriptTurns > 0).length).toBe(25);
  sandbox.clock.advance(3_600_000);
  for (const [index, call] of sandbox.calls().entries()) {
    const record = await sandbox.read(`/v1/convai/conversations/${call.conversationId}`);
    if (!call.silent) expect(words(record, 'agent').at(-1)).toBe(`Only for number ${index}`);
  }
  expect(model.requests.length).toBeGreaterThan(20);
});

test("a thinking budget is heard as a longer pause before the agent's words", async () => {
  const pauses = [];
  for (const thinking_budget of ['Disabled', 'High']) {
    const sandbox = await startTestSandbox();
    const model = await startModelServer(interviewer);
    const agentId = await createModelAgent(sandbox, model.url, { llm: { thinking_budget } });
    const { transcript } = await holdConversation(sandbox, agentId);
    pauses.push(transcript[2].conversation_turn_metrics.metrics.convai_llm_service_ttfb.elapsed_time);
  }
  expect(pauses[1] - pauses[0]).toBeGreaterThan(2);
});

test('a model is told what was heard of its words, not what it was cut off at', async ({ sandbox }) => {
  const model = await startModelServer(interviewer);
  const record = await holdConversation(sandbox, await createModelAgent(sandbox, model.url), { number: '+12125550107' });
  const cut = record.transcript.filter(({ interrupted }: Json) => interrupted);
  expect(cut.length).toBeGreaterThan(0);
  const told = JSON.stringify(model.requests.at(-1)?.body.messages);
  for (const { text, original_message: original } of cut) {
    expect(told).toContain(JSON.stringify(text));
    expect(told).not.toContain(original);
  }
});

test('user id and extra body of a call are passed on to the model', async ({ sandbox }) => {
  const model = await startModelServer(interviewer);
  const conversation_initiation_client_data = { user_id: 'user-7', custom_llm_extra_body: { room: 'kitchen' } };
  const recipients = [{ phone_number: '+12125550100', conversation_initiation_client_data }];
  await sandbox.submit(recipients, { agent_id: await createModelAgent(sandbox, model.url) });
  await expect.poll(() => model.requests.length).toBeGreaterThan(0);
  expect(model.requests[0]?.body).toMatchObject({ user_id: 'user-7', svc_extra_body: { room: 'kitchen' } });
});

const exampleKey = 'example-key-4711';
const prompt = 'You call {{name}} about an order.\n- Did the order arrive?\n- How many chairs were in it?';

/** As a user runs it; its address is the line that it prints. */
async function startExample(): Promise<string> {
  const server = spawn(process.execPath, ['examples/chat-completions-server/server.mjs', '0'], {
    env: { MODEL_KEY: exampleKey },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void server.kill());
  for await (const line of createInterface({ input: server.stdout })) return line;
  throw new Error('the example printed no address');
}

test('the example model server holds a whole conversation', async ({ sandbox }) => {
  const url = await startExample();
  const custom_llm = { url, extra_headers: { authorization: `Bearer ${exampleKey}` } };
  const llm = { custom_llm, backup_llm_config: { preference: 'disabled' } };
  const agentId = await createModelAgent(sandbox, url, { llm, prompt: { prompt } });
  const record = await holdConversation(sandbox, agentId);
  expect(record).toMatchObject({ status: 'done', termination_reason: 'end_call tool was called.' });
  expect(words(record, 'agent')).toEqual([
    'Hello Robin, this is a test.',
    'Did the order arrive?',
    'How many chairs were in it?',
    'Thank you, that was all. Goodbye.',
  ]);
});

test('the example model server refuses a wrong key, and the conversation fails without a backup', async ({ sandbox }) => {
  const url = await startExample();
  const llm = { backup_llm_config: { preference: 'disabled' } };
  const record = await holdConversation(sandbox, await createModelAgent(sandbox, url, { llm, prompt: { prompt } }));
  expect(record).toMatchObject({ status: 'failed', termination_reason: 'custom_llm_error: HTTP 401' });
});
