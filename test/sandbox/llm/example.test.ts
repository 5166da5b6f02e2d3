import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { startTestSandbox, type Json } from '../harness.ts';
import { createModelAgent, holdConversation } from './model-server.ts';

const example = fileURLToPath(new URL('../../../examples/chat-completions-server/server.mjs', import.meta.url));
const key = 'example-key-4711';
const prompt = 'You call {{name}} about an order.\n- Did the order arrive?\n- How many chairs were in it?';

/** The example as a user runs it; its address is the line that it prints. */
async function startExample(): Promise<string> {
  const server = spawn(process.execPath, [example, '0'], {
    env: { MODEL_KEY: key },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void server.kill());
  for await (const line of createInterface({ input: server.stdout })) return line;
  throw new Error('the example printed no address');
}

test.each([true, false])('the example model server holds a whole conversation, streamed: %s', async (modelStream) => {
  const sandbox = await startTestSandbox({ modelStream });
  const url = await startExample();
  const custom_llm = { url, extra_headers: { authorization: `Bearer ${key}` } };
  const llm = { custom_llm, backup_llm_config: { preference: 'disabled' } };
  const agentId = await createModelAgent(sandbox, url, { llm, prompt: { prompt } });
  const record = await holdConversation(sandbox, agentId);
  expect(record).toMatchObject({ status: 'done', termination_reason: 'end_call tool was called.' });
  const said = record.transcript.filter(({ speaker }: Json) => speaker === 'agent').map(({ text }: Json) => text);
  expect(said).toEqual([
    'Hello Robin, this is a test.',
    'Did the order arrive?',
    'How many chairs were in it?',
    'Thank you, that was all. Goodbye.',
  ]);
  const { body } = await sandbox.get('/_sandbox/model-requests');
  expect(body.model_requests.map(({ streamed }: Json) => streamed)).toEqual([modelStream, modelStream, modelStream]);
});

test('the example model server refuses a wrong key, and the conversation fails without a backup', async () => {
  const sandbox = await startTestSandbox();
  const url = await startExample();
  const llm = { backup_llm_config: { preference: 'disabled' } };
  const record = await holdConversation(sandbox, await createModelAgent(sandbox, url, { llm, prompt: { prompt } }));
  expect(record).toMatchObject({ status: 'failed', termination_reason: 'custom_llm_error: HTTP 401' });
});
