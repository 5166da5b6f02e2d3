import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { Command } from 'commander';
import { test, type Json } from '../harness.ts';
import { addSandboxFlags, readSandboxFlags, type SandboxFlags } from '../../../src/interfaces/cli/sandbox/flags.ts';
import { resolveSettings } from '../../../src/sandbox/core/settings/settings.ts';
import { createModelAgent, holdConversation } from './model-server.ts';

const example = fileURLToPath(new URL('../../../examples/chat-completions-server/server.mjs', import.meta.url));
const key = 'example-key-4711';
const prompt = 'You call {{name}} about an order.\n- Did the order arrive?\n- How many chairs were in it?';

/** The example as a user runs it; its address is the line that it prints. */
async function startExample(): Promise<string> {
  const server = spawn(process.execPath, [example, '0'], { env: { MODEL_KEY: key }, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void server.kill());
  for await (const line of createInterface({ input: server.stdout })) return line;
  throw new Error('the example printed no address');
}

test('the example model server holds a whole conversation', async ({ sandbox }) => {
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
});

test('the example model server refuses a wrong key, and the conversation fails without a backup', async ({ sandbox }) => {
  const url = await startExample();
  const llm = { backup_llm_config: { preference: 'disabled' } };
  const record = await holdConversation(sandbox, await createModelAgent(sandbox, url, { llm, prompt: { prompt } }));
  expect(record).toMatchObject({ status: 'failed', termination_reason: 'custom_llm_error: HTTP 401' });
});

const parse = (...flags: string[]): SandboxFlags => addSandboxFlags(new Command(), '4010').parse(flags, { from: 'user' }).opts();

test('the flags say which hosts may be connected to and how models are asked', async () => {
  const flags = ['--allow-outbound', 'a.example', '--allow-outbound', 'b.example:8443'];
  expect(await readSandboxFlags(parse(...flags, '--model-latency', 'drawn'))).toMatchObject({
    allowOutbound: ['a.example', 'b.example:8443'],
    modelLatency: 'drawn',
  });
  const plain = resolveSettings(await readSandboxFlags(parse()));
  expect(plain).toMatchObject({ outbound: { hosts: [] }, modelLatency: 'measured' });
});

test('a latency that is not known is refused', async () => {
  await expect(readSandboxFlags(parse('--model-latency', 'fast'))).rejects.toThrow(
    '--model-latency is "fast"; it must be measured or drawn.',
  );
});

test.each(['http://a.example', 'a.example/v1', 'key@a.example', ''])('"%s" is no host to allow', (host) => {
  expect(() => resolveSettings({ allowOutbound: [host] })).toThrow('allowOutbound');
});

test('a limit for models is a whole number', () => {
  expect(() => resolveSettings({ modelLimits: { wholeMs: 0 } })).toThrow('modelLimits.wholeMs is 0');
});
