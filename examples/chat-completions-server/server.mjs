// A model server in the contract that agents with a model of their own speak: POST /v1/chat/completions, streamed or not.
// Its "model" asks every line of the prompt that begins with a dash, then ends the call. Put yours into think().
//
//   node server.mjs [port]          prints the address to give to an agent
//   MODEL_KEY=... node server.mjs   asks for "authorization: Bearer ..."
import { createServer } from 'node:http';
import { env } from 'node:process';

const key = env.MODEL_KEY;

function think({ messages, tools = [] }) {
  const prompt = messages.find(({ role }) => role === 'system')?.content ?? '';
  const questions = prompt.split('\n').filter((line) => line.startsWith('- '));
  const heard = messages.filter(({ role }) => role === 'user').length;
  const question = questions[heard - 1];
  if (question !== undefined) return { content: question.slice(2) };
  const message = 'Thank you, that was all. Goodbye.';
  if (!tools.some((tool) => tool.function.name === 'end_call')) return { content: message };
  const call = { name: 'end_call', arguments: JSON.stringify({ reason: 'Everything was asked.', message }) };
  return { content: null, tool_calls: [{ index: 0, id: `call_${heard}`, type: 'function', function: call }] };
}

function answer(request, response) {
  const { content, tool_calls } = think(request);
  const finish_reason = tool_calls === undefined ? 'stop' : 'tool_calls';
  const facts = { id: 'chatcmpl-1', created: Math.floor(Date.now() / 1000), model: request.model };
  if (request.stream !== true) {
    const message = { role: 'assistant', content, tool_calls };
    return send(response, 200, {
      ...facts,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason }],
    });
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (delta, finish_reason = null) => {
    const choices = [{ index: 0, delta, finish_reason }];
    response.write(`data: ${JSON.stringify({ ...facts, object: 'chat.completion.chunk', choices })}\n\n`);
  };
  for (const word of (content ?? '').split(/(?<= )/)) if (word !== '') chunk({ content: word });
  if (tool_calls !== undefined) chunk({ tool_calls });
  chunk({}, finish_reason);
  response.end('data: [DONE]\n\n');
}

function send(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const server = createServer(async (request, response) => {
  const refuse = (status, message) => send(response, status, { error: { message } });
  if (key !== undefined && request.headers.authorization !== `Bearer ${key}`) return refuse(401, 'Wrong key.');
  const { pathname } = new URL(request.url, 'http://localhost');
  if (request.method !== 'POST' || pathname !== '/v1/chat/completions') return refuse(404, 'POST /v1/chat/completions');
  try {
    answer(JSON.parse(Buffer.concat(await request.toArray()).toString()), response);
  } catch (error) {
    refuse(400, String(error));
  }
});
server.listen(Number(process.argv[2] ?? 8089), '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}/v1\n`);
});
