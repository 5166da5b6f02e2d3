import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { onTestFinished, vi } from 'vitest';
import type { Json, TestSandbox } from '../harness.ts';
import { patienceMs } from '../../support/until.ts';

interface ModelRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: Json;
}

type Answer = (response: ServerResponse, request: ModelRequest, nth: number) => void;

export interface ModelServer {
  url: string;
  requests: ModelRequest[];
  /** How it answers from now on. */
  answer: Answer;
}

/** Closed after the test. */
export async function startModelServer(answer: Answer): Promise<ModelServer> {
  const model: ModelServer = { url: '', requests: [], answer };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const seen = { path: request.url ?? '', headers: request.headers, body: text === '' ? null : JSON.parse(text) };
      model.requests.push(seen);
      model.answer(response, seen, model.requests.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  model.url = `http://127.0.0.1:${address.port}/v1`;
  return model;
}

export function chunk(delta: Json, finish: string | null = null): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}

export function stream(response: ServerResponse, text: string, more = ''): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const word of text.split(/(?<= )/)) response.write(chunk({ content: word }));
  response.end(`${chunk({}, 'stop')}${more}data: [DONE]\n\n`);
}

/** As a stream whose arguments come in two pieces. */
export function useTool(response: ServerResponse, name: string, parameters: Json = {}): void {
  const text = JSON.stringify(parameters);
  const cut = Math.ceil(text.length / 2);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk({ tool_calls: [{ index: 0, id: 'use_1', type: 'function', function: { name, arguments: text.slice(0, cut) } }] }));
  response.write(chunk({ tool_calls: [{ index: 0, function: { arguments: text.slice(cut) } }] }));
  response.end(`${chunk({}, 'tool_calls')}data: [DONE]\n\n`);
}

/** Asks how things are until answered twice, then ends the call. A conversation always gets the same words. */
export const interviewer: Answer = (response, { body }) => {
  const heard = body.messages.filter(({ role }: Json) => role === 'user').length;
  if (heard < 3) stream(response, `Question ${heard}: how many chairs do you have?`);
  else useTool(response, 'end_call', { reason: 'done', message: 'That was all. Goodbye.' });
};

export const secret = 'Bearer tok-9f8e7d6c5b4a';

export async function createModelAgent(
  sandbox: TestSandbox,
  url: string,
  { llm = {}, prompt = {}, platform = undefined as Json } = {},
): Promise<string> {
  const own = { url, extra_headers: { authorization: secret, 'x-team': 'chairs' } };
  const config = {
    agent: {
      first_message: 'Hello {{name}}, this is a test.',
      prompt: { prompt: 'You ask {{name}} about chairs. {{secret__code}}', ...prompt },
      llm: { model_id: 'custom', temperature: 0.3, custom_llm: own, ...llm },
    },
  };
  return sandbox.createAgent(config, platform === undefined ? {} : { platform_settings: platform });
}

/** Waits for the conversation, and goes to where everything is over. */
export async function holdConversation(
  sandbox: TestSandbox,
  agentId: string,
  { number = '+12125550100', ...call }: Json = {},
): Promise<Json> {
  const known = sandbox.calls().length;
  const variables = { name: 'Robin', secret__code: 'open sesame' };
  const batch = await sandbox.batch([], { agent_id: agentId, calls: [{ to_phone_number: number, variables, ...call }] });
  if (batch.status !== 200) throw new Error(JSON.stringify(batch.body));
  await isHeld(sandbox, known);
  sandbox.clock.advance(3_600_000);
  return sandbox.record(known);
}

export async function isHeld(sandbox: TestSandbox, index: number): Promise<void> {
  await vi.waitFor(
    () => {
      if (!sandbox.calls()[index]?.transcriptTurns) throw new Error('the conversation is still being held');
    },
    { timeout: patienceMs, interval: 5 },
  );
}
