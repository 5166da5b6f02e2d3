import { expect } from 'vitest';
import { test, type Json, type TestSandbox } from '../harness.ts';
import { createModelAgent, interviewer, startModelServer, stream } from '../llm/model-server.ts';
import { converse, pass } from './socket-client.ts';

const textOnly = { conversation_config_override: { conversation: { text_only: true } } };
const openInvoice = {
  type: 'client',
  name: 'open_invoice',
  description: 'Shows an invoice on the screen of the customer.',
  parameters: { type: 'object', properties: { number: { type: 'integer' }, copy: { type: 'boolean' } }, required: ['number'] },
};
const collects = { platform_settings: { data_collection: { mood: { type: 'string', description: 'How do you feel today?' } } } };

async function toolAgent(sandbox: TestSandbox, tool: Json = openInvoice): Promise<string> {
  return sandbox.createAgent({ agent: { first_message: 'Hello.', prompt: { tools: [tool] } } }, collects);
}

test("who names a client's tool has it used: the client is asked, and its result becomes part of the answer", async ({ sandbox }) => {
  const client = await converse(sandbox, await toolAgent(sandbox), textOnly);
  await client.next('agent_response');
  client.send({ type: 'user_message', text: 'Please open invoice 12 for me.' });
  const { client_tool_call: call } = await client.next('client_tool_call');
  expect(call).toEqual({
    tool_name: 'open_invoice',
    tool_call_id: expect.any(String),
    parameters: { number: 12 },
    event_id: expect.any(Number),
  });
  client.send({ type: 'client_tool_result', tool_call_id: call.tool_call_id, result: 'Invoice 12 is open' });
  const { agent_response_event: said } = await client.next('agent_response');
  expect(said.agent_response).toMatch(/^Invoice 12 is open\. .*How do you feel today\?/);
  const body = await client.record();
  expect(body.transcript[2]).toMatchObject({
    tool_calls: [{ tool_name: 'open_invoice', params_as_json: '{"number":12}' }],
    tool_results: [{ result_value: 'Invoice 12 is open', is_error: false }],
  });
});

const text = { type: 'string' };

test.for<[string, string, Json, Json]>([
  ['Show the page about “Terms of use” now.', 'show_page', { page: text }, { page: 'Terms of use' }],
  ['Open the page, please.', 'open_page', { page: text }, {}],
])('a tool of the client gets the value that was said, not the sentence: "%s"', async ([said, name, properties, values], { sandbox }) => {
  const tool = { type: 'client', name, description: '', parameters: { type: 'object', properties } };
  const client = await converse(sandbox, await toolAgent(sandbox, tool), textOnly);
  await client.next('agent_response');
  client.send({ type: 'user_message', text: said });
  const { client_tool_call: call } = await client.next('client_tool_call');
  expect(call.parameters).toEqual(values);
});

test('a tool that is not named is not used', async ({ sandbox }) => {
  const client = await converse(sandbox, await toolAgent(sandbox), textOnly);
  client.send({ type: 'user_message', text: 'Good morning.' });
  await client.next('agent_response');
  await client.next('agent_response');
  expect(client.heard('client_tool_call')).toEqual([]);
});

test('a client that reports an error, or nothing in time, is not waited for', async ({ sandbox }) => {
  const client = await converse(sandbox, await toolAgent(sandbox, { ...openInvoice, response_timeout_secs: 5 }), textOnly);
  await client.next('agent_response');
  client.send({ type: 'user_message', text: 'Open invoice 12.' });
  const { client_tool_call: call } = await client.next('client_tool_call');
  client.send({ type: 'client_tool_result', tool_call_id: call.tool_call_id, result: 'no such invoice', is_error: true });
  expect((await client.next('agent_response')).agent_response_event.agent_response).toContain('that did not work');
  client.send({ type: 'user_message', text: 'Open invoice 13.' });
  await client.next('client_tool_call');
  await pass(sandbox, 4_999);
  await client.settle();
  expect(client.heard('agent_response')).toHaveLength(2);
  await pass(sandbox, 1);
  expect((await client.next('agent_response')).agent_response_event.agent_response).toContain('that did not work');
  const body = await client.record();
  expect(body.transcript.at(-1).tool_results[0]).toMatchObject({
    is_error: true,
    result_value: 'open_invoice gave no result within 5 seconds.',
  });
});

