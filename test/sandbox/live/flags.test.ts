import { spawn } from 'node:child_process';
import { Command } from 'commander';
import { afterEach, expect, test, vi } from 'vitest';
import { addSandboxFlags, readSandboxFlags, type SandboxFlags } from '../../../src/interfaces/cli/sandbox/flags.ts';
import { resolveSettings } from '../../../src/sandbox/core/settings/settings.ts';
import { startTestSandbox } from '../harness.ts';

const parse = (...flags: string[]): SandboxFlags => addSandboxFlags(new Command(), '4010').parse(flags, { from: 'user' }).opts();

afterEach(() => vi.unstubAllEnvs());

test('a flag says how fast sound is sent', async () => {
  expect(resolveSettings(await readSandboxFlags(parse('--socket-pacing', 'fast'))).sockets.pacing).toBe('fast');
  expect(resolveSettings(await readSandboxFlags(parse())).sockets.pacing).toBe('realtime');
  await expect(readSandboxFlags(parse('--socket-pacing', 'slow'))).rejects.toThrow(
    '--socket-pacing is "slow"; it must be realtime or fast.',
  );
});

test('the media server comes from the environment, whole or not at all', async () => {
  expect(resolveSettings(await readSandboxFlags(parse())).livekit).toBeNull();
  vi.stubEnv('LIVEKIT_API_KEY', 'APIlocal');
  await expect(readSandboxFlags(parse())).rejects.toThrow('LIVEKIT_API_KEY and LIVEKIT_API_SECRET belong together');
  vi.stubEnv('LIVEKIT_API_SECRET', 'not-shown');
  vi.stubEnv('LIVEKIT_URL', 'ws://127.0.0.1:7880');
  expect((await readSandboxFlags(parse())).livekit).toEqual({
    apiKey: 'APIlocal',
    apiSecret: 'not-shown',
    url: 'ws://127.0.0.1:7880',
  });
});

test.each([{ pacing: 'slow' as 'fast' }, { pingEveryMs: 0 }, { maxFrameBytes: 1.5 }])(
  'settings of sockets such as %j are refused',
  (sockets) => {
    expect(() => resolveSettings({ sockets })).toThrow(/^The sandbox setting sockets\.\w+ is .*; it must be /);
  },
);

test('the example client holds a conversation in a terminal', async () => {
  const sandbox = await startTestSandbox();
  const child = spawn(process.execPath, ['examples/socket-client/client.mjs', sandbox.url, 'agent_reminders']);
  let text = '';
  child.stdout.on('data', (chunk) => (text += String(chunk)));
  child.stderr.on('data', (chunk) => (text += String(chunk)));
  const exited = new Promise((resolve) => child.once('close', resolve));
  await expect.poll(() => text).toContain('agent: Hello, I am calling');
  child.stdin.write('I will be there\n');
  await expect.poll(() => text.match(/agent: /g)?.length).toBeGreaterThanOrEqual(2);
  child.stdin.end();
  expect(await exited).toBe(0);
  expect(text).toMatch(/^\(conv_\w+\)\n/);
  expect(text).toMatch(/\(over: 1000 /);
});
