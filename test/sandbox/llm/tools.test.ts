import { createServer, type IncomingHttpHeaders } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { startTestSandbox, type Json } from '../harness.ts';
import { createModelAgent, holdConversation, startModelServer, stream, useTool, type ModelServer } from './model-server.ts';

const toolSecret = 'tool-secret-123';

interface ToolServer {
  url: string;
  uses: { headers: IncomingHttpHeaders; body: Json }[];
}

async function startToolServer(status: number, answer: string): Promise<ToolServer> {
  const tool: ToolServer = { url: '', uses: [] };
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (piece) => (text += piece));
    request.on('end', () => {
      tool.uses.push({ headers: request.headers, body: JSON.parse(text) });
      response.writeHead(status, { location: '/elsewhere' }).end(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  tool.url = `http://127.0.0.1:${(server.address() as { port: number }).port}/stock`;
  return tool;
}

const webhook = (url: string): Json => ({
  type: 'webhook',
  name: 'stock',
  description: 'How many there are.',
  api_schema: {
    url,
    method: 'POST',
    request_headers: { authorization: toolSecret },
    request_body_schema: { type: 'object', properties: { item: { type: 'string' } } },
  },
});

/** Uses the tool in the first turn, says what came of it, then ends. */
function usingModel(name: string, parameters: Json = { item: 'chair' }): Promise<ModelServer> {
  return startModelServer((response, { body }, nth) => {
    const last = body.messages.at(-1);
    if (nth === 1) useTool(response, name, parameters);
    else if (last.role === 'tool') stream(response, `The tool says: ${last.content}`);
    else useTool(response, 'end_call');
  });
}

test('a tool with an address is posted to, and the model is given what it answers', async () => {
  const sandbox = await startTestSandbox({ loose: true });
  const tool = await startToolServer(200, `twelve chairs for ${toolSecret}`);
  const model = await usingModel('stock');
  const agentId = await createModelAgent(sandbox, model.url, { prompt: { tools: [webhook(tool.url)] } });
  const record = await holdConversation(sandbox, agentId);
  expect(tool.uses).toMatchObject([{ body: { item: 'chair' }, headers: { authorization: toolSecret } }]);
  expect(record.transcript[2].text).toBe('The tool says: twelve chairs for [redacted]');
  expect(model.requests[0]?.body.tools[1]).toEqual({
    type: 'function',
    function: {
      name: 'stock',
      description: 'How many there are.',
      parameters: { type: 'object', properties: { item: { type: 'string' } } },
    },
  });
  expect(model.requests[1]?.body.messages.slice(3)).toEqual([
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'use_1', type: 'function', function: { name: 'stock', arguments: '{"item":"chair"}' } }],
    },
    { role: 'tool', tool_call_id: 'use_1', content: 'twelve chairs for [redacted]' },
  ]);
  // The next turn still knows of it.
  expect(model.requests[2]?.body.messages.slice(3, 6).map(({ role }: Json) => role)).toEqual(['assistant', 'tool', 'assistant']);
});

test.each([
  ['answers 500', 500, 'The tool answered HTTP 500.'],
  ['redirects', 302, 'The tool answered HTTP 302.'],
])('a tool that %s gives the model an error to speak of', async (_name, status, text) => {
  const sandbox = await startTestSandbox({ loose: true });
  const tool = await startToolServer(status, 'no');
  const model = await usingModel('stock');
  const agentId = await createModelAgent(sandbox, model.url, { prompt: { tools: [webhook(tool.url)] } });
  const record = await holdConversation(sandbox, agentId);
  expect(record.transcript[2].text).toBe(`The tool says: ${text}`);
  expect(tool.uses).toHaveLength(1);
});

test('a tool elsewhere than on this machine is not called', async () => {
  const sandbox = await startTestSandbox({ loose: true });
  const model = await usingModel('stock');
  const agentId = await createModelAgent(sandbox, model.url, {
    prompt: { tools: [webhook('http://192.0.2.1/stock')] },
  });
  const record = await holdConversation(sandbox, agentId);
  expect(record.transcript[2].text).toContain('the sandbox does not connect to 192.0.2.1');
});

test.each([
  ['a tool of a client', { type: 'client', name: 'show', description: '' }, 'A call by phone has no client that could run show.'],
  ['a system tool that is not there', { type: 'system', name: 'show' }, 'The sandbox does not have the system tool show.'],
  ['a tool that the agent does not have', { type: 'client', name: 'other' }, 'There is no tool show.'],
])('%s gives an error as its result', async (_name, tool, text) => {
  const sandbox = await startTestSandbox({ loose: true });
  const model = await usingModel('show');
  const record = await holdConversation(sandbox, await createModelAgent(sandbox, model.url, { prompt: { tools: [tool] } }));
  expect(record.transcript[2].text).toBe(`The tool says: ${text}`);
});

test('parameters that are no JSON object are given back to the model, and nothing is called', async () => {
  const sandbox = await startTestSandbox({ loose: true });
  const tool = await startToolServer(200, 'twelve');
  const model = await usingModel('stock', ['chair']);
  const agentId = await createModelAgent(sandbox, model.url, { prompt: { tools: [webhook(tool.url)] } });
  const record = await holdConversation(sandbox, agentId);
  expect(record.transcript[2].text).toBe('The tool says: The parameters must be a JSON object.');
  expect(tool.uses).toEqual([]);
});

test('a model that uses tools without ever speaking is stopped after the third round', async () => {
  const sandbox = await startTestSandbox({ loose: true });
  const tool = await startToolServer(200, 'twelve');
  const model = await startModelServer((response) => useTool(response, 'stock'));
  const llm = { backup_llm_config: { preference: 'disabled' } };
  const agentId = await createModelAgent(sandbox, model.url, { llm, prompt: { tools: [webhook(tool.url)] } });
  const record = await holdConversation(sandbox, agentId);
  expect(tool.uses).toHaveLength(3);
  expect(record.termination_reason).toBe('custom_llm_error: the model used tools more than 3 times in one turn');
});