test('results that nobody waits for change nothing', async ({ sandbox }) => {
  const client = await converse(sandbox, await toolAgent(sandbox), textOnly);
  client.send({ type: 'client_tool_result', tool_call_id: 'never-asked', result: { a: 1 } });
  await client.settle();
  expect(client.socket.readyState).toBe(client.socket.OPEN);
});

test("the model behind an agent's own address speaks at a socket and ends the conversation", async ({ sandbox }) => {
  const model = await startModelServer((response, request, nth) => {
    if (nth === 1) stream(response, 'There it is.');
    else interviewer(response, { ...request, body: { messages: [1, 2, 3].map(() => ({ role: 'user' })) } }, nth);
  });
  const agentId = await createModelAgent(sandbox, model.url, { prompt: { tools: [openInvoice] } });
  const client = await converse(sandbox, agentId, {
    ...textOnly,
    dynamic_variables: { name: 'Robin', secret__code: 'open sesame' },
    user_id: 'user-7',
    custom_llm_extra_body: { tier: 'gold' },
  });
  await client.next('agent_response');
  client.send({ type: 'contextual_update', text: 'The page shows invoices.' });
  client.send({ type: 'user_message', text: 'Please open invoice 7.' });
  expect((await client.next('agent_response')).agent_response_event.agent_response).toBe('There it is.');
  client.send({ type: 'user_message', text: 'Thank you.' });
  expect((await client.next('agent_response')).agent_response_event.agent_response).toBe('That was all. Goodbye.');
  expect(await client.closed).toEqual({ code: 1000, reason: 'end_call tool was called.' });
  const [first, second] = model.requests;
  expect(first?.body).toMatchObject({ user_id: 'user-7', svc_extra_body: { tier: 'gold' } });
  expect(first?.body.tools.map((tool: Json) => tool.function.name)).toEqual(['end_call']);
  expect(first?.body.messages[0].content).toContain('Context: The page shows invoices.');
  expect(JSON.stringify(model.requests)).not.toContain('open sesame');
  expect(second?.body.messages.at(-1)).toEqual({ role: 'user', content: 'Thank you.' });
});

test('a model that fails without a backup ends the conversation with 1002, and the record says so', async ({ sandbox }) => {
  const model = await startModelServer((response) => response.writeHead(500).end('{}'));
  const agentId = await createModelAgent(sandbox, model.url, { llm: { backup_llm_config: { preference: 'disabled' } } });
  const client = await converse(sandbox, agentId, { ...textOnly, dynamic_variables: { name: 'Robin', secret__code: 'x' } });
  await client.next('agent_response');
  client.send({ type: 'user_message', text: 'Hello?' });
  expect((await client.next('error')).error_event).toMatchObject({ code: 1002, error_type: 'custom_llm_error' });
  expect(await client.closed).toEqual({ code: 1002, reason: 'custom_llm_error' });
  await pass(sandbox, 10_000);
  const body = await client.record();
  expect(body).toMatchObject({ status: 'failed', termination_reason: expect.stringContaining('custom_llm_error') });
});

test('what is said while a tool is waited for is answered together with it', async ({ sandbox }) => {
  const client = await converse(sandbox, await toolAgent(sandbox), textOnly);
  await client.next('agent_response');
  client.send({ type: 'user_message', text: 'Open invoice 12.' });
  const { client_tool_call: first } = await client.next('client_tool_call');
  client.send({ type: 'user_message', text: 'I am well, thank you.' });
  client.send({ type: 'client_tool_result', tool_call_id: first.tool_call_id, result: 'Open' });
  const { client_tool_call: second } = await client.next('client_tool_call');
  client.send({ type: 'client_tool_result', tool_call_id: second.tool_call_id, result: 'Open' });
  await client.next('agent_response');
  await client.settle();
  const body = await client.record();
  expect(body.transcript.map((turn: Json) => turn.speaker)).toEqual(['agent', 'user', 'user', 'agent']);
});
